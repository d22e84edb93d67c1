//! What the server answers is what openapi.json says it answers. That it speaks of every route, and of no other, is
//! tested beside the routes.

use std::collections::BTreeSet;
use std::path::Path;

use attnscope_inspect::example::Example;
use attnscope_server::Opening;
use serde_json::{Value, json};

use crate::schema::{check, resolve};
use crate::small_model;
use crate::support::{Answer, Asking, entry, example};

/// A request, with what it must have and nothing else.
struct Request {
    route: &'static str,
    /// `route` with its names replaced.
    path: String,
    query: Vec<(&'static str, &'static str)>,
    /// Of a POST.
    body: Option<Value>,
}

impl Request {
    fn get(route: &'static str, path: &str, query: &[(&'static str, &'static str)]) -> Self {
        Self { route, path: path.to_owned(), query: query.to_vec(), body: None }
    }

    fn post(route: &'static str, body: Value) -> Self {
        Self { route, path: route.to_owned(), query: Vec::new(), body: Some(body) }
    }

    async fn ask(&self, asking: &Asking) -> Answer {
        let query: Vec<String> = self.query.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let mark = if query.is_empty() { "" } else { "?" };
        let path = format!("{}{mark}{}", self.path, query.join("&"));
        match &self.body {
            Some(body) => asking.post(&path, &body.to_string()).await,
            None => asking.get(&path).await,
        }
    }
}

struct Description(Value);

impl Description {
    fn operation(&self, request: &Request) -> &Value {
        let method = if request.body.is_some() { "post" } else { "get" };
        let operation = &self.0["paths"][request.route][method];
        assert!(operation.is_object(), "{method} {} is not described", request.route);
        operation
    }

    /// (name, whether it is required) of everything that may stand after the question mark.
    fn query(&self, operation: &Value) -> Vec<(String, bool)> {
        let parameters = operation["parameters"].as_array().into_iter().flatten();
        parameters
            .map(|parameter| resolve(&self.0, parameter))
            .filter(|parameter| parameter["in"] == "query")
            .map(|parameter| (parameter["name"].as_str().expect("a name").to_owned(), parameter["required"] == true))
            .collect()
    }

    fn body<'a>(&'a self, operation: &'a Value) -> &'a Value {
        &operation["requestBody"]["content"]["application/json"]["schema"]
    }

    /// That an answer is one of those described.
    fn check(&self, request: &Request, answer: &Answer) {
        let responses = &self.operation(request)["responses"];
        let status = if answer.status == 200 { "200" } else { "default" };
        let content = &resolve(&self.0, &responses[status])["content"];
        let full = answer.headers["content-type"].to_str().expect("text");
        let kind = full.split(';').next().expect("a media type");
        let described = content.get(kind).unwrap_or_else(|| panic!("{} answers {kind}", request.route));
        if let Some(schema) = described.get("schema") {
            let value = serde_json::from_slice(&answer.body).expect("JSON");
            check(&self.0, schema, &value).unwrap_or_else(|error| panic!("{} {error}", request.path));
        } else {
            assert_ne!(kind, "application/json", "{}: JSON must have a schema", request.route);
        }
    }
}

async fn asking(folder: &Path) -> (Asking, Description) {
    let file = folder.join("kept.safetensors");
    Example::load().trace(true).expect("the example runs").save(&file).expect("it is written");
    let model = Opening::Ready(Box::new(small_model::open(&folder.join("model"))));
    let asking = Asking::of(vec![example(), entry("s1", model), entry("t1", Opening::OnDemand(file))]);
    let description = Description(asking.get("/api/openapi.json").await.json());
    (asking, description)
}

