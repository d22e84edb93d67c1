//! In which form a quantised model's weights are computed with, and what is said of it.

mod common;

use std::path::PathBuf;

use common::{attnscope, fails, model, refused, text};

const SMOLLM2: &str = "smollm2-135m-instruct.Q4_1.gguf";

#[test]
fn quantised_weights_are_computed_with_when_asked_for_and_the_error_is_said() {
    let Some(model) = model(SMOLLM2) else { return };
    let ask = ["generate", &model, "--prompt", "The capital of France is", "--max-tokens", "1", "--weights"];
    let said = |form| {
        let output = attnscope(&[&ask[..], &[form]].concat()).output().unwrap();
        let (out, err) = (text(output.stdout), text(output.stderr));
        assert_eq!(out, " Paris\n", "{form}: {err}");
        err
    };
    // Exactly, and nothing said but how fast, as without being asked.
    for form in ["f32", "auto"] {
        assert_eq!(said(form).lines().count(), 1);
    }
    let err = said("quantised");
    assert_eq!(err.lines().count(), 2, "{err}");
    for part in ["weights: Q4_1, Q8_0, computed as they are", "products are off f32 by ", "% at most"] {
        assert!(err.contains(part), "{err}");
    }
}

#[test]
fn weights_that_are_not_quantised_or_not_there_are_not_asked_for() {
    let tiny = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../models/tests/tiny/llama-base");
    let tiny = tiny.to_str().unwrap();
    fails(&["heads", tiny, "--weights", "quantised"], &["llama-base", "not quantised; leave out --weights"]);
    fails(&["heads", "example", "--weights", "quantised"], &["example", "no weights; leave out --weights"]);
    fails(&["view", "--no-open", "--weights", "f32"], &["--weights is said of a source; name one"]);
    refused(attnscope(&["heads", tiny, "--weights", "f16"]), 2, &["f16", "auto", "f32", "quantised"]);
}
