//! Readers who leave, and readers who look at maps, while the statistics of a long text are on their way.

use std::time::{Duration, Instant};

use attnscope_inspect::{Model, Site, SiteKind, Tensor, Token, Trace};
use attnscope_kernel::{Isa, Params, View, forward};
use attnscope_models::Source;
use attnscope_server::Opening;
use serde_json::json;

use crate::support::{Asking, entry, example};

const LENGTH: usize = 4096;
/// So many layers that all their statistics take far longer than these tests wait for.
const LAYERS: usize = 400;

/// A long text, whose layers are all the same.
fn long() -> Trace {
    let numbers: Vec<f32> = (0..LENGTH * 4).map(|at| ((at * 7919) % 1009) as f32 / 300.0).collect();
    let view = || View::new(&numbers, [1, LENGTH, 1, 4]).expect("it fits");
    let params = Params { causal: true, ..Params::for_head_dim(4) };
    let done = forward(view(), view(), view(), &params, Isa::detect()).expect("it runs");
    let tensor = |data: &[f32]| Tensor::new(data.to_vec(), [LENGTH, 1, 4]);
    let site = |layer| Site {
        kind: SiteKind::SelfAttention,
        layer,
        params: params.clone(),
        q: tensor(&numbers),
        k: tensor(&numbers),
        v: tensor(&numbers),
        out: tensor(&done.out),
        lse: done.lse.clone().into(),
    };
    let tokens = (0..LENGTH).map(|at| Token::plain(None, format!(" t{at}"))).collect();
    Trace::new(Model::default(), String::new(), tokens, (0..LAYERS).map(site).collect()).expect("the pieces fit")
}

/// A server of the long text and of the example, and the addresses of their traces.
async fn asking() -> (Asking, String, String) {
    let asking = Asking::of(vec![example(), entry("t1", Opening::Ready(Box::new(Source::Trace(long()))))]);
    let meta = asking.make(json!({ "source": "t1" })).await;
    let short = asking.trace(false).await;
    (asking, format!("/api/traces/{}", meta["id"].as_str().expect("an id")), short)
}

/// How long an answer takes, which must be a good one.
async fn time(asking: &Asking, path: &str) -> Duration {
    let begun = Instant::now();
    assert_eq!(asking.get(path).await.status, 200, "{path}");
    begun.elapsed()
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_leaves_stops_the_work() {
    let (asking, long, short) = asking().await;
    for question in ["heads", "thumbs?size=64", "export?what=heads&format=csv"] {
        let asked = {
            let (asking, path) = (asking.clone(), format!("{long}/{question}"));
            tokio::spawn(async move { asking.get(&path).await.status })
        };
        tokio::time::sleep(Duration::from_millis(300)).await;
        assert!(!asked.is_finished(), "{question} is no long work");
        asked.abort();
        // Statistics are made one after another: these begin when those have ended.
        let waited = time(&asking, &format!("{short}/heads")).await;
        assert!(waited < Duration::from_secs(2), "{question} went on for {waited:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn maps_do_not_wait_for_statistics() {
    let (asking, long, _) = asking().await;
    let map = format!("{long}/pooled?layer=0&head=0&q0=0&q1={LENGTH}&k0=0&k1={LENGTH}&rows=64&columns=64");
    let tile = format!("{long}/tile?layer=0&head=mean&q0=0&q1=512&k0=0&k1=512");
    let alone = time(&asking, &map).await;
    let asked = {
        let (asking, path) = (asking.clone(), format!("{long}/heads"));
        tokio::spawn(async move { asking.get(&path).await.status })
    };
    tokio::time::sleep(Duration::from_millis(300)).await;
    for path in [&map, &tile] {
        let waited = time(&asking, path).await;
        assert!(waited < 10 * alone + Duration::from_secs(2), "{path}: {waited:?}, and {alone:?} alone");
    }
    assert!(!asked.is_finished(), "the statistics were still on their way");
    asked.abort();
}
