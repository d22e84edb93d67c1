use attnscope_inspect::Trace;
use attnscope_inspect::example::Example;
use attnscope_server::Opening;
use serde_json::json;

use crate::small_model;
use crate::support::{Asking, entry, example};

#[tokio::test]
async fn it_is_healthy() {
    assert_eq!(
        Asking::example().get("/api/health").await.json(),
        json!({ "ok": true, "version": env!("CARGO_PKG_VERSION") })
    );
}

#[tokio::test]
async fn the_example_is_listed() {
    let listed = Asking::example().get("/api/sources").await.json();
    assert_eq!(
        listed,
        json!({ "sources": [{
            "id": "example", "label": "The example", "name": "path/to/example", "kind": "example",
            "note": Example::load().note, "text": "The robot carried the patient because it was tired.",
            "text_fixed": true, "causal": false, "causal_choice": true, "opened": true,
        }] })
    );
}

#[tokio::test]
async fn a_trace_file_is_listed_and_opened() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("kept.safetensors");
    let trace = Example::load().trace(true).expect("the example runs");
    trace.save(&path).expect("it is written");
    let asking = Asking::of(vec![example(), entry("t1", Opening::OnDemand(path.clone()))]);

    let listed = asking.get("/api/sources").await.json();
    let listed = &listed["sources"][1];
    assert_eq!(listed["kind"], "trace");
    assert_eq!(listed["text"], trace.text);
    assert_eq!(
        (&listed["text_fixed"], &listed["causal"], &listed["causal_choice"]),
        (&json!(true), &json!(true), &json!(false))
    );
    assert_eq!((&listed["opened"], &listed["note"]), (&json!(true), &json!(trace.model.note)));
    assert!(listed.get("family").is_none());

    // Neither another text nor another mask: it is what it is.
    let meta = asking.make(json!({ "source": "t1", "text": "something else", "causal": false })).await;
    assert_eq!((&meta["kind"], &meta["text"], &meta["worked"]), (&json!("trace"), &json!(trace.text), &json!(false)));
    assert_eq!(meta["sites"][0]["causal"], true);
    let cell = asking
        .get(&format!("/api/traces/{}/cell?layer=0&head=0&query=6&key=1", meta["id"].as_str().unwrap()))
        .await
        .json();
    let kept = Trace::open(&path).expect("it opens").cell(attnscope_inspect::At::default(), 6, 1).expect("a cell");
    assert_eq!(cell["weight"].as_f64(), Some(kept.weight));
    let error = asking.get(&format!("/api/traces/{}/worked", meta["id"].as_str().unwrap())).await.refused(404);
    assert!(error.contains("only the worked example"), "{error}");
}

#[tokio::test]
async fn a_model_is_opened_when_it_is_first_used() {
    let folder = tempfile::tempdir().expect("a folder");
    small_model::write(folder.path());
    let asking = Asking::of(vec![entry("s1", Opening::OnDemand(folder.path().to_owned()))]);

    let before = &asking.get("/api/sources").await.json()["sources"][0];
    assert_eq!((&before["kind"], &before["opened"]), (&json!("model"), &json!(false)));
    assert_eq!((&before["text"], &before["text_fixed"]), (&json!(attnscope_models::DEFAULT_TEXT), &json!(false)));
    assert_eq!((&before["family"], &before["causal"]), (&json!("llama"), &json!(true)), "its files tell as much");
    assert!(before.get("max_tokens").is_none());

    asking.make(json!({ "source": "s1", "text": "hello" })).await;
    let after = &asking.get("/api/sources").await.json()["sources"][0];
    assert_eq!(
        (&after["opened"], &after["causal"], &after["causal_choice"]),
        (&json!(true), &json!(true), &json!(false))
    );
    assert_eq!((&after["family"], &after["max_tokens"]), (&json!("llama"), &json!(small_model::CONTEXT)));
}

#[tokio::test]
async fn a_source_that_does_not_open_says_why_and_is_tried_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("later");
    let broken = folder.path().join("broken.safetensors");
    std::fs::write(&broken, "no trace").expect("it is written");
    let asking = Asking::of(vec![
        entry("s1", Opening::OnDemand(path.clone())),
        entry("t1", Opening::OnDemand(broken)),
        example(),
    ]);
    let post = async |id: &str| asking.post("/api/traces", &json!({ "source": id }).to_string()).await;

    let listed = asking.get("/api/sources").await.json();
    assert_eq!(listed["sources"].as_array().map(Vec::len), Some(3), "the others can be looked at");
    assert_eq!(listed["sources"][1]["opened"], false);
    let error = post("t1").await.refused(500);
    assert!(error.contains("broken.safetensors") && error.contains("not a whole safetensors file"), "{error}");

    let error = post("s1").await.refused(500);
    assert!(error.contains("later") && error.contains("no such file or folder"), "{error}");
    small_model::write(&path);
    assert_eq!(post("s1").await.json()["model"]["family"], "llama");
}