/// A good request of each route but that for runs, of this trace of the example.
fn one_of_each(id: &str) -> Vec<Request> {
    let of = |what: &'static str, query: &[(&'static str, &'static str)]| {
        Request::get(what, &what.replace("{id}", id), query)
    };
    let (layer, head) = (("layer", "0"), ("head", "0"));
    let span = [layer, head, ("q0", "0"), ("q1", "10"), ("k0", "0"), ("k1", "10")];
    let pixels = [&span[..], &[("rows", "5"), ("columns", "5")]].concat();
    vec![
        Request::get("/", "/", &[]),
        Request::get("/ui/{path}", "/ui/main.js", &[]),
        Request::get("/api/health", "/api/health", &[]),
        Request::get("/api/sources", "/api/sources", &[]),
        Request::post("/api/traces", json!({ "source": "example" })),
        of("/api/traces/{id}", &[]),
        of("/api/traces/{id}/worked", &[]),
        of("/api/traces/{id}/cell", &[layer, head, ("query", "6"), ("key", "1")]),
        of("/api/traces/{id}/row", &[layer, head, ("query", "6")]),
        of("/api/traces/{id}/column", &[layer, head, ("key", "1")]),
        of("/api/traces/{id}/values", &[layer, head]),
        of("/api/traces/{id}/tile", &span),
        of("/api/traces/{id}/pooled", &pixels),
        of("/api/traces/{id}/thumbs", &[("size", "4")]),
        of("/api/traces/{id}/heads", &[]),
        of("/api/traces/{id}/export", &[("format", "svg")]),
        Request::post("/api/scratch/example", json!({})),
        Request::post("/api/scratch/gradient", json!({ "scores": [1.0, 2.0] })),
        Request::get("/api/scratch/scale", "/api/scratch/scale", &[]),
        Request::get("/api/scratch/bill", "/api/scratch/bill", &[("n", "64")]),
        Request::post("/api/lesson/words", json!({ "source": "s1", "texts": ["ab", "cb"], "word": "b" })),
        Request::post("/api/lesson/cut", json!({ "source": "s1", "text": "abc", "position": 1, "replace": "x" })),
        Request::post("/api/lesson/cache", json!({ "source": "s1", "text": "abc", "max_tokens": 2 })),
    ]
}

