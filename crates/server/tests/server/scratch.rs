//! The worked example, run with other numbers.

use serde_json::{Value, json};

use crate::support::{Asking, close, matrix, numbers};
use crate::worked::{Way, follow};

async fn run(asking: &Asking, change: Value) -> Value {
    asking.post("/api/scratch/example", &change.to_string()).await.json()
}

async fn built_in(asking: &Asking, causal: bool) -> Value {
    asking.get(&format!("{}/worked", asking.trace(causal).await)).await.json()
}

/// One matrix of the example with one number changed.
fn changed(worked: &Value, name: &str, row: usize, column: usize, to: f64) -> Value {
    let mut matrix = worked[name].clone();
    matrix[row][column] = json!(to);
    json!({ name: matrix })
}

#[tokio::test]
async fn nothing_changed_is_the_built_in_example() {
    let asking = Asking::example();
    for causal in [false, true] {
        let mut same = run(&asking, json!({ "causal": causal })).await;
        assert_eq!(same["same_weights_as_built_in"], true);
        same.as_object_mut().unwrap().remove("same_weights_as_built_in");
        assert_eq!(same, built_in(&asking, causal).await);
    }
    let spelled_out = json!({ "causal": false, "scale": null, "extra_score": null, "x": null, "w_q": null });
    assert_eq!(run(&asking, spelled_out).await["same_weights_as_built_in"], true);
}

#[tokio::test]
async fn keys_decide_who_is_heard_and_values_what_is_said() {
    let asking = Asking::example();
    for causal in [false, true] {
        let worked = built_in(&asking, causal).await;
        for name in ["w_v", "w_o"] {
            let mut change = changed(&worked, name, 0, 0, 7.5);
            change["causal"] = json!(causal);
            let said = run(&asking, change).await;
            follow(&said, Way { causal, ..Way::default() });
            assert_eq!((&said["weights"], &said["same_weights_as_built_in"]), (&worked["weights"], &json!(true)));
            assert_ne!(said["y"], worked["y"], "{name}");
            assert_eq!(said["z"] == worked["z"], name == "w_o", "values make z, and W_O comes after it");
        }
        for name in ["x", "w_q", "w_k"] {
            let mut change = changed(&worked, name, 1, 1, 7.5);
            change["causal"] = json!(causal);
            let heard = run(&asking, change).await;
            follow(&heard, Way { causal, ..Way::default() });
            assert_ne!(heard["weights"], worked["weights"], "{name}");
            assert_eq!(heard["same_weights_as_built_in"], false);
        }
    }
}

#[tokio::test]
async fn one_key_or_one_value_can_be_another() {
    let asking = Asking::example();
    let (token, dim) = (1, 1);
    for causal in [false, true] {
        let worked = built_in(&asking, causal).await;
        let put = async |name: &str| {
            let mut change = changed(&worked, name, token, dim, -1.75);
            change["causal"] = json!(causal);
            run(&asking, change).await
        };
        let said = put("v").await;
        assert_eq!((&said["weights"], &said["same_weights_as_built_in"]), (&worked["weights"], &json!(true)));
        assert_eq!(said["v"][token][dim], -1.75);
        for (i, (now, was)) in matrix(&said["z"]).iter().zip(&matrix(&worked["z"])).enumerate() {
            let weight = worked["weights"][i][token].as_f64().unwrap();
            let moved = weight * (-1.75 - worked["v"][token][dim].as_f64().unwrap());
            close(now[dim] - was[dim], moved, 1e-6);
            assert_eq!((now[0], now[2]), (was[0], was[2]), "the other entries of row {i} stay");
        }
        let heard = put("k").await;
        assert_eq!((&heard["v"], &heard["same_weights_as_built_in"]), (&worked["v"], &json!(false)));
        let (now, was) = (matrix(&heard["scores"]), matrix(&worked["scores"]));
        let moved = |j: usize| (0..10).any(|i| now[i][j] != was[i][j]);
        assert_eq!((0..10).filter(|j| moved(*j)).collect::<Vec<_>>(), [token], "only that key's column");
    }
    // The built-in keys and values, put in as if they were new, change no bit.
    let worked = built_in(&asking, false).await;
    let same = run(&asking, json!({ "k": worked["k"], "v": worked["v"] })).await;
    assert_eq!((&same["z"], &same["weights"]), (&worked["z"], &worked["weights"]));
}

