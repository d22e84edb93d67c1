//! What can be asked, for programs. Tests hold it to the routes and to what they really answer.

use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};

const DESCRIPTION: &str = include_str!("../openapi.json");

/// `GET /api/openapi.json`
pub(crate) async fn description() -> Response {
    ([(CONTENT_TYPE, "application/json")], DESCRIPTION).into_response()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::Arc;

    use axum::body::Body;
    use axum::http::header::{ALLOW, HOST};
    use axum::http::{Method, Request, StatusCode};
    use serde_json::Value;
    use tower::ServiceExt;

    use super::DESCRIPTION;
    use crate::app::App;
    use crate::routes::{cheap, costly, router};

    #[tokio::test]
    async fn every_route_is_described_and_nothing_else_is() {
        let document: Value = serde_json::from_str(DESCRIPTION).expect("JSON");
        let mut described = BTreeSet::new();
        for (path, methods) in document["paths"].as_object().expect("paths") {
            let methods = methods.as_object().expect("methods").keys();
            described.extend(methods.map(|method| (path.clone(), method.to_uppercase())));
        }

        let router = router(Arc::new(App::new(Vec::new())), 4173, None);
        let mut there = BTreeSet::new();
        for (path, _) in cheap().into_iter().chain(costly()) {
            // No route takes this method, and the refusal says which methods it does take.
            let request = Request::builder().method(Method::TRACE).uri(path.replace(['{', '}', '*'], ""));
            let request = request.header(HOST, "localhost:4173").body(Body::empty()).expect("a request");
            let refusal = router.clone().oneshot(request).await.expect("the router answers");
            assert_eq!(refusal.status(), StatusCode::METHOD_NOT_ALLOWED, "{path}");
            let methods = refusal.headers()[ALLOW].to_str().expect("text").split(',').map(str::trim);
            let path = path.replace("{*", "{");
            there.extend(methods.filter(|method| *method != "HEAD").map(|method| (path.clone(), method.to_owned())));
        }
        assert_eq!(described, there, "openapi.json is on the left, the routes on the right");
    }
}