/// The names between backticks, of what would have been expected.
fn expected(refusal: &str) -> BTreeSet<String> {
    let (_, names) = refusal.split_once("expected").unwrap_or_else(|| panic!("{refusal:?} names nothing"));
    names.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

#[tokio::test]
async fn every_answer_is_as_described() {
    let folder = tempfile::tempdir().expect("a folder");
    let (asking, description) = asking(folder.path()).await;
    let id = asking.make(json!({ "source": "example" })).await["id"].as_str().expect("an id").to_owned();
    let mut left: BTreeSet<String> = description.0["paths"].as_object().expect("paths").keys().cloned().collect();
    for request in one_of_each(&id) {
        let answer = request.ask(&asking).await;
        assert_eq!(answer.status, 200, "{}: {}", request.route, String::from_utf8_lossy(&answer.body));
        description.check(&request, &answer);
        left.remove(request.route);
    }
    // This description itself was read above; runs have a test of their own.
    assert_eq!(left, ["/api/openapi.json", "/api/runs/{name}"].map(str::to_owned).into(), "these were not asked");
}

#[tokio::test]
async fn what_may_be_asked_is_as_described() {
    let folder = tempfile::tempdir().expect("a folder");
    let (asking, description) = asking(folder.path()).await;
    let id = asking.make(json!({ "source": "example" })).await["id"].as_str().expect("an id").to_owned();
    for mut request in one_of_each(&id) {
        let operation = description.operation(&request);
        let query = description.query(operation);
        let required: BTreeSet<&str> = query.iter().filter(|(_, must)| *must).map(|(name, _)| name.as_str()).collect();
        assert_eq!(required, request.query.iter().map(|(name, _)| *name).collect(), "{}", request.route);
        if !query.is_empty() {
            request.query.insert(0, ("zzz", "1"));
            let refusal = request.ask(&asking).await;
            description.check(&request, &refusal);
            let names = query.iter().map(|(name, _)| name.clone()).collect();
            assert_eq!(expected(&refusal.refused(400)), names, "{}", request.route);
            request.query.remove(0);
        }
        for index in 0..request.query.len() {
            let (name, value) = request.query.remove(index);
            let refusal = request.ask(&asking).await.refused(400);
            assert!(refusal.contains(name), "{} without {name}: {refusal}", request.route);
            request.query.insert(index, (name, value));
        }
        let Some(body) = request.body.clone() else { continue };
        let schema = description.body(operation);
        check(&description.0, schema, &body).unwrap_or_else(|error| panic!("{} {error}", request.route));
        let required = schema["required"].as_array().into_iter().flatten();
        let required: BTreeSet<&str> = required.map(|name| name.as_str().expect("a name")).collect();
        let fields = body.as_object().expect("an object");
        assert_eq!(required, fields.keys().map(String::as_str).collect(), "{}", request.route);
        request.body = Some(json!({ "zzz": 1 }));
        let names = schema["properties"].as_object().expect("properties").keys().cloned().collect();
        assert_eq!(expected(&request.ask(&asking).await.refused(400)), names, "{}", request.route);
        for name in fields.keys() {
            let mut fewer = fields.clone();
            fewer.remove(name);
            request.body = Some(Value::Object(fewer));
            assert!(
                request.ask(&asking).await.refused(400).contains(name.as_str()),
                "{} without {name}",
                request.route
            );
        }
    }
}

/// The branches of a schema that no smallest request reaches.
#[tokio::test]
async fn other_answers_are_as_described_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let (asking, description) = asking(folder.path()).await;
    let id = async |wish: Value| asking.make(wish).await["id"].as_str().expect("an id").to_owned();
    let causal = id(json!({ "source": "example", "causal": true })).await;
    let model = id(json!({ "source": "s1", "text": "a 日", "run": "r1" })).await;
    let kept = id(json!({ "source": "t1" })).await;
    let mut requests = vec![
        Request::get("/api/scratch/bill", "/api/scratch/bill", &[("n", "4097")]),
        Request::post("/api/traces", json!({ "source": "s1", "text": "a 日", "causal": null, "run": null })),
        Request::post("/api/traces", json!({ "source": "s9" })),
        Request::post(
            "/api/scratch/example",
            json!({ "causal": true, "scale": null, "extra_score": { "query": 1, "key": 0, "add": 1 } }),
        ),
        Request::post("/api/scratch/example", json!({ "knock_out": { "query": 6, "key": 1 } })),
        Request::get("/api/runs/{name}", "/api/runs/nobody", &[]),
        Request::get("/api/traces/{id}", "/api/traces/nobody", &[]),
    ];
    for id in [&causal, &model, &kept] {
        for (route, query) in [
            ("/api/traces/{id}", &[][..]),
            ("/api/traces/{id}/heads", &[("layer", "0"), ("site", "self")]),
            ("/api/traces/{id}/row", &[("layer", "0"), ("head", "mean"), ("query", "2")]),
            ("/api/traces/{id}/row", &[("layer", "0"), ("head", "0"), ("query", "2")]),
            ("/api/traces/{id}/column", &[("layer", "0"), ("head", "mean"), ("key", "2")]),
            ("/api/traces/{id}/cell", &[("layer", "0"), ("head", "0"), ("query", "1"), ("key", "2")]),
            ("/api/traces/{id}/cell", &[("layer", "0"), ("head", "0"), ("query", "99"), ("key", "2")]),
            ("/api/traces/{id}/worked", &[]),
        ] {
            requests.push(Request::get(route, &route.replace("{id}", id), query));
        }
    }
    for request in requests {
        description.check(&request, &request.ask(&asking).await);
    }
}

#[tokio::test]
async fn the_version_is_this_one_and_no_answer_has_room_for_more() {
    let folder = tempfile::tempdir().expect("a folder");
    let (_, description) = asking(folder.path()).await;
    assert_eq!(description.0["info"]["version"], env!("CARGO_PKG_VERSION"), "write it into openapi.json");
    // Whatever has properties is closed, but for what others take up and close.
    let mut open = vec![("", &description.0)];
    while let Some((name, value)) = open.pop() {
        let closed = ["additionalProperties", "unevaluatedProperties"].iter().any(|word| value[word] == false);
        assert!(value["properties"].is_null() || closed || name == "matrices", "{name} may have more: {value}");
        match value {
            Value::Object(fields) => open.extend(fields.iter().map(|(name, value)| (name.as_str(), value))),
            Value::Array(items) => open.extend(items.iter().map(|item| ("", item))),
            _ => {}
        }
    }
}
