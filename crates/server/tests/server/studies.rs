//! The lesson's sums on numbers of its own: the softmax's gradient, the division by sqrt(d_k), the bill.

use attnscope_kernel::{Isa, working_bytes};
use serde_json::{Value, json};

use crate::support::{Asking, close, matrix, numbers};

fn softmax(scores: &[f64]) -> Vec<f64> {
    let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let exp: Vec<f64> = scores.iter().map(|score| (score - largest).exp()).collect();
    let sum: f64 = exp.iter().sum();
    exp.into_iter().map(|x| x / sum).collect()
}

async fn gradient(asking: &Asking, scores: &[f64]) -> Value {
    asking.post("/api/scratch/gradient", &json!({ "scores": scores }).to_string()).await.json()
}

#[tokio::test]
async fn the_gradient_is_what_small_steps_show() {
    let asking = Asking::example();
    for scores in [vec![0.5], vec![1.9, 0.5, -1.0, 0.25], vec![3.0; 64], vec![8.0, -8.0, 7.5]] {
        let answer = gradient(&asking, &scores).await;
        let (weights, jacobian) = (numbers(&answer["weights"]), matrix(&answer["jacobian"]));
        let (want, len) = (softmax(&scores), scores.len());
        assert_eq!((weights.len(), jacobian.len()), (len, len));
        for j in 0..len {
            close(weights[j], want[j], 1e-6);
            close(answer["log_weights"][j].as_f64().unwrap(), want[j].ln(), 1e-6);
            close(jacobian[j].iter().sum(), 0.0, 1e-6);
        }
        let step = 1e-5;
        for k in 0..len {
            let moved = |by: f64| {
                let mut scores = scores.clone();
                scores[k] += by;
                softmax(&scores)
            };
            let (up, down) = (moved(step), moved(-step));
            for j in 0..len {
                close(jacobian[j][k], (up[j] - down[j]) / (2.0 * step), 1e-6);
            }
        }
        let largest = jacobian.iter().flatten().fold(0.0, |largest: f64, x| largest.max(x.abs()));
        assert_eq!(answer["largest"].as_f64(), Some(largest));
    }
}

#[tokio::test]
async fn a_weight_that_rounds_to_nothing_still_has_a_logarithm() {
    let asking = Asking::example();
    let answer = gradient(&asking, &[1000.0, 0.0, -1000.0]).await;
    assert_eq!(numbers(&answer["weights"]), [1.0, 0.0, 0.0]);
    for (log, want) in numbers(&answer["log_weights"]).into_iter().zip([0.0, -1000.0, -2000.0]) {
        // A score is an f32.
        close(log, want, 1e-7 * want.abs());
    }
    assert_eq!(answer["largest"], 0.0, "a saturated softmax hears nothing");
    numbers(&gradient(&asking, &[1e6, -1e6]).await["log_weights"]);
}

