//! Runs that wait for each other. A model that opens when the test wants it to keeps the others waiting as long as needed.

use std::path::Path;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use attnscope_models::Source;
use attnscope_server::{Entry, Opening};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::schema::check;
use crate::small_model;
use crate::socket::{Connection, Listening};
use crate::support::{Answer, Asking, entry, example};

/// What a model waits for before it opens; given up, it opens too: a test that fails must not leave a thread waiting for ever.
struct Gate(Sender<()>);

impl Gate {
    /// Lets the model open.
    fn open(self) {
        let _ = self.0.send(());
    }
}

/// A model behind a gate, and one that opens at once.
fn entries(slow: &Path, quick: &Path) -> (Gate, Vec<Entry>) {
    small_model::write(slow);
    small_model::write(quick);
    let (open, opened) = channel();
    let (slow, opened) = (slow.to_owned(), Mutex::new(opened));
    let by = Box::new(move || {
        let _ = opened.lock().unwrap_or_else(PoisonError::into_inner).recv();
        Source::open(slow.to_str().expect("a text"))
    });
    let entries = vec![example(), entry("slow", Opening::By(by)), entry("quick", Opening::OnDemand(quick.to_owned()))];
    (Gate(open), entries)
}

fn wish(source: &str, text: &str, run: &str) -> String {
    json!({ "source": source, "text": text, "run": run }).to_string()
}

fn post(asking: &Asking, path: &'static str, body: String) -> JoinHandle<Answer> {
    let asking = asking.clone();
    tokio::spawn(async move { asking.post(path, &body).await })
}

/// Where a run stands, as soon as it is known.
async fn standing(asking: &Asking, run: &str) -> Value {
    let begun = Instant::now();
    loop {
        let answer = asking.get(&format!("/api/runs/{run}")).await;
        if answer.status == 200 {
            return answer.json();
        }
        assert!(answer.refused(404).contains("no such run") && begun.elapsed() < Duration::from_secs(20), "{run}");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

#[tokio::test]
async fn whoever_waits_sees_where_they_stand_and_can_leave() {
    let folder = tempfile::tempdir().expect("a folder");
    let (slow, quick) = (folder.path().join("slow"), folder.path().join("quick"));
    let (gate, entries) = entries(&slow, &quick);
    let asking = Asking::of(entries);

    let first = post(&asking, "/api/traces", wish("slow", "a robot", "first"));
    assert_eq!(standing(&asking, "first").await, json!({ "ahead": 0, "done": 0, "all": 0 }));
    let second = post(&asking, "/api/traces", wish("quick", "another", "second"));
    assert_eq!(standing(&asking, "second").await, json!({ "ahead": 1, "done": 0, "all": 0 }));
    let cut = json!({ "source": "quick", "text": "abc", "position": 1, "replace": "x", "run": "third" });
    let third = post(&asking, "/api/lesson/cut", cut.to_string());
    let stands = standing(&asking, "third").await;
    assert_eq!(stands, json!({ "ahead": 2, "done": 0, "all": 0 }));

    let description = asking.get("/api/openapi.json").await.json();
    let described = &description["paths"]["/api/runs/{name}"]["get"]["responses"]["200"]["content"];
    check(&description, &described["application/json"]["schema"], &stands).expect("it is as described");

    // What needs no model waits for none.
    assert_eq!(asking.make(json!({ "source": "example", "run": "example" })).await["kind"], "example");
    asking.get("/api/runs/example").await.refused(404);

    second.abort();
    assert!(second.await.is_err_and(|error| error.is_cancelled()));
    asking.get("/api/runs/second").await.refused(404);
    assert_eq!(standing(&asking, "third").await["ahead"], 1);

    gate.open();
    assert_eq!(first.await.expect("no panic").json()["text"], "a robot");
    assert_eq!(third.await.expect("no panic").json()["tokens"], json!(["a", "b", "c"]));
    for run in ["first", "second", "third"] {
        asking.get(&format!("/api/runs/{run}")).await.refused(404);
    }
    // It was given up before its turn: nothing was opened for it, and it runs now.
    let before = asking.get("/api/sources").await.json();
    assert_eq!(before["sources"][2]["opened"], true, "the third run opened it");
    assert_eq!(asking.make(json!({ "source": "quick", "text": "another" })).await["text"], "another");
}

#[tokio::test]
async fn a_name_is_the_later_run_s() {
    let folder = tempfile::tempdir().expect("a folder");
    let (slow, quick) = (folder.path().join("slow"), folder.path().join("quick"));
    let (gate, entries) = entries(&slow, &quick);
    let asking = Asking::of(entries);
    let first = post(&asking, "/api/traces", wish("slow", "a", "same"));
    assert_eq!(standing(&asking, "same").await["ahead"], 0);
    let second = post(&asking, "/api/traces", wish("quick", "b", "same"));
    let begun = Instant::now();
    while standing(&asking, "same").await["ahead"] == 0 {
        assert!(begun.elapsed() < Duration::from_secs(20));
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    gate.open();
    assert_eq!(first.await.expect("no panic").json()["text"], "a");
    assert_eq!(second.await.expect("no panic").json()["text"], "b");
}

#[tokio::test]
async fn names_that_fit_no_address_are_refused() {
    let asking = Asking::example();
    for run in ["", "two words", "naïve", "a\nb", &"x".repeat(65)] {
        let error = asking.post("/api/traces", &wish("example", "", run)).await.refused(400);
        assert!(error.contains("1 to 64"), "{error}");
    }
    assert_eq!(asking.make(json!({ "source": "example", "run": "a/b-c_1" })).await["kind"], "example");
    asking.get(&format!("/api/runs/{}", "x".repeat(65))).await.refused(404);
    asking.get("/api/runs/two%20words").await.refused(404);
    asking.get("/api/runs/%ff").await.refused(400);
}

/// As a browser leaves: by closing the connection.
#[tokio::test(flavor = "multi_thread")]
async fn a_closed_connection_gives_its_place_up() {
    let folder = tempfile::tempdir().expect("a folder");
    let (slow, quick) = (folder.path().join("slow"), folder.path().join("quick"));
    let (gate, entries) = entries(&slow, &quick);
    let listening = Listening::of(entries);
    let address = listening.address;
    let done = tokio::task::spawn_blocking(move || {
        let mut watching = Connection::to(address);
        let mut until = |run: &str, status: u16| {
            let begun = Instant::now();
            while watching.get(&format!("/api/runs/{run}")).0 != status {
                assert!(begun.elapsed() < Duration::from_secs(20), "{run} is not {status}");
                std::thread::sleep(Duration::from_millis(2));
            }
        };
        let (mut first, mut second) = (Connection::to(address), Connection::to(address));
        first.send("POST", "/api/traces", &wish("slow", "a", "first"));
        until("first", 200);
        second.send("POST", "/api/traces", &wish("quick", "b", "second"));
        until("second", 200);
        drop(second);
        until("second", 404);
        gate.open();
        assert_eq!(first.receive().0, 200);
    });
    done.await.expect("no panic");
}
