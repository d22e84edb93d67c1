//! Columns, and means over the heads of a layer.

use serde_json::{Value, json};

use crate::models::asking;
use crate::small_model::HEADS;
use crate::support::{Asking, close, numbers};

async fn weights(asking: &Asking, trace: &str, head: &str, query: usize) -> Vec<f64> {
    numbers(&asking.get(&format!("{trace}/row?layer=0&head={head}&query={query}")).await.json()["weights"])
}

#[tokio::test]
async fn a_column_is_what_every_row_gives_to_one_key() {
    let asking = Asking::example();
    for causal in [false, true] {
        let trace = asking.trace(causal).await;
        let column = asking.get(&format!("{trace}/column?layer=0&head=0&key=4")).await.json();
        assert_eq!(column["key"], json!({ "index": 4, "token": "patient" }));
        assert_eq!((&column["layer"], &column["head"], &column["site"]), (&json!(0), &json!(0), &json!("self")));
        let listened = numbers(&column["weights"]);
        for (query, weight) in listened.iter().enumerate() {
            assert_eq!(*weight, weights(&asking, &trace, "0", query).await[4], "query {query}");
            let hidden = causal && query < 4;
            assert_eq!(column["mask"][query], if hidden { json!("future") } else { Value::Null });
            assert_eq!(*weight == 0.0, hidden);
        }
        close(column["received"].as_f64().unwrap(), listened.iter().sum(), 1e-12);
        let visible = if causal { 6 } else { 10 };
        assert_eq!(column["visible"], visible);
        let strongest = column["strongest"].as_array().unwrap();
        assert_eq!(strongest.len(), visible);
        assert!(strongest.windows(2).all(|two| two[0]["weight"].as_f64() >= two[1]["weight"].as_f64()));
        for strong in strongest {
            assert_eq!(strong["weight"], column["weights"][strong["index"].as_u64().unwrap() as usize]);
        }
    }
}

#[tokio::test]
async fn a_mean_is_of_all_heads_and_sums_to_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let asking = asking(folder.path());
    let meta = asking.make(json!({ "source": "s1", "text": "a robot" })).await;
    let trace = format!("/api/traces/{}", meta["id"].as_str().unwrap());
    let mut all = Vec::new();
    for query in 0..7 {
        let mean = asking.get(&format!("{trace}/row?layer=0&head=mean&query={query}")).await.json();
        assert_eq!((&mean["head"], &mean["scores"], &mean["lse"]), (&json!("mean"), &json!(null), &json!(null)));
        let got = numbers(&mean["weights"]);
        close(got.iter().sum(), 1.0, 1e-6);
        close(mean["row_sum"].as_f64().unwrap(), 1.0, 1e-6);
        assert_eq!(mean["visible"], query + 1);
        let heads = [weights(&asking, &trace, "0", query).await, weights(&asking, &trace, "1", query).await];
        for key in 0..7 {
            close(got[key], (heads[0][key] + heads[1][key]) / HEADS as f64, 1e-12);
        }
        let entropy: f64 = got.iter().filter(|weight| **weight > 0.0).map(|weight| -weight * weight.ln()).sum();
        close(mean["entropy"].as_f64().unwrap(), entropy, 1e-9);
        all.push(got);
    }

    let tile = asking.get(&format!("{trace}/tile?layer=0&head=mean&q0=2&q1=7&k0=0&k1=7")).await.floats();
    for (cells, query) in tile.chunks_exact(7).zip(2..) {
        for (key, cell) in cells.iter().enumerate() {
            let want = if key > query { -1.0 } else { all[query][key] };
            close(f64::from(*cell), want, 1e-6);
        }
    }
    let column = asking.get(&format!("{trace}/column?layer=0&head=mean&key=1")).await.json();
    assert_eq!(column["head"], "mean");
    for (query, weight) in numbers(&column["weights"]).into_iter().enumerate() {
        close(weight, all[query][1], 1e-12);
    }
}

#[tokio::test]
async fn what_no_column_and_no_mean_has_is_refused() {
    let asking = Asking::example();
    let trace = asking.trace(false).await;
    for (question, says) in [
        ("column?layer=0&head=0&key=10", "key 10 is out of range"),
        ("column?layer=0&head=1&key=0", "head 1 is out of range"),
        ("column?layer=1&head=mean&key=0", "layer 1 is out of range"),
        ("column?site=cross&layer=0&head=0&key=0", "no cross attention"),
        ("column?layer=0&head=0&query=0", "query"),
        ("column?layer=0&head=median&key=0", "a number or `mean`"),
        ("row?layer=0&head=MEAN&query=0", "a number or `mean`"),
        ("row?layer=0&head=mean&query=10", "query 10 is out of range"),
        ("cell?layer=0&head=mean&query=0&key=0", "head"),
        ("values?layer=0&head=mean", "head"),
        ("pooled?layer=0&head=median&q0=0&q1=1&k0=0&k1=1&rows=1&columns=1", "a number or `mean`"),
    ] {
        let error = asking.get(&format!("{trace}/{question}")).await.refused(400);
        assert!(error.contains(says), "{question}: {error}");
    }
}
