use attnscope_inspect::Tensor;
use attnscope_inspect::example::Example;
use attnscope_models::Source;
use attnscope_server::Opening;
use serde_json::{Value, json};

use crate::support::{Asking, close, entry, matrix, numbers};

const IT: usize = 6;
const ROBOT: usize = 1;

#[tokio::test]
async fn it_looks_at_the_robot() {
    let asking = Asking::example();
    let trace = asking.trace(false).await;
    let cell = asking.get(&format!("{trace}/cell?layer=0&head=0&query={IT}&key={ROBOT}")).await.json();
    assert_eq!(cell["query"], json!({ "index": 6, "token": "it" }));
    assert_eq!(cell["key"], json!({ "index": 1, "token": "robot" }));
    assert_eq!(
        (&cell["layer"], &cell["head"], &cell["kv_head"], &cell["site"]),
        (&json!(0), &json!(0), &json!(0), &json!("self"))
    );
    assert_eq!((&cell["scale"], &cell["softcap"], &cell["bias"]), (&json!(0.5), &json!(null), &json!(null)));
    assert_eq!(cell["mask"], json!(null));
    let number = |name: &str| cell[name].as_f64().unwrap_or_else(|| panic!("{name} is no number"));
    close(number("dot"), 3.80, 1e-6);
    close(number("score"), 1.90, 1e-6);
    close(number("weight"), 0.629, 5e-4);
    close(number("row_sum"), 1.0, 1e-6);
    close(number("log_weight"), number("score") - number("lse"), 1e-12);
    close(number("weight"), number("log_weight").exp(), 1e-12);
    let (q, k) = (numbers(&cell["q"]), numbers(&cell["k"]));
    let products: Vec<f64> = q.iter().zip(&k).map(|(q, k)| q * k).collect();
    for (got, want) in numbers(&cell["products"]).iter().zip(&products) {
        close(*got, *want, 1e-6);
    }
    close(products.iter().sum(), 3.80, 1e-6);
    assert_eq!((numbers(&cell["v"]).len(), numbers(&cell["out"]).len()), (3, 3));
    assert!((0.0..=1.0).contains(&number("share")));
}

#[tokio::test]
async fn a_causal_mask_hides_the_future() {
    let asking = Asking::example();
    let trace = asking.trace(true).await;
    let cell = asking.get(&format!("{trace}/cell?layer=0&head=0&query={ROBOT}&key={IT}")).await.json();
    assert_eq!((&cell["mask"], &cell["weight"], &cell["log_weight"]), (&json!("future"), &json!(0.0), &json!(null)));
    assert!(cell["score"].is_f64(), "the score is there, before the mask hides it");

    let row = asking.get(&format!("{trace}/row?layer=0&head=0&query={ROBOT}")).await.json();
    let mask = row["mask"].as_array().unwrap();
    assert!(mask[..=ROBOT].iter().all(Value::is_null) && mask[ROBOT + 1..].iter().all(|why| why == "future"));
    let weights = numbers(&row["weights"]);
    assert!(weights[..=ROBOT].iter().all(|weight| *weight > 0.0));
    assert!(weights[ROBOT + 1..].iter().all(|weight| *weight == 0.0));
    close(weights.iter().sum(), 1.0, 1e-6);
    assert_eq!(row["visible"], 2);
    assert_eq!(row["strongest"].as_array().map(Vec::len), Some(2));
}

