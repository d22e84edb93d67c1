//! What the lesson asks of a model.

use attnscope_models::{Prompt, Sampling, Source};
use serde_json::{Value, json};

use crate::models::asking;
use crate::small_model::{self, CONTEXT, LAYERS};
use crate::support::{Asking, close, numbers};

async fn refused(asking: &Asking, path: &str, body: Value) -> String {
    asking.post(path, &body.to_string()).await.refused(400)
}

#[tokio::test]
async fn a_word_comes_in_the_same_and_goes_out_different() {
    let folder = tempfile::tempdir().expect("a folder");
    let asking = asking(folder.path());
    let wish = json!({ "source": "s1", "texts": ["by the river z", "to lend, a z!"], "word": "z" });
    let words = asking.post("/api/lesson/words", &wish.to_string()).await.json();
    assert_eq!(words["positions"], json!([13, 11]));
    for (text, tokens) in ["by the river z", "to lend, a z!"].iter().zip(words["tokens"].as_array().unwrap()) {
        let chars: Vec<String> = text.chars().map(String::from).collect();
        assert_eq!(*tokens, json!(chars));
    }
    assert_eq!(words["same_word_embedding"], true);
    let layers = words["layers"].as_array().unwrap();
    assert_eq!(layers.len(), LAYERS + 1, "before each layer, and after the last");
    assert_eq!((&layers[0]["layer"], &layers[0]["equal"]), (&json!(0), &json!(true)));
    close(layers[0]["cosine"].as_f64().unwrap(), 1.0, 1e-12);
    for (index, layer) in layers.iter().enumerate().skip(1) {
        assert_eq!((&layer["layer"], &layer["equal"]), (&json!(index), &json!(false)));
        let cosine = layer["cosine"].as_f64().unwrap();
        assert!((-1.0..0.999_999).contains(&cosine), "{cosine}");
    }
    // A causal model that has read the same so far knows nothing of what follows.
    let wish = json!({ "source": "s1", "texts": ["the z", "the z sat"], "word": "z" });
    let words = asking.post("/api/lesson/words", &wish.to_string()).await.json();
    for layer in words["layers"].as_array().unwrap() {
        close(layer["cosine"].as_f64().unwrap(), 1.0, 1e-9);
    }
}

#[tokio::test]
async fn without_attention_nobody_hears_of_a_change() {
    let folder = tempfile::tempdir().expect("a folder");
    let asking = asking(folder.path());
    let wish = json!({ "source": "s1", "text": "a robot", "position": 2, "replace": " x " });
    let cut = asking.post("/api/lesson/cut", &wish.to_string()).await.json();
    assert_eq!(cut["tokens"], json!(["a", " ", "r", "o", "b", "o", "t"]));
    assert_eq!(cut["replaced_by"], "x");
    let (with, without) = (numbers(&cut["with_attention"]), numbers(&cut["without_attention"]));
    assert_eq!((with.len(), without.len()), (7, 7));
    for at in 0..7 {
        assert_eq!(without[at] > 0.0, at == 2, "{at}: {without:?}");
        assert!(without[at] >= 0.0);
        // Nobody hears the future either.
        assert_eq!(with[at] > 0.0, at >= 2, "{at}: {with:?}");
    }
}

#[tokio::test]
async fn a_cache_keeps_what_was_computed() {
    let folder = tempfile::tempdir().expect("a folder");
    let asking = asking(folder.path());
    let wish = json!({ "source": "s1", "text": "a robot", "max_tokens": 4 });
    let cache = asking.post("/api/lesson/cache", &wish.to_string()).await.json();
    assert_eq!(cache["prompt_tokens"], json!(["a", " ", "r", "o", "b", "o", "t"]));

    let Source::Model(model) = small_model::open(folder.path()) else { panic!("it is a model") };
    let prompt = Prompt::Text("a robot".to_owned());
    let ids = model.generate(&prompt, &Sampling::greedy(4), |_| true).expect("it generates").ids;
    let steps = cache["steps"].as_array().unwrap();
    assert_eq!((steps.len(), ids.len()), (4, 4));
    for (index, step) in steps.iter().enumerate() {
        let token = model.tokenizer().tokens(&ids[..=index]).pop().expect("a token").text;
        let computes = if index == 0 { 7 } else { 1 };
        assert_eq!(*step, json!({ "token": token, "reads": 7 + index, "computes": computes, "keys_unchanged": true }));
    }
    // No further than the model reads.
    let wish = json!({ "source": "s1", "text": "x".repeat(CONTEXT - 1), "max_tokens": 4 });
    let cache = asking.post("/api/lesson/cache", &wish.to_string()).await.json();
    assert_eq!(cache["steps"].as_array().map(Vec::len), Some(1));
}

#[tokio::test]
async fn what_no_model_can_answer_is_refused_in_words() {
    let folder = tempfile::tempdir().expect("a folder");
    small_model::write(folder.path());
    let model = attnscope_server::Opening::OnDemand(folder.path().to_owned());
    let asking = Asking::of(vec![crate::support::example(), crate::support::entry("s1", model)]);

    let words = |texts: Value, word: &str| json!({ "source": "s1", "texts": texts, "word": word });
    for (texts, word, says) in [
        (json!(["a z", "no"]), "z", "occur once"),
        (json!(["z z", "a z"]), "z", "occur once"),
        (json!(["ab", "ab"]), "ab", "one token"),
        (json!(["a z", " "]), "z", "the text is empty"),
        (json!(["a z"]), "z", "length 2"),
        (json!(["a", "b", "c"]), "z", "trailing"),
        (json!(["z", "x".repeat(CONTEXT) + "z"]), "z", "at most 64"),
    ] {
        let error = refused(&asking, "/api/lesson/words", words(texts, word)).await;
        assert!(error.contains(says), "{error}");
    }
    let cut = |text: &str, position: i64, replace: &str| json!({ "source": "s1", "text": text, "position": position, "replace": replace });
    for (wish, says) in [
        (cut("abc", 3, "x"), "there is no token 3: the text has tokens 0 to 2"),
        (cut("abc", -1, "x"), "position"),
        (cut("abc", 1, "xy"), "is not one token"),
        (cut("abc", 1, ""), "is not one token"),
        (cut("", 0, "x"), "the text is empty"),
    ] {
        let error = refused(&asking, "/api/lesson/cut", wish).await;
        assert!(error.contains(says), "{error}");
    }
    let cache = |text: &str, tokens: i64| json!({ "source": "s1", "text": text, "max_tokens": tokens });
    for (wish, says) in [
        (cache("abc", 0), "1 to 32"),
        (cache("abc", 33), "1 to 32"),
        (cache("abc", -1), "max_tokens"),
        (cache("", 1), "the text is empty"),
    ] {
        let error = refused(&asking, "/api/lesson/cache", wish).await;
        assert!(error.contains(says), "{error}");
    }
    for (path, mut wish) in [
        ("/api/lesson/words", words(json!(["z", "z"]), "z")),
        ("/api/lesson/cut", cut("abc", 1, "x")),
        ("/api/lesson/cache", cache("abc", 1)),
    ] {
        wish["source"] = json!("example");
        assert!(refused(&asking, path, wish.clone()).await.contains("is no model"));
        wish["source"] = json!("s9");
        assert!(refused(&asking, path, wish.clone()).await.contains("there is no source \"s9\""));
        asking.get(path).await.refused(405);
    }
}
