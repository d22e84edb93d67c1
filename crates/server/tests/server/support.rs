use attnscope_inspect::example::Example;
use attnscope_models::Source;
use attnscope_server::{Entry, Opening, Server};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, Method, Request, StatusCode};
use serde_json::{Value, json};
use tower::ServiceExt;

/// The port that tests pretend to be reached at.
pub(crate) const PORT: u16 = 4173;

/// A server and whoever asks it.
#[derive(Clone)]
pub(crate) struct Asking(Router);

pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

pub(crate) fn entry(id: &str, source: Opening) -> Entry {
    Entry { id: id.to_owned(), label: format!("The {id}"), quantisation: None, name: format!("path/to/{id}"), source }
}

pub(crate) fn example() -> Entry {
    entry("example", Opening::Ready(Box::new(Source::Example(Example::load()))))
}

/// A request as the page sends it, to be changed by tests.
pub(crate) fn request(method: Method, path: &str) -> axum::http::request::Builder {
    Request::builder().method(method).uri(path).header("host", format!("localhost:{PORT}"))
}

impl Asking {
    pub(crate) fn of(entries: Vec<Entry>) -> Self {
        Self(Server::new(entries).router(PORT))
    }

    pub(crate) fn example() -> Self {
        Self::of(vec![example()])
    }

    /// The example, for whoever knows this token.
    pub(crate) fn guarded_by(token: &str) -> Self {
        Self(Server::new(vec![example()]).with_token(token.to_owned()).router(PORT))
    }

    pub(crate) async fn ask(&self, request: Request<Body>) -> Answer {
        let response = self.0.clone().oneshot(request).await.expect("the router answers");
        let (parts, body) = response.into_parts();
        let body = axum::body::to_bytes(body, usize::MAX).await.expect("the body is whole");
        Answer { status: parts.status, headers: parts.headers, body }
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.ask(request(Method::GET, path).body(Body::empty()).expect("a request")).await
    }

    pub(crate) async fn post(&self, path: &str, body: &str) -> Answer {
        let request = request(Method::POST, path).header("content-type", "application/json");
        self.ask(request.body(Body::from(body.to_owned())).expect("a request")).await
    }

    /// Makes a trace; the answer is its meta.
    pub(crate) async fn make(&self, wish: Value) -> Value {
        self.post("/api/traces", &wish.to_string()).await.json()
    }

    /// Makes a trace of the example; the answer is its address.
    pub(crate) async fn trace(&self, causal: bool) -> String {
        let meta = self.make(json!({ "source": "example", "causal": causal })).await;
        format!("/api/traces/{}", meta["id"].as_str().expect("an id"))
    }
}

impl Answer {
    /// The body, of an answer that must be good.
    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.status, StatusCode::OK, "{}", String::from_utf8_lossy(&self.body));
        assert_eq!(self.headers["content-type"], "application/json");
        serde_json::from_slice(&self.body).expect("JSON")
    }

    /// The message, of a refusal with this status.
    #[track_caller]
    pub(crate) fn refused(&self, status: u16) -> String {
        assert_eq!(self.status.as_u16(), status, "{}", String::from_utf8_lossy(&self.body));
        assert_eq!(self.headers["content-type"], "application/json");
        let body: Value = serde_json::from_slice(&self.body).expect("JSON");
        assert_eq!(body.as_object().expect("an object").len(), 1, "nothing but the error");
        body["error"].as_str().expect("an error").to_owned()
    }

    pub(crate) fn floats(&self) -> Vec<f32> {
        assert_eq!(self.status, StatusCode::OK, "{}", String::from_utf8_lossy(&self.body));
        assert_eq!(self.headers["content-type"], "application/octet-stream");
        let (floats, rest) = self.body.as_chunks();
        assert!(rest.is_empty());
        floats.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
    }

    /// Two sizes, and what they measure.
    pub(crate) fn sized_floats(&self) -> ([usize; 2], Vec<f32>) {
        let mut floats = self.floats();
        let rest = floats.split_off(2);
        ([floats[0].to_bits() as usize, floats[1].to_bits() as usize], rest)
    }
}

/// A list of numbers.
pub(crate) fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().expect("a list").iter().map(|x| x.as_f64().expect("a number")).collect()
}

/// Rows of numbers.
pub(crate) fn matrix(value: &Value) -> Vec<Vec<f64>> {
    value.as_array().expect("rows").iter().map(numbers).collect()
}

#[track_caller]
pub(crate) fn close(got: f64, want: f64, within: f64) {
    assert!((got - want).abs() <= within, "{got} is not {want}");
}
