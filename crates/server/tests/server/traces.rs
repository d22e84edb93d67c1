use attnscope_kernel::Isa;
use serde_json::json;

use crate::support::Asking;

#[tokio::test]
async fn the_example_is_run_and_told_of() {
    let asking = Asking::example();
    let meta = asking.make(json!({ "source": "example", "text": "is ignored here", "causal": null })).await;
    assert_eq!((&meta["source"], &meta["kind"], &meta["worked"]), (&json!("example"), &json!("example"), &json!(true)));
    assert_eq!(meta["text"], "The robot carried the patient because it was tired.");
    assert_eq!(meta["model"], json!({ "name": "The worked example", "family": "", "sha256": null }));
    assert!(meta["note"].as_str().unwrap().contains("not trained"));
    assert_eq!((&meta["isa"], &meta["version"]), (&json!(Isa::detect().name()), &json!(env!("CARGO_PKG_VERSION"))));
    assert!(meta["seconds"].as_f64().is_some_and(|seconds| (0.0..10.0).contains(&seconds)));
    assert_eq!(meta["tokens"].as_array().map(Vec::len), Some(10));
    assert_eq!(meta["tokens"][1], json!({ "id": null, "text": "robot", "special": false }));
    assert_eq!(
        meta["sites"],
        json!([{
            "site": "self", "layer": 0, "q_heads": 1, "kv_heads": 1, "head_dim": 4, "v_head_dim": 3, "q_len": 10, "kv_len": 10,
            "causal": false, "window": null, "scale": 0.5, "softcap": null,
        }])
    );
    let again = asking.get(&format!("/api/traces/{}", meta["id"].as_str().unwrap())).await.json();
    assert_eq!(again, meta);
}

#[tokio::test]
async fn the_same_is_not_run_twice() {
    let asking = Asking::example();
    let first = asking.make(json!({ "source": "example" })).await;
    for same in
        [json!({ "source": "example", "causal": false }), json!({ "source": "example", "text": "x", "causal": null })]
    {
        // The time it took, too: it was not run again.
        assert_eq!(asking.make(same).await, first);
    }
    let causal = asking.make(json!({ "source": "example", "causal": true })).await;
    assert_ne!(causal["id"], first["id"]);
    assert_eq!(causal["sites"][0]["causal"], true);
    assert_eq!(asking.make(json!({ "source": "example" })).await, first, "it is still there");
}

#[tokio::test]
async fn what_is_not_there_is_said_to_be_so() {
    let asking = Asking::example();
    let error = asking.post("/api/traces", &json!({ "source": "s9" }).to_string()).await.refused(400);
    assert_eq!(error, r#"there is no source "s9"; there are: example"#);
    for question in ["", "/cell?layer=0&head=0&query=0&key=0", "/row?layer=0&head=0&query=0", "/heads", "/worked"] {
        let error = asking.get(&format!("/api/traces/0123456789abcdef{question}")).await.refused(404);
        assert!(error.contains("0123456789abcdef") && error.contains("run its text again"), "{error}");
    }
    asking.get("/api/traces/%ff").await.refused(400);
}
