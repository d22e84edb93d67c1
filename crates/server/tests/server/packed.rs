//! Rows and columns whose numbers come as bytes.

use serde_json::{Value, json};

use crate::support::{Answer, Asking, close, numbers};

/// What stands before the weights, and the weights.
fn unpacked(answer: &Answer) -> (Value, Vec<f64>) {
    assert_eq!(answer.status, 200);
    assert_eq!(answer.headers["content-type"], "application/octet-stream");
    let size = |at: usize| u32::from_le_bytes(answer.body[at..at + 4].try_into().expect("4 bytes")) as usize;
    let (length, count) = (size(0), size(4));
    assert_eq!(length % 8, 0, "the weights begin at a multiple of 8");
    let (json, bytes) = answer.body[8..].split_at(length);
    assert_eq!(bytes.len(), 8 * count);
    let weights = bytes.chunks_exact(8).map(|one| f64::from_le_bytes(one.try_into().expect("8 bytes"))).collect();
    (serde_json::from_slice(json).expect("JSON"), weights)
}

#[tokio::test]
async fn a_packed_answer_says_what_the_other_says() {
    let asking = Asking::example();
    for causal in [false, true] {
        let trace = asking.trace(causal).await;
        for question in ["row?layer=0&head=0&query=6", "row?layer=0&head=mean&query=3", "column?layer=0&head=0&key=4"] {
            let plain = asking.get(&format!("{trace}/{question}")).await.json();
            let same = asking.get(&format!("{trace}/{question}&packed=false")).await.json();
            assert_eq!(plain, same);
            let (mut about, weights) = unpacked(&asking.get(&format!("{trace}/{question}&packed=true")).await);
            let hidden = plain["mask"].as_array().expect("a mask");
            for ((got, want), hidden) in weights.iter().zip(numbers(&plain["weights"])).zip(hidden) {
                // What reads the JSON here may be wrong in the last bit; the bytes are not.
                close(*got, if *hidden == json!("future") { -1.0 } else { want }, 1e-15);
            }
            assert_eq!(weights.len(), hidden.len());
            for list in ["weights", "mask", "scores"] {
                if let Some(value) = plain.get(list) {
                    about[list] = value.clone();
                }
            }
            assert_eq!(about, plain, "{question}");
        }
    }
}

#[tokio::test]
async fn a_packed_answer_is_refused_like_the_other() {
    let asking = Asking::example();
    let trace = asking.trace(false).await;
    for (question, says) in [
        ("row?layer=0&head=0&query=10&packed=true", "query 10 is out of range"),
        ("column?layer=0&head=0&key=10&packed=true", "key 10 is out of range"),
        ("row?layer=0&head=0&query=1&packed=maybe", "packed"),
    ] {
        let error = asking.get(&format!("{trace}/{question}")).await.refused(400);
        assert!(error.contains(says), "{question}: {error}");
    }
}