#[tokio::test]
async fn scores_that_are_none_are_refused() {
    let asking = Asking::example();
    for body in [
        json!({ "scores": [] }),
        json!({ "scores": vec![0.0; 65] }),
        json!({ "scores": [1.1e6] }),
        json!({ "scores": [1e39] }),
        json!({ "scores": [null] }),
        json!({ "scores": ["1"] }),
        json!({ "scores": 1 }),
        json!({ "scores": [1], "more": 1 }),
        json!({}),
    ] {
        asking.post("/api/scratch/gradient", &body.to_string()).await.refused(400);
    }
    asking.post("/api/scratch/gradient", r#"{"scores":[1e400]}"#).await.refused(400);
    asking.get("/api/scratch/gradient").await.refused(405);
}

#[tokio::test]
async fn the_variance_of_scores_follows_d_k_until_they_are_scaled() {
    let asking = Asking::example();
    let (samples, keys) = (2000.0, 16.0);
    let path = "/api/scratch/scale?seed=1&samples=2000&keys=16";
    let answer = asking.get(path).await.json();
    assert_eq!((&answer["seed"], &answer["samples"], &answer["keys"]), (&json!(1), &json!(2000), &json!(16)));
    let points = answer["points"].as_array().unwrap();
    let of = |name: &str| -> Vec<f64> { points.iter().map(|point| point[name].as_f64().unwrap()).collect() };
    assert_eq!(of("d_k"), (0..=10).map(|power| f64::from(1 << power)).collect::<Vec<_>>());
    for point in points {
        let number = |name: &str| point[name].as_f64().unwrap();
        let d_k = number("d_k");
        // q . k given q has variance |q|^2, which itself has mean d_k and variance 2 d_k; the keys of a row share q.
        let relative = ((2.0 / d_k + (2.0 + 4.0 / d_k) / keys) / samples).sqrt();
        close(number("variance_raw") / d_k, 1.0, 5.0 * relative);
        close(number("variance_scaled"), number("variance_raw") / d_k, 1e-4);
        for name in ["largest_raw", "largest_scaled"] {
            assert!((1.0 / keys..=1.0).contains(&number(name)), "{name}");
        }
        for name in ["row_raw", "row_scaled"] {
            let (scores, weights) = (numbers(&point[name]["scores"]), numbers(&point[name]["weights"]));
            assert_eq!((scores.len(), weights.len()), (16, 16));
            let sum: f64 = scores.iter().map(|score| score.exp()).sum();
            for (score, weight) in scores.iter().zip(&weights) {
                close(*weight, score.exp() / sum, 1e-5);
            }
            let slope = weights.iter().map(|w| w * (1.0 - w)).fold(0.0, f64::max);
            close(point[name]["slope"].as_f64().unwrap(), slope, 1e-9);
        }
        for (raw, scaled) in numbers(&point["row_raw"]["scores"]).iter().zip(numbers(&point["row_scaled"]["scores"])) {
            close(raw / d_k.sqrt(), scaled, 1e-4);
        }
    }
    let (raw, scaled) = (of("largest_raw"), of("largest_scaled"));
    assert!(raw.windows(2).all(|two| two[0] < two[1]), "longer vectors, sharper rows: {raw:?}");
    assert!(raw[10] > 0.9 && scaled[1..].iter().all(|largest| (0.2..0.4).contains(largest)), "{raw:?} {scaled:?}");
    let (raw, scaled) = (of("gradient_raw"), of("gradient_scaled"));
    assert!(raw[10] < raw[4] && raw[10] < scaled[10] / 2.0, "the gradient vanishes: {raw:?} {scaled:?}");
    assert!(scaled[1..].iter().all(|norm| (norm / scaled[10] - 1.0).abs() < 0.2), "{scaled:?}");

    assert_eq!(asking.get(path).await.json(), answer, "the same seed draws the same");
    let other = asking.get("/api/scratch/scale?seed=2&samples=2000&keys=16").await.json();
    assert_ne!(other["points"], answer["points"]);
    let default = asking.get("/api/scratch/scale").await.json();
    assert_eq!((&default["seed"], &default["samples"], &default["keys"]), (&json!(0), &json!(400), &json!(16)));
}

#[tokio::test]
async fn rows_of_one_key_have_no_choice() {
    let answer = Asking::example().get("/api/scratch/scale?seed=18446744073709551615&samples=1&keys=1").await.json();
    for point in answer["points"].as_array().unwrap() {
        assert_eq!((&point["largest_raw"], &point["gradient_raw"]), (&json!(1.0), &json!(0.0)));
    }
}

#[tokio::test]
async fn draws_have_limits() {
    let asking = Asking::example();
    for query in ["samples=0", "samples=2001", "keys=0", "keys=65", "seed=-1", "seed=x", "d_k=4"] {
        asking.get(&format!("/api/scratch/scale?{query}")).await.refused(400);
    }
}

#[tokio::test]
async fn the_bill_says_what_must_be_held() {
    let asking = Asking::example();
    let mut ours = Vec::new();
    for n in [256, 512] {
        let bill = asking.get(&format!("/api/scratch/bill?n={n}")).await.json();
        assert_eq!((&bill["n"], &bill["head_dim"], &bill["window_left"]), (&json!(n), &json!(64), &json!(127)));
        assert_eq!(bill["naive"]["bytes"], n * n * 4, "every weight in f32");
        let bytes = bill["ours"]["bytes"].as_u64().unwrap() as usize;
        let threads = bytes - n * 8 - n * (64 + 64) * 4;
        let thread = working_bytes(1, (1, 0), (64, 64), Isa::detect());
        assert_eq!(threads % thread, 0, "an f64 a row, a copy of the head, and what each thread works on");
        assert_eq!(bill["window"]["bytes"], bill["ours"]["bytes"]);
        ours.push(bytes);
        for way in ["naive", "ours", "window"] {
            assert!(bill[way]["ms"].as_f64().is_some_and(|ms| ms > 0.0), "{way}");
        }
        assert!(bill["largest_difference"].as_f64().is_some_and(|difference| (0.0..1e-5).contains(&difference)));
        for error in ["row_sum_error", "output_error"] {
            assert!(bill["proof"][error].as_f64().is_some_and(|error| (0.0..1e-5).contains(&error)), "{error}");
        }
    }
    assert_eq!(ours[1] - ours[0], 256 * (8 + (64 + 64) * 4), "it grows with n, not with n squared");
}

#[tokio::test]
async fn a_bill_has_limits() {
    let asking = Asking::example();
    let bill = asking.get("/api/scratch/bill?n=4097").await.json();
    assert_eq!((&bill["naive"], &bill["largest_difference"]), (&json!(null), &json!(null)), "too large on purpose");
    assert!(bill["proof"]["output_error"].as_f64().is_some_and(|error| error < 1e-5));
    assert_eq!(asking.get("/api/scratch/bill?n=1").await.json()["largest_difference"], 0.0);
    for query in ["", "?n=0", "?n=16385", "?n=-1", "?n=1e3", "?n=64&m=1"] {
        asking.get(&format!("/api/scratch/bill{query}")).await.refused(400);
    }
}
