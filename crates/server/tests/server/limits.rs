use axum::body::Body;
use axum::http::Method;
use serde_json::json;

use crate::support::{Asking, request};

#[tokio::test]
async fn wrong_addresses_and_methods_are_errors_in_json() {
    let asking = Asking::example();
    assert!(asking.get("/api/nowhere").await.refused(404).contains("/api/nowhere"));
    assert!(asking.get("/api").await.refused(404).contains("/api"));
    assert!(asking.get("/api/traces").await.refused(405).contains("GET"));
    assert!(asking.post("/api/sources", "{}").await.refused(405).contains("POST"));
    let delete = request(Method::DELETE, "/api/traces/x").body(Body::empty()).expect("a request");
    assert!(asking.ask(delete).await.refused(405).contains("DELETE"));
}

#[tokio::test]
async fn a_body_must_be_json_that_fits() {
    let asking = Asking::example();
    assert!(asking.post("/api/traces", "{").await.refused(400).contains("JSON"));
    assert!(asking.post("/api/traces", "{}").await.refused(400).contains("source"));
    let refused = asking.post("/api/traces", r#"{"source":1}"#).await.refused(400);
    assert!(
        refused.starts_with("the request's body is not what is asked for here: source: ") && refused.contains("line 1")
    );
    assert!(asking.post("/api/traces", r#"{"source":"example","txt":"x"}"#).await.refused(400).contains("txt"));
    let plain = request(Method::POST, "/api/traces").header("content-type", "text/plain");
    let plain = plain.body(Body::from(r#"{"source":"example"}"#)).expect("a request");
    assert!(asking.ask(plain).await.refused(415).contains("application/json"));
}

#[tokio::test]
async fn a_body_has_at_most_a_mebibyte() {
    let asking = Asking::example();
    let body = |len: usize| json!({ "source": "example", "text": "x".repeat(len) }).to_string();
    assert_eq!(asking.post("/api/traces", &body((1 << 20) - 100)).await.json()["source"], "example");
    let refused = asking.post("/api/traces", &body(1 << 20)).await.refused(413);
    assert!(refused.contains("1048576 bytes (1 MiB)") && refused.contains("shorter text"), "{refused}");
}

#[tokio::test]
async fn a_tile_has_at_most_512_times_512_cells() {
    let asking = Asking::example();
    let trace = asking.trace(false).await;
    let tile = |q1: u64, k1: u64| format!("{trace}/tile?layer=0&head=0&q0=0&q1={q1}&k0=0&k1={k1}");
    assert!(asking.get(&tile(512, 513)).await.refused(400).contains("512 x 512"));
    assert!(asking.get(&tile(u64::MAX, u64::MAX)).await.refused(400).contains("512 x 512"));
    assert!(asking.get(&tile(512, 512)).await.refused(400).contains("0..10"), "small enough, but not there");
}

#[tokio::test]
async fn old_traces_are_forgotten_and_made_again_under_the_same_name() {
    let entries = (0..9).map(|i| {
        let example = attnscope_inspect::example::Example::load();
        let source = attnscope_models::Source::Example(example);
        crate::support::entry(&format!("e{i}"), attnscope_server::Opening::Ready(Box::new(source)))
    });
    let asking = Asking::of(entries.collect());
    let mut paths = Vec::new();
    for i in 0..9 {
        let meta = asking.make(json!({ "source": format!("e{i}") })).await;
        paths.push(format!("/api/traces/{}", meta["id"].as_str().expect("an id")));
    }
    assert!(asking.get(&paths[0]).await.refused(404).contains("run its text again"));
    for path in &paths[1..] {
        asking.get(path).await.json();
    }
    asking.make(json!({ "source": "e0" })).await;
    assert_eq!(asking.get(&paths[0]).await.json()["source"], "e0");
}