#[tokio::test]
async fn a_row_spends_one() {
    let asking = Asking::example();
    let trace = asking.trace(false).await;
    let row = asking.get(&format!("{trace}/row?layer=0&head=0&query={IT}")).await.json();
    let (weights, scores) = (numbers(&row["weights"]), numbers(&row["scores"]));
    let sum: f64 = scores.iter().map(|score| score.exp()).sum();
    for (weight, score) in weights.iter().zip(&scores) {
        close(*weight, score.exp() / sum, 1e-6);
    }
    close(row["lse"].as_f64().unwrap(), sum.ln(), 1e-6);
    close(row["row_sum"].as_f64().unwrap(), 1.0, 1e-6);
    let entropy: f64 = -weights.iter().map(|weight| weight * weight.ln()).sum::<f64>();
    close(row["entropy"].as_f64().unwrap(), entropy, 1e-6);
    assert_eq!((&row["visible"], &row["query"]), (&json!(10), &json!({ "index": 6, "token": "it" })));
    let strongest = row["strongest"].as_array().unwrap();
    assert_eq!((&strongest[0]["index"], &strongest[0]["token"]), (&json!(1), &json!("robot")));
    close(strongest[0]["weight"].as_f64().unwrap(), 0.629, 5e-4);
    assert!(strongest.windows(2).all(|two| two[0]["weight"].as_f64() >= two[1]["weight"].as_f64()));
}

#[tokio::test]
async fn a_tile_is_rows_of_weights_and_codes() {
    let asking = Asking::example();
    let trace = asking.trace(true).await;
    let tile = asking.get(&format!("{trace}/tile?layer=0&head=0&q0=4&q1=7&k0=3&k1=8")).await.floats();
    assert_eq!(tile.len(), 3 * 5);
    for (query, row) in (4..7).zip(tile.chunks_exact(5)) {
        let whole = numbers(&asking.get(&format!("{trace}/row?layer=0&head=0&query={query}")).await.json()["weights"]);
        for (key, cell) in (3..8).zip(row) {
            if key > query {
                assert_eq!(*cell, -1.0, "({query}, {key}) is in the future");
            } else {
                assert_eq!(*cell, whole[key] as f32, "({query}, {key})");
            }
        }
    }
    let open = asking.trace(false).await;
    let tile = asking.get(&format!("{open}/tile?site=self&layer=0&head=0&q0=0&q1=10&k0=0&k1=10")).await.floats();
    assert_eq!(tile.len(), 100);
    assert!(tile.iter().all(|cell| *cell > 0.0), "nothing is hidden");
    close(f64::from(tile[IT * 10 + ROBOT]), 0.629, 5e-4);
}

#[tokio::test]
async fn values_are_those_of_the_head() {
    let asking = Asking::example();
    let trace = asking.trace(false).await;
    let values = matrix(&asking.get(&format!("{trace}/values?layer=0&head=0")).await.json()["v"]);
    assert_eq!((values.len(), values[0].len()), (10, 3));
    let cell = asking.get(&format!("{trace}/cell?layer=0&head=0&query={IT}&key={ROBOT}")).await.json();
    assert_eq!(values[ROBOT], numbers(&cell["v"]));
    let weights = numbers(&asking.get(&format!("{trace}/row?layer=0&head=0&query={IT}")).await.json()["weights"]);
    for (dim, out) in numbers(&cell["out"]).iter().enumerate() {
        close(weights.iter().zip(&values).map(|(weight, v)| weight * v[dim]).sum(), *out, 1e-6);
    }
}

#[tokio::test]
async fn heads_have_statistics_and_a_proof() {
    let asking = Asking::example();
    let trace = asking.trace(true).await;
    let heads = asking.get(&format!("{trace}/heads")).await.json();
    assert_eq!(heads, asking.get(&format!("{trace}/heads?layer=0")).await.json());
    assert_eq!(heads.as_array().map(Vec::len), Some(1));
    let head = &heads[0];
    assert_eq!((&head["layer"], &head["head"], &head["site"]), (&json!(0), &json!(0), &json!("self")));
    let (mut first, mut own, mut previous) = (0.0, 0.0, 0.0);
    for query in 0..10 {
        let weights =
            numbers(&asking.get(&format!("{trace}/row?layer=0&head=0&query={query}")).await.json()["weights"]);
        first += weights[0] / 10.0;
        own += weights[query] / 10.0;
        previous += if query > 0 { weights[query - 1] / 9.0 } else { 0.0 };
    }
    for (name, want) in [("first", first), ("self", own), ("previous", previous)] {
        close(head[name].as_f64().unwrap(), want, 1e-9);
    }
    assert!(head["distance"].as_f64().is_some_and(|distance| distance > 0.0));
    assert!(head["proof"]["row_sum_error"].as_f64().is_some_and(|error| error < 1e-6));
    assert!(head["proof"]["output_error"].as_f64().is_some_and(|error| error < 1e-6));
}

