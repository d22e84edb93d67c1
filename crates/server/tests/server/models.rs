use std::path::Path;

use attnscope_inspect::At;
use attnscope_models::{Ask, Prompt, Source};
use attnscope_server::Opening;
use serde_json::json;

use crate::schema::check;
use crate::small_model::{self, CONTEXT, HEAD_DIM, HEADS, KV_HEADS, LAYERS};
use crate::support::{Asking, close, entry, numbers};

/// A server of the small model, as `s1`.
pub(crate) fn asking(folder: &Path) -> Asking {
    Asking::of(vec![entry("s1", Opening::Ready(Box::new(small_model::open(folder))))])
}

/// The lists of both halves, as the description has them; the older fields are of the decoder and of the text asked for.
#[tokio::test]
async fn an_encoder_decoder_has_tokens_for_each_axis() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../models/tests/tiny/t5-relu");
    let source = Source::open(folder.to_str().unwrap()).expect("a model");
    let asking = Asking::of(vec![entry("t5", Opening::Ready(Box::new(source)))]);
    let meta = asking.make(json!({ "source": "t5", "text": "the robot was tired" })).await;
    let description: serde_json::Value =
        serde_json::from_str(include_str!("../../src/openapi.json")).expect("a description");
    check(&description, &json!({ "$ref": "#/components/schemas/meta" }), &meta).expect("as described");
    let texts = |tokens: &serde_json::Value| -> Vec<String> {
        tokens.as_array().unwrap().iter().map(|token| token["text"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(meta["text"], "the robot was tired");
    assert_eq!((&meta["encoder"]["text"], &meta["decoder"]["tokens"]), (&meta["text"], &meta["tokens"]));
    assert_eq!(texts(&meta["encoder"]["tokens"]), [" the", " robot", " was", " tired", "</s>"]);
    assert_eq!(texts(&meta["tokens"])[0], "<pad>");
    let said = meta["tokens"].as_array().unwrap().len();
    for site in meta["sites"].as_array().unwrap() {
        let want = match site["site"].as_str().unwrap() {
            "encoder" => (5, 5),
            "cross" => (said, 5),
            _ => (said, said),
        };
        assert_eq!((&site["q_len"], &site["kv_len"]), (&json!(want.0), &json!(want.1)));
    }
    let trace = format!("/api/traces/{}", meta["id"].as_str().unwrap());
    let row = asking.get(&format!("{trace}/row?site=cross&layer=1&head=0&query=0")).await.json();
    assert_eq!(row["query"]["token"], "<pad>");
    assert_eq!(row["weights"].as_array().map(Vec::len), Some(5));
    let cell = asking.get(&format!("{trace}/cell?site=cross&layer=1&head=0&query=0&key=1")).await.json();
    assert_eq!((&cell["query"]["token"], &cell["key"]["token"]), (&json!("<pad>"), &json!(" robot")));
}

#[tokio::test]
async fn a_model_reads_a_text() {
    let folder = tempfile::tempdir().expect("a folder");
    let asking = asking(folder.path());
    let meta = asking.make(json!({ "source": "s1", "text": "a robot", "causal": null })).await;
    assert_eq!((&meta["kind"], &meta["text"], &meta["worked"]), (&json!("model"), &json!("a robot"), &json!(false)));
    assert_eq!(meta["model"]["family"], "llama");
    assert_eq!(meta["tokens"].as_array().map(Vec::len), Some(7));
    let sites = meta["sites"].as_array().unwrap();
    assert_eq!(sites.len(), LAYERS);
    for (layer, site) in sites.iter().enumerate() {
        assert_eq!(site["layer"], layer);
        assert_eq!(
            (&site["q_heads"], &site["kv_heads"], &site["head_dim"]),
            (&json!(HEADS), &json!(KV_HEADS), &json!(HEAD_DIM))
        );
        assert_eq!((&site["q_len"], &site["kv_len"], &site["causal"]), (&json!(7), &json!(7), &json!(true)));
    }

    let trace = format!("/api/traces/{}", meta["id"].as_str().unwrap());
    let prompt = Some(Prompt::Text("a robot".to_owned()));
    let itself = small_model::open(folder.path()).trace(Ask { prompt, ..Ask::default() }).expect("it runs");
    let at = At { layer: 1, head: 1, ..At::default() };
    let cell = asking.get(&format!("{trace}/cell?layer=1&head=1&query=6&key=2")).await.json();
    close(cell["weight"].as_f64().unwrap(), itself.cell(at, 6, 2).expect("a cell").weight, 1e-6);
    assert_eq!(cell["kv_head"], 0);
    let heads = asking.get(&format!("{trace}/heads")).await.json();
    let of: Vec<_> = heads
        .as_array()
        .unwrap()
        .iter()
        .map(|head| (head["layer"].as_u64().unwrap(), head["head"].as_u64().unwrap()))
        .collect();
    assert_eq!(of, [(0, 0), (0, 1), (1, 0), (1, 1)]);
    assert_eq!(
        asking.get(&format!("{trace}/heads?layer=1")).await.json().as_array().unwrap()[..],
        heads.as_array().unwrap()[2..]
    );
    // Both query heads read the one kv head.
    let values = asking.get(&format!("{trace}/values?layer=1&head=0")).await.json();
    assert_eq!(values, asking.get(&format!("{trace}/values?layer=1&head=1")).await.json());
    assert_eq!(numbers(&values["v"][2]), numbers(&cell["v"]));
}

#[tokio::test]
async fn tokens_that_share_a_character_are_counted_from_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let meta = asking(folder.path()).make(json!({ "source": "s1", "text": "x日" })).await;
    let shown: Vec<_> = meta["tokens"]
        .as_array()
        .unwrap()
        .iter()
        .map(|token| (token["text"].as_str().unwrap(), token.get("part").cloned()))
        .collect();
    assert_eq!(
        shown,
        [("x", None), ("日", Some(json!([1, 3]))), ("日", Some(json!([2, 3]))), ("日", Some(json!([3, 3])))]
    );
}

#[tokio::test]
async fn texts_differ_and_the_same_text_is_read_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let asking = asking(folder.path());
    let a = asking.make(json!({ "source": "s1", "text": "a" })).await;
    let b = asking.make(json!({ "source": "s1", "text": "b" })).await;
    assert_ne!(a["id"], b["id"]);
    // A model is what it was trained to be, whatever mask is asked for.
    assert_eq!(asking.make(json!({ "source": "s1", "text": "a", "causal": false })).await, a);
    let default = asking.make(json!({ "source": "s1" })).await;
    assert_eq!(default["text"], attnscope_models::DEFAULT_TEXT);
}

