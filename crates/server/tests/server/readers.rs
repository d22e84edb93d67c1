//! Many readers at a time.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant};

use attnscope_inspect::example::Example;
use attnscope_inspect::{At, Pick, SiteKind, Trace};
use attnscope_models::{Ask, Prompt, Source};
use attnscope_server::Opening;
use serde_json::{Value, json};

use crate::small_model;
use crate::socket::{Connection, Listening};
use crate::support::{entry, example};

const READERS: usize = 200;
/// Questions that each of them asks.
const QUESTIONS: usize = 10;
/// Tokens of the texts that a model reads meanwhile.
const LENGTH: usize = 2048;

/// Two traces by their addresses, and what must come back.
struct Traces([(String, Trace); 2]);

impl Traces {
    /// Asks for one cell and one tile, which are others for each reader and each turn.
    fn ask(&self, connection: &mut Connection, reader: usize, turn: usize) {
        let (address, trace) = &self.0[(reader + turn) % 2];
        let site = &trace.sites[(reader / 2) % trace.sites.len()];
        let (layer, head, len) = (site.layer, turn % site.q_heads(), site.q_len());
        let (query, key) = ((reader * 7 + turn) % len, (reader + turn * 3) % len);
        let (status, body) =
            connection.get(&format!("{address}/cell?layer={layer}&head={head}&query={query}&key={key}"));
        let cell: Value = serde_json::from_slice(&body).expect("JSON");
        assert_eq!(status, 200, "{cell}");
        let want = trace.cell(At { layer, head, ..At::default() }, query, key).expect("a cell");
        // Read as the answer was read, so that both lose the same.
        let want: Value = serde_json::from_slice(&serde_json::to_vec(&want).expect("JSON")).expect("JSON");
        for (name, value) in want.as_object().expect("an object") {
            assert_eq!(cell[name], *value, "{name} of {address}, layer {layer}, head {head}, ({query}, {key})");
        }

        let (q0, k0) = (query / 2, key / 2);
        let (q1, k1) = (query + 1, key + 1);
        let (status, body) =
            connection.get(&format!("{address}/tile?layer={layer}&head={head}&q0={q0}&q1={q1}&k0={k0}&k1={k1}"));
        assert_eq!(status, 200, "{}", String::from_utf8_lossy(&body));
        let tile = trace.picked_tile(SiteKind::default(), layer, Pick::Head(head), q0..q1, k0..k1).expect("a tile");
        let want: Vec<u8> = tile.cells.iter().flat_map(|cell| cell.to_le_bytes()).collect();
        assert_eq!(body, want, "{address}, layer {layer}, head {head}, {q0}..{q1} x {k0}..{k1}");
    }
}

/// Runs the model, one run after another, until told to stop; the answer is how many there were.
fn keep_running(mut connection: Connection, enough: &AtomicBool) -> usize {
    let text = "a robot and its patient ".repeat(LENGTH / 24);
    let mut runs = 0;
    while !enough.load(Ordering::Relaxed) {
        let wish = json!({ "source": "s1", "text": text, "position": 100, "replace": "x", "run": "busy" });
        let (status, body) = connection.post("/api/lesson/cut", &wish.to_string());
        let answer: Value = serde_json::from_slice(&body).expect("JSON");
        assert_eq!(status, 200, "{answer}");
        let changed = answer["without_attention"].as_array().expect("a list").iter().enumerate();
        assert!(changed.into_iter().all(|(at, change)| (change.as_f64() != Some(0.0)) == (at == 100)));
        runs += 1;
    }
    runs
}

fn traces(folder: &Path, connection: &mut Connection) -> Traces {
    let mut make = |wish: Value| {
        let (status, body) = connection.post("/api/traces", &wish.to_string());
        let meta: Value = serde_json::from_slice(&body).expect("JSON");
        assert_eq!(status, 200, "{meta}");
        format!("/api/traces/{}", meta["id"].as_str().expect("an id"))
    };
    let text = "The robot carried the patient because it was tired.";
    let model = Source::open(folder.to_str().expect("UTF-8")).expect("it opens");
    let read = model.trace(Ask { prompt: Some(Prompt::Text(text.to_owned())), ..Ask::default() }).expect("it runs");
    let example = Example::load().trace(true).expect("it runs");
    Traces([
        (make(json!({ "source": "example", "causal": true })), example),
        (make(json!({ "source": "s1", "text": text })), read),
    ])
}

#[tokio::test(flavor = "multi_thread")]
async fn two_hundred_readers_get_right_answers_while_a_model_runs() {
    let folder = tempfile::tempdir().expect("a folder");
    small_model::write_for(folder.path(), LENGTH);
    let listening = Listening::of(vec![example(), entry("s1", Opening::OnDemand(folder.path().to_owned()))]);
    let address = listening.address;
    let path = folder.path().to_owned();
    let asked = tokio::task::spawn_blocking(move || {
        let traces = traces(&path, &mut Connection::to(address));
        let (enough, answered) = (AtomicBool::new(false), AtomicUsize::new(0));
        let start = Arc::new(Barrier::new(READERS + 1));
        let begun = Instant::now();
        let runs = thread::scope(|scope| {
            let running = scope.spawn(|| keep_running(Connection::to(address), &enough));
            let readers: Vec<_> = (0..READERS)
                .map(|reader| {
                    let (start, traces, answered) = (start.clone(), &traces, &answered);
                    scope.spawn(move || {
                        let mut connection = Connection::to(address);
                        start.wait();
                        for turn in 0..QUESTIONS {
                            traces.ask(&mut connection, reader, turn);
                            answered.fetch_add(2, Ordering::Relaxed);
                        }
                    })
                })
                .collect();
            // All are connected; they ask when the model has begun.
            let mut watching = Connection::to(address);
            while watching.get("/api/runs/busy").0 != 200 {
                thread::sleep(Duration::from_millis(1));
                assert!(begun.elapsed() < Duration::from_secs(60), "no run began");
            }
            start.wait();
            let wrong = readers.into_iter().filter_map(|reader| reader.join().err()).count();
            enough.store(true, Ordering::Relaxed);
            assert_eq!(wrong, 0, "readers failed; what they met is printed above");
            running.join().expect("the runs went well")
        });
        assert!(runs > 0);
        assert!(begun.elapsed() < Duration::from_secs(60), "it took {:?}", begun.elapsed());
        answered.into_inner()
    });
    assert_eq!(asked.await.expect("no panic"), READERS * QUESTIONS * 2);
}