#[tokio::test]
async fn questions_out_of_range_are_refused_in_words() {
    let asking = Asking::example();
    let trace = asking.trace(false).await;
    for (question, says) in [
        ("cell?layer=1&head=0&query=0&key=0", "layer 1 is out of range: there are layers 0 to 0"),
        ("cell?layer=0&head=1&query=0&key=0", "head 1 is out of range: the layer has 1 heads, 0 to 0"),
        ("cell?layer=0&head=0&query=10&key=0", "query 10 is out of range: the text has 10 tokens, 0 to 9"),
        ("cell?layer=0&head=0&query=0&key=10", "key 10 is out of range: the text has 10 tokens, 0 to 9"),
        ("cell?site=cross&layer=0&head=0&query=0&key=0", "this trace has no cross attention"),
        ("cell?site=other&layer=0&head=0&query=0&key=0", "site"),
        ("cell?layer=0&head=0&query=0", "key"),
        ("cell?layer=0&head=0&query=it&key=0", "query"),
        ("cell?layer=-1&head=0&query=0&key=0", "layer"),
        ("cell?layer=0&layer=0&head=0&query=0&key=0", "layer"),
        ("cell?layer=0&head=0&query=0&key=0&hed=1", "hed"),
        ("cell?layer=0&head=0&query=0&key=99999999999999999999", "key"),
        ("cell", "layer"),
        ("row?layer=0&head=0&query=10", "query 10 is out of range"),
        ("row?layer=0&head=2&query=0", "head 2 is out of range"),
        ("tile?layer=0&head=0&q0=0&q1=11&k0=0&k1=10", "0..10"),
        ("tile?layer=0&head=0&q0=3&q1=3&k0=0&k1=10", "non-empty"),
        ("tile?layer=0&head=0&q0=5&q1=3&k0=0&k1=10", "non-empty"),
        ("tile?layer=3&head=0&q0=0&q1=1&k0=0&k1=1", "layer 3 is out of range"),
        ("values?layer=0&head=1", "head 1 is out of range: the layer has 1 heads, 0 to 0"),
        ("values?layer=1&head=0", "layer 1 is out of range"),
        ("heads?layer=1", "layer 1 is out of range"),
        ("heads?site=encoder", "this trace has no encoder attention"),
    ] {
        let error = asking.get(&format!("{trace}/{question}")).await.refused(400);
        assert!(error.contains(says), "{question}: {error}");
    }
    asking.get(&format!("{trace}/nothing")).await.refused(404);
}

#[tokio::test]
async fn what_is_not_a_number_is_never_sent_as_one() {
    let mut trace = Example::load().trace(false).expect("the example runs");
    let mut q = trace.sites[0].q.data.to_vec();
    q[0] = f32::NAN;
    trace.sites[0].q = Tensor::new(q, trace.sites[0].q.shape);
    let asking = Asking::of(vec![entry("t1", Opening::Ready(Box::new(Source::Trace(trace))))]);
    let meta = asking.make(json!({ "source": "t1" })).await;
    let trace = format!("/api/traces/{}", meta["id"].as_str().unwrap());
    let error = asking.get(&format!("{trace}/tile?layer=0&head=0&q0=0&q1=10&k0=0&k1=10")).await.refused(500);
    assert!(error.contains("not numbers"), "{error}");
    let rest = asking.get(&format!("{trace}/tile?layer=0&head=0&q0=1&q1=10&k0=0&k1=10")).await.floats();
    assert!(rest.iter().all(|cell| cell.is_finite()));
    let cell = asking.get(&format!("{trace}/cell?layer=0&head=0&query=0&key=0")).await.json();
    assert_eq!((&cell["score"], &cell["weight"]), (&json!(null), &json!(null)));
}
