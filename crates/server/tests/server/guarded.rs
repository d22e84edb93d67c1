use axum::body::Body;
use axum::http::{Method, Request};
use serde_json::json;

use crate::support::{Asking, PORT, request};

#[tokio::test]
async fn only_loopback_names_with_the_own_port_are_answered() {
    let asking = Asking::example();
    for host in ["localhost:4173", "127.0.0.1:4173", "[::1]:4173", "LocalHost:4173"] {
        let request = Request::builder().uri("/api/health").header("host", host).body(Body::empty());
        assert_eq!(asking.ask(request.expect("a request")).await.json()["ok"], true, "{host}");
    }
    for host in [
        "evil.example:4173",
        "localhost",
        "localhost:80",
        "127.0.0.1:41730",
        "127.0.0.2:4173",
        "localhost:4173.evil.example",
        "",
    ] {
        for path in ["/", "/ui/main.js", "/api/sources", "/nowhere"] {
            let request = Request::builder().uri(path).header("host", host).body(Body::empty());
            let error = asking.ask(request.expect("a request")).await.refused(421);
            assert!(error.contains("open http://localhost:4173/"), "{error}");
        }
    }
}

#[tokio::test]
async fn a_host_must_be_given_once_and_agree_with_the_request_line() {
    let asking = Asking::example();
    let none = Request::builder().uri("/api/health").body(Body::empty()).expect("a request");
    asking.ask(none).await.refused(421);
    let twice = request(Method::GET, "/api/health").header("host", "localhost:4173").body(Body::empty());
    asking.ask(twice.expect("a request")).await.refused(421);
    let two_minds = request(Method::GET, "http://evil.example/api/health").body(Body::empty());
    asking.ask(two_minds.expect("a request")).await.refused(421);
}

#[tokio::test]
async fn foreign_origins_change_nothing() {
    let asking = Asking::example();
    let post = |origin: &str| {
        let request =
            request(Method::POST, "/api/traces").header("content-type", "application/json").header("origin", origin);
        request.body(Body::from(json!({ "source": "example" }).to_string())).expect("a request")
    };
    for origin in ["http://localhost:4173", "http://127.0.0.1:4173", "http://[::1]:4173"] {
        assert_eq!(asking.ask(post(origin)).await.json()["source"], "example", "{origin}");
    }
    for origin in ["http://evil.example", "https://localhost:4173", "http://localhost:8080", "null", ""] {
        let error = asking.ask(post(origin)).await.refused(403);
        assert!(error.contains("own page"), "{error}");
    }
    let preflight = request(Method::OPTIONS, "/api/traces").header("origin", "http://evil.example").body(Body::empty());
    asking.ask(preflight.expect("a request")).await.refused(403);
    // Reading is not changing; no CORS header lets the foreign page have the answer.
    let get = request(Method::GET, "/api/health").header("origin", "http://evil.example").body(Body::empty());
    let answer = asking.ask(get.expect("a request")).await;
    assert_eq!(answer.json()["ok"], true);
    assert!(!answer.headers.contains_key("access-control-allow-origin"));
}

#[tokio::test]
async fn every_answer_says_what_may_be_done_with_it() {
    let asking = Asking::example();
    let foreign = Request::builder().uri("/").header("host", "evil.example").body(Body::empty()).expect("a request");
    for (answer, cache) in [
        (asking.get("/").await, "no-cache"),
        (asking.get("/ui/main.js").await, "no-cache"),
        (asking.get("/nowhere").await, "no-cache"),
        (asking.get("/api/health").await, "no-store"),
        (asking.get("/api/nowhere").await, "no-store"),
        (asking.get("/api/traces/x/cell?layer=a").await, "no-store"),
        (asking.post("/api/traces", "{").await, "no-store"),
        (asking.ask(foreign).await, "no-cache"),
    ] {
        let policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; \
                      font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
        assert_eq!(answer.headers["content-security-policy"], policy);
        assert_eq!(answer.headers["x-content-type-options"], "nosniff");
        assert_eq!(answer.headers["referrer-policy"], "no-referrer");
        assert_eq!(answer.headers["cross-origin-resource-policy"], "same-origin");
        assert_eq!(answer.headers["cross-origin-opener-policy"], "same-origin");
        assert_eq!(answer.headers["cache-control"], cache);
    }
    assert_eq!(PORT, 4173, "as written in these tests");
}