#[tokio::test]
async fn two_at_a_time_get_the_same() {
    let folder = tempfile::tempdir().expect("a folder");
    small_model::write(folder.path());
    let asking = Asking::of(vec![entry("s1", Opening::OnDemand(folder.path().to_owned()))]);
    let wish = || json!({ "source": "s1", "text": "together" });
    let (one, two) = tokio::join!(asking.make(wish()), asking.make(wish()));
    assert_eq!(one, two, "the second waited for the first and took what it made");
}

#[tokio::test]
async fn texts_that_cannot_be_read_are_refused_in_words() {
    let folder = tempfile::tempdir().expect("a folder");
    let asking = asking(folder.path());
    let post = async |text: String| {
        let body = json!({ "source": "s1", "text": text }).to_string();
        asking.post("/api/traces", &body).await.refused(400)
    };
    assert!(post(String::new()).await.contains("the text is empty"));
    assert!(post(" \n\t".to_owned()).await.contains("the text is empty"));
    let error = post("x".repeat(CONTEXT + 1)).await;
    assert!(error.contains("65 tokens") && error.contains("at most 64"), "{error}");
    assert_eq!(
        asking.make(json!({ "source": "s1", "text": "x".repeat(CONTEXT) })).await["tokens"].as_array().map(Vec::len),
        Some(CONTEXT)
    );
}