#[tokio::test]
async fn what_is_knocked_out_is_hidden_and_the_others_share_its_weight() {
    let asking = Asking::example();
    for (causal, query, key) in [(false, 6, 1), (true, 6, 1), (true, 9, 9), (true, 3, 7)] {
        let was = built_in(&asking, causal).await;
        let edge = json!({ "query": query, "key": key });
        let now = run(&asking, json!({ "causal": causal, "knock_out": edge })).await;
        assert_eq!((&now["m"][query][key], &now["weights"][query][key]), (&Value::Null, &json!(0.0)));
        let (before, after) = (matrix(&was["weights"]), matrix(&now["weights"]));
        let left = 1.0 - before[query][key];
        for (i, row) in after.iter().enumerate() {
            close(row.iter().sum(), 1.0, 1e-6);
            if i != query {
                assert_eq!(row, &before[i], "row {i} is as it was, to the last bit");
                assert_eq!(now["z"][i], was["z"][i]);
            }
        }
        for j in (0..10).filter(|j| *j != key) {
            close(after[query][j], before[query][j] / left, 1e-6);
        }
        let (z, v) = (numbers(&now["z"][query]), matrix(&now["v"]));
        for (dim, z) in z.iter().enumerate() {
            close(*z, (0..10).map(|j| after[query][j] * v[j][dim]).sum(), 1e-6);
        }
        for (y, (x, zo)) in
            numbers(&now["y"][query]).iter().zip(numbers(&now["x"][query]).iter().zip(numbers(&now["zo"][query])))
        {
            close(*y, x + zo, 1e-6);
        }
        assert_eq!(now["scores"], was["scores"], "what is hidden keeps its score");
    }
}

#[tokio::test]
async fn a_row_without_a_key_left_says_nothing() {
    let change = json!({ "causal": true, "knock_out": { "query": 0, "key": 0 } });
    let now = run(&Asking::example(), change).await;
    assert!(numbers(&now["weights"][0]).iter().chain(&numbers(&now["z"][0])).all(|x| *x == 0.0));
    assert_eq!(numbers(&now["y"][0]), numbers(&now["x"][0]), "the token leaves as it came");
}

#[tokio::test]
async fn the_scale_is_what_it_is_said_to_be() {
    let asking = Asking::example();
    for scale in [1.0, 0.25, 0.0, -0.5] {
        let run = run(&asking, json!({ "scale": scale })).await;
        follow(&run, Way { scale, ..Way::default() });
        assert_eq!(run["same_weights_as_built_in"], false);
    }
    assert_eq!(run(&asking, json!({ "scale": 0.5 })).await["same_weights_as_built_in"], true);
}

#[tokio::test]
async fn one_score_is_raised_and_the_others_pay() {
    let asking = Asking::example();
    let (query, key) = (6, 4);
    for (causal, scale, add) in [(false, None, 0.5), (true, None, -1.25), (false, Some(1.0), 3.0)] {
        let before = run(&asking, json!({ "causal": causal, "scale": scale })).await;
        let extra = json!({ "query": query, "key": key, "add": add });
        let after = run(&asking, json!({ "causal": causal, "scale": scale, "extra_score": extra })).await;
        follow(&after, Way { causal, scale: scale.unwrap_or(0.5), extra: Some((query, key, add)) });
        assert_eq!(after["same_weights_as_built_in"], false);
        let (was, is) = (matrix(&before["scores"]), matrix(&after["scores"]));
        for (i, (was, is)) in was.iter().zip(&is).enumerate() {
            for (j, (was, is)) in was.iter().zip(is).enumerate() {
                if (i, j) == (query, key) {
                    close(is - was, add, 1e-6);
                } else {
                    assert_eq!(is, was, "({i}, {j}) is as it was, to the last bit");
                }
            }
        }
        for (i, (was, is)) in matrix(&before["weights"]).iter().zip(&matrix(&after["weights"])).enumerate() {
            assert_eq!(was == is, i != query, "row {i}");
            close(is.iter().sum(), 1.0, 1e-6);
        }
        let (was, is) = (numbers(&before["weights"][query]), numbers(&after["weights"][query]));
        let paid = (0..10).filter(|j| *j != key && was[*j] > 0.0).all(|j| (is[j] < was[j]) == (add > 0.0));
        assert!(paid, "{was:?} {is:?}");
        assert_eq!(before["v"], after["v"]);
    }
}

