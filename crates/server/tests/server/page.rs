use axum::body::Body;
use axum::http::{Method, StatusCode};

use crate::support::{Asking, request};

#[tokio::test]
async fn the_page_is_there_with_the_right_types() {
    let asking = Asking::example();
    for (path, kind, has) in [
        ("/", "text/html; charset=utf-8", "<title>attnscope</title>"),
        ("/ui/index.html", "text/html; charset=utf-8", "<title>attnscope</title>"),
        ("/ui/main.js", "text/javascript; charset=utf-8", "import"),
        ("/ui/api.js", "text/javascript; charset=utf-8", "/api/traces"),
        ("/ui/style/base.css", "text/css; charset=utf-8", "{"),
        ("/ui/icon.svg", "image/svg+xml", "<svg"),
    ] {
        let answer = asking.get(path).await;
        assert_eq!(answer.status, StatusCode::OK, "{path}");
        assert_eq!(answer.headers["content-type"], kind, "{path}");
        assert!(String::from_utf8_lossy(&answer.body).contains(has), "{path}");
    }
}

/// What the policy would block must not be there.
#[tokio::test]
async fn everything_that_the_page_names_is_embedded() {
    let asking = Asking::example();
    let html = String::from_utf8(asking.get("/").await.body.to_vec()).expect("UTF-8");
    let named: Vec<&str> = html.split('"').filter(|word| word.starts_with("/ui/")).collect();
    assert!(named.contains(&"/ui/main.js"));
    for path in named {
        assert_eq!(asking.get(path).await.status, StatusCode::OK, "{path}");
    }
    assert!(!html.contains("style=\"") && !html.contains("://"));
}

#[tokio::test]
async fn nothing_else_is_served() {
    let asking = Asking::example();
    for path in [
        "/ui/",
        "/ui/nothing.js",
        "/ui/jsconfig.json",
        "/ui/../Cargo.toml",
        "/ui/../crates/server/src/lib.rs",
        "/ui/%2e%2e/Cargo.toml",
        "/ui/..%2fui%2fmain.js",
        "/ui/..%5cui%5cmain.js",
        "/ui/%2e%2e/ui/main.js",
        "/ui/./main.js",
        "/ui//main.js",
        "/ui//etc/passwd.js",
        "/ui/main.js%00.svg",
        "/main.js",
        "/index.html",
        "/favicon.ico",
    ] {
        asking.get(path).await.refused(404);
    }
    asking.get("/ui/%ff.js").await.refused(400);
    let post = request(Method::POST, "/").body(Body::empty()).expect("a request");
    asking.ask(post).await.refused(405);
}

#[tokio::test]
async fn a_head_request_is_answered_without_a_body() {
    let head = request(Method::HEAD, "/").body(Body::empty()).expect("a request");
    let answer = Asking::example().ask(head).await;
    assert_eq!(answer.status, StatusCode::OK);
    assert_eq!(answer.headers["content-type"], "text/html; charset=utf-8");
    assert!(answer.body.is_empty());
}
