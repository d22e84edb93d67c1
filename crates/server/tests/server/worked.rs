use attnscope_inspect::example::Example;
use serde_json::{Value, json};

use crate::support::{Asking, close, matrix};

fn product(a: &[Vec<f64>], b: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let entry = |row: &[f64], column: usize| row.iter().zip(b).map(|(a, b)| a * b[column]).sum();
    a.iter().map(|row| (0..b[0].len()).map(|column| entry(row, column)).collect()).collect()
}

#[track_caller]
fn all_close(got: &[Vec<f64>], want: &[Vec<f64>]) {
    assert_eq!((got.len(), got[0].len()), (want.len(), want[0].len()));
    for (got, want) in got.iter().flatten().zip(want.iter().flatten()) {
        close(*got, *want, 1e-6);
    }
}

/// How the example was run.
#[derive(Clone, Copy)]
pub(crate) struct Way {
    pub(crate) causal: bool,
    pub(crate) scale: f64,
    /// (query, key, what is added).
    pub(crate) extra: Option<(usize, usize, f64)>,
}

impl Default for Way {
    fn default() -> Self {
        Self { causal: false, scale: 0.5, extra: None }
    }
}

/// Each matrix is what the ones before it make, worked out again here in f64.
#[track_caller]
pub(crate) fn follow(worked: &Value, Way { causal, scale, extra }: Way) {
    let of = |name: &str| matrix(&worked[name]);
    let (q, k, v) = (of("q"), of("k"), of("v"));
    for (made, by) in [(&q, "w_q"), (&k, "w_k"), (&v, "w_v")] {
        all_close(made, &product(&of("x"), &of(by)));
    }
    let k_across: Vec<Vec<f64>> = (0..4).map(|dim| k.iter().map(|k| k[dim]).collect()).collect();
    let mut scores: Vec<Vec<f64>> =
        product(&q, &k_across).into_iter().map(|row| row.into_iter().map(|x| x * scale).collect()).collect();
    if let Some((query, key, add)) = extra {
        scores[query][key] += add;
    }
    all_close(&of("scores"), &scores);
    let softmax = |hidden: &dyn Fn(usize, usize) -> bool| -> Vec<Vec<f64>> {
        let row = |i: usize| {
            let exp: Vec<f64> = (0..10).map(|j| if hidden(i, j) { 0.0 } else { scores[i][j].exp() }).collect();
            let sum: f64 = exp.iter().sum();
            exp.into_iter().map(|x| x / sum).collect()
        };
        (0..10).map(row).collect()
    };
    let weights = softmax(&|i, j| causal && j > i);
    all_close(&of("weights"), &weights);
    all_close(&of("weights_unmasked"), &softmax(&|_, _| false));
    all_close(&of("z"), &product(&weights, &v));
    all_close(&of("zo"), &product(&of("z"), &of("w_o")));
    let sum = of("x")
        .iter()
        .zip(of("zo"))
        .map(|(x, zo)| x.iter().zip(zo).map(|(x, zo)| x + zo).collect())
        .collect::<Vec<_>>();
    all_close(&of("y"), &sum);
    for (i, row) in worked["m"].as_array().unwrap().iter().enumerate() {
        for (j, m) in row.as_array().unwrap().iter().enumerate() {
            assert_eq!(*m, if causal && j > i { Value::Null } else { json!(0.0) });
        }
    }
}

#[tokio::test]
async fn every_matrix_follows_from_those_before() {
    let asking = Asking::example();
    for causal in [false, true] {
        let worked = asking.get(&format!("{}/worked", asking.trace(causal).await)).await.json();
        follow(&worked, Way { causal, ..Way::default() });
        let example = Example::load();
        assert_eq!(worked["dims"], json!(example.dims));
        assert_eq!(worked["dim_notes"], json!(example.dim_notes));
    }
}
