//! Servers that other machines can reach.

use axum::body::Body;
use axum::http::{Method, Request};
use serde_json::json;

use crate::support::{Answer, Asking};

const TOKEN: &str = "0123456789abcdefABCDEF";

/// A request from another machine, with these headers.
async fn ask(method: Method, path: &str, headers: &[(&str, &str)]) -> Answer {
    let mut request = Request::builder().method(method).uri(path).header("host", "big-machine.example:4173");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    Asking::guarded_by(TOKEN).ask(request.body(Body::empty()).expect("a request")).await
}

async fn get(path: &str, headers: &[(&str, &str)]) -> Answer {
    ask(Method::GET, path, headers).await
}

#[tokio::test]
async fn strangers_see_nothing() {
    let other_case = TOKEN.to_ascii_lowercase();
    let tokens = ["", "0", &TOKEN[1..], &format!("{TOKEN}0"), &other_case];
    for path in ["/", "/ui/main.js", "/api/health", "/api/sources", "/api/openapi.json", "/nowhere"] {
        let error = get(path, &[]).await.refused(401);
        assert!(error.contains("attnscope view") && !error.contains(TOKEN), "{error}");
    }
    for token in tokens {
        get(&format!("/?token={token}"), &[]).await.refused(401);
        get("/api/health", &[("cookie", &format!("attnscope-4173={token}"))]).await.refused(401);
        get("/api/health", &[("authorization", &format!("Bearer {token}"))]).await.refused(401);
    }
    for (name, value) in [
        ("authorization", format!("Basic {TOKEN}")),
        ("authorization", TOKEN.to_owned()),
        ("cookie", format!("attnscope={TOKEN}")),
        ("cookie", format!("attnscope-4174={TOKEN}")),
        ("cookie", format!("xattnscope-4173={TOKEN}")),
        ("cookie", TOKEN.to_owned()),
    ] {
        get("/api/health", &[(name, &value)]).await.refused(401);
    }
    // The token in an address opens the page, and nothing but the page.
    for path in ["/api/health", "/ui/main.js"] {
        get(&format!("{path}?token={TOKEN}"), &[]).await.refused(401);
    }
    ask(Method::POST, &format!("/?token={TOKEN}"), &[]).await.refused(401);
    let head = ask(Method::HEAD, "/", &[]).await;
    assert_eq!((head.status.as_u16(), head.body.len()), (401, 0));
}

#[tokio::test]
async fn the_printed_address_leaves_a_cookie() {
    for method in [Method::GET, Method::HEAD] {
        for query in [format!("token={TOKEN}"), format!("a=b&token={TOKEN}")] {
            let answer = ask(method.clone(), &format!("/?{query}"), &[]).await;
            assert_eq!(answer.status, 303);
            assert_eq!(answer.headers["location"], "/");
            assert_eq!(answer.headers["cache-control"], "no-store", "it holds a secret");
            let cookie = format!("attnscope-4173={TOKEN}; Path=/; HttpOnly; SameSite=Strict");
            assert_eq!(answer.headers["set-cookie"], cookie.as_str());
            assert_eq!(answer.headers["x-content-type-options"], "nosniff");
        }
    }
    let own = format!("attnscope-4173={TOKEN}");
    for cookie in [own.clone(), format!("a=b; {own}; c=d"), format!("attnscope-4173=old;{own}")] {
        assert_eq!(get("/api/health", &[("cookie", &cookie)]).await.json()["ok"], true, "{cookie}");
        assert_eq!(get("/", &[("cookie", &cookie)]).await.status, 200);
    }
    assert_eq!(ask(Method::HEAD, "/", &[("cookie", &own)]).await.status, 200);
}

#[tokio::test]
async fn programs_bring_the_token_themselves() {
    for scheme in ["Bearer", "bearer", "BEARER"] {
        let value = format!("{scheme} {TOKEN}");
        assert_eq!(get("/api/health", &[("authorization", &value)]).await.json()["ok"], true);
    }
}

#[tokio::test]
async fn whoever_knows_the_token_is_still_asked_where_from() {
    let asking = Asking::guarded_by(TOKEN);
    let post = |origin: Option<&str>| {
        let mut request = Request::builder().method(Method::POST).uri("/api/traces");
        for (name, value) in [
            ("host", Some("big-machine.example:4173")),
            ("content-type", Some("application/json")),
            ("cookie", Some("attnscope-4173=0123456789abcdefABCDEF")),
            ("origin", origin),
        ] {
            if let Some(value) = value {
                request = request.header(name, value);
            }
        }
        request.body(Body::from(json!({ "source": "example" }).to_string())).expect("a request")
    };
    for origin in [None, Some("http://big-machine.example:4173"), Some("http://Big-Machine.example:4173")] {
        assert_eq!(asking.ask(post(origin)).await.json()["source"], "example", "{origin:?}");
    }
    for origin in [
        "http://evil.example",
        "http://big-machine.example",
        "http://big-machine.example:80",
        "https://big-machine.example:4173",
        "http://localhost:4173",
        "null",
        "",
    ] {
        asking.ask(post(Some(origin))).await.refused(403);
    }
    let nameless = Request::builder().uri("/api/health").header("authorization", format!("Bearer {TOKEN}"));
    asking.ask(nameless.body(Body::empty()).expect("a request")).await.refused(421);
}

#[tokio::test]
async fn a_server_without_a_token_asks_for_none() {
    let asking = Asking::example();
    assert_eq!(asking.get("/?token=whatever").await.status, 200);
    assert_eq!(asking.get("/api/health").await.json()["ok"], true);
}