#[tokio::test]
async fn large_scores_are_exact_and_beyond_a_million_they_are_refused() {
    let asking = Asking::example();
    let large = run(&asking, json!({ "scale": 1e5 })).await;
    for row in matrix(&large["weights"]) {
        close(row.iter().sum(), 1.0, 1e-6);
    }
    // An f64 near 1e30 cannot tell a row of ten keys from a row of one.
    let worked = built_in(&asking, false).await;
    let same = |name: &str| {
        let rows = matrix(&worked[name]);
        json!(rows.iter().map(|row| vec![1e6; row.len()]).collect::<Vec<_>>())
    };
    for change in [
        json!({ "x": same("x"), "w_q": same("w_q"), "w_k": same("w_k") }),
        json!({ "scale": 1e6 }),
        json!({ "x": same("x"), "causal": true }),
    ] {
        let error = asking.post("/api/scratch/example", &change.to_string()).await.refused(400);
        assert!(error.contains("scores beyond 1e6"), "{error}");
    }
    // What is not part of a score may be as large as may be put in.
    let change = json!({ "w_v": same("w_v"), "w_o": same("w_o") });
    let said = run(&asking, change).await;
    assert!(matrix(&said["y"]).iter().flatten().all(|x| x.is_finite()));
    assert_eq!(said["same_weights_as_built_in"], true);
}

#[tokio::test]
async fn what_is_no_change_of_the_example_is_refused() {
    let asking = Asking::example();
    let worked = built_in(&asking, false).await;
    let mut ragged = worked["w_k"].clone();
    ragged[1] = json!([1.0]);
    let mut longer = worked["x"].clone();
    longer.as_array_mut().unwrap().push(worked["x"][0].clone());
    let extra = |query: i64, key: i64, add: f64| json!({ "extra_score": { "query": query, "key": key, "add": add } });
    for (change, says) in [
        (json!({ "w_q": [] }), "w_q must have"),
        (json!({ "w_q": [[]] }), "w_q must have"),
        (json!({ "w_k": ragged }), "w_k must have"),
        (json!({ "x": longer }), "x must have 10 rows of"),
        (json!({ "w_v": worked["w_o"] }), "w_v must have"),
        (json!({ "w_v": [["a"]] }), "w_v"),
        (json!({ "w_v": [[null]] }), "w_v"),
        (changed(&worked, "w_o", 0, 0, 1.1e6), "the numbers of w_o must lie between"),
        (changed(&worked, "x", 9, 0, -1e300), "the numbers of x must lie between"),
        (json!({ "k": worked["v"] }), "k must have 10 rows of 4"),
        (json!({ "v": worked["k"] }), "v must have 10 rows of 3"),
        (changed(&worked, "k", 0, 0, 1.1e6), "the numbers of k must lie between"),
        (json!({ "knock_out": { "query": 10, "key": 0 } }), "tokens 0 to 9"),
        (json!({ "knock_out": { "query": 0 } }), "key"),
        (
            json!({ "knock_out": { "query": 0, "key": 0 }, "extra_score": { "query": 0, "key": 0, "add": 1 } }),
            "at once",
        ),
        (json!({ "scale": 2e6 }), "scale must lie between"),
        (json!({ "scale": 1e39 }), "scale must lie between"),
        (json!({ "scale": "1" }), "scale"),
        (extra(10, 0, 1.0), "tokens 0 to 9"),
        (extra(0, 10, 1.0), "tokens 0 to 9"),
        (extra(-1, 0, 1.0), "query"),
        (extra(0, 0, 1e39), "between -1e6 and 1e6"),
        (extra(0, 0, -2e6), "between -1e6 and 1e6"),
        (json!({ "extra_score": { "query": 0, "key": 0 } }), "add"),
        (json!({ "extra_score": { "query": 0, "key": 0, "add": 1, "by": 2 } }), "by"),
        (json!({ "scale": 0, "extra_score": { "query": 0, "key": 0, "add": 1 } }), "larger scale"),
        (json!({ "w_x": [] }), "w_x"),
        (json!({ "causal": "yes" }), "causal"),
    ] {
        let error = asking.post("/api/scratch/example", &change.to_string()).await.refused(400);
        assert!(error.contains(says), "{change}: {error}");
    }
    // JSON has neither of these.
    for body in [r#"{"scale":NaN}"#, r#"{"scale":1e400}"#, r#"{"x":[[Infinity]]}"#, r#"{"w_q":[[1e999]]}"#, "7", ""] {
        asking.post("/api/scratch/example", body).await.refused(400);
    }
}
