//! Weights and logits from a GGUF file: those of transformers where the format can say all that the folder says, those of
//! a folder with the same options where it cannot.

use attnscope_models::Model;
use candle_core::Tensor;
use serde_json::json;

use crate::checkpoints::{Tiny, apart, largest, logits, numbers, trace, weights};
use crate::writer::{gguf_of, open};

/// Those of which a GGUF file can say everything.
const WHOLE: [&str; 12] = [
    "gpt2-lm",
    "llama-base",
    "llama-linear",
    "llama-llama3",
    "qwen2-windows",
    "qwen3-plain",
    "qwen3-windows",
    "gemma2-lm",
    "gemma3-base",
    "gemma3-lm",
    "phi3-longrope",
    "phi3-window",
];

#[test]
fn weights_and_logits_are_those_of_transformers() {
    for name in WHOLE {
        let tiny = Tiny::named(name);
        let (model, expected) = (open(&gguf_of(&tiny.path)), tiny.expected());
        assert_eq!(model.family(), tiny.family);
        let heads = model.shape().q_heads;
        let got = weights(&trace(&model, &tiny.case.ids));
        let mut worst = 0.0f64;
        for layer in 0..model.shape().layers {
            let want = numbers(&expected[&format!("text.self.{layer}")]);
            for (head, want) in want.chunks(want.len() / heads).enumerate() {
                let want: Vec<f64> = want.iter().map(|x| f64::from(*x)).collect();
                let off = apart(&got[layer * heads + head], &want);
                assert!(off <= 5e-6, "{name} layer {layer} head {head}: off by {off}");
                worst = worst.max(off);
            }
        }
        let Some(want) = expected.get("text.logits").map(numbers) else { continue };
        let all = logits(&model, &tiny.case.ids);
        let positions = Tensor::new(&tiny.case.logit_positions[..], all.device()).unwrap();
        let got = numbers(&all.index_select(&positions, 0).unwrap());
        let off = apart(&got, &want) / f64::from(largest(&want));
        assert!(off <= 2e-5, "{name}: logits off by {off} of the largest");
        eprintln!("{name}: weights off by {worst:.1e}, logits by {off:.1e}");
    }
}

fn same(name: &str, gguf: &Model, folder: &Model) {
    let ids = Tiny::named(name).case.ids;
    for (got, want) in weights(&trace(gguf, &ids)).iter().zip(&weights(&trace(folder, &ids))) {
        let off = apart(got, want);
        assert!(off <= 5e-6, "{name}: off by {off}");
    }
    let want = numbers(&logits(folder, &ids));
    let off = apart(&numbers(&logits(gguf, &ids)), &want) / f64::from(largest(&want));
    assert!(off <= 2e-5, "{name}: logits off by {off} of the largest");
}

/// Llama with biases everywhere, as a folder says it; a GGUF file has the tensors alone.
#[test]
fn biases_are_read_and_turn_with_their_rows() {
    let folder = Tiny::named("llama-tied").copy().set("hidden_act", json!("silu")).write();
    let gguf = gguf_of(folder.path());
    let model = open(&gguf);
    same("llama-tied", &model, &Model::open(folder.path()).unwrap());
    // They are no small change.
    let mut without = gguf;
    without.tensors.retain(|name, _| !name.ends_with("attn_q.bias") && !name.ends_with("attn_k.bias"));
    without.tensors.retain(|name, _| !name.ends_with("attn_v.bias") && !name.ends_with("attn_output.bias"));
    let ids = Tiny::named("llama-tied").case.ids;
    let (a, b) = (weights(&trace(&open(&without), &ids)), weights(&trace(&model, &ids)));
    assert!(a.iter().zip(&b).any(|(a, b)| apart(a, b) > 1e-3));
}

#[test]
fn yarn_is_computed_as_in_a_folder() {
    let yarn = json!({
        "rope_type": "yarn", "rope_theta": 500.0, "factor": 4.0, "original_max_position_embeddings": 16,
        "beta_fast": 1.2, "beta_slow": 0.3
    });
    let folder = Tiny::named("llama-yarn").copy().set("rope_parameters", yarn).write();
    same("llama-yarn", &open(&gguf_of(folder.path())), &Model::open(folder.path()).unwrap());
}

/// Heads share a token's vector evenly where nothing else is said; Qwen3's folders mean another length.
#[test]
fn a_length_of_heads_that_is_not_said_is_their_share() {
    let mut gguf = gguf_of(&Tiny::named("llama-llama3").path);
    let want = open(&gguf);
    gguf.metadata.retain(|key, _| !key.ends_with("key_length") && !key.ends_with("value_length"));
    same("llama-llama3", &open(&gguf), &want);
    let mut gguf = gguf_of(&Tiny::named("qwen3-plain").path);
    gguf.metadata.retain(|key, _| !key.ends_with("key_length") && !key.ends_with("value_length"));
    let folder = tempfile::TempDir::new().unwrap();
    let Err(error) = Model::open(&gguf.write(folder.path())) else { panic!("opened") };
    assert!(error.to_string().contains("16 of 8 dimensions"), "{error}");
}

/// What the largest Gemma scales by differs, and no header says so.
#[test]
fn without_a_scale_gemma_takes_that_of_its_head() {
    for name in ["gemma2-lm", "gemma3-lm"] {
        let folder = Tiny::named(name).copy().set("query_pre_attn_scalar", json!(12)).write();
        let mut gguf = gguf_of(folder.path());
        gguf.metadata.retain(|key, _| !key.ends_with("attention.scale"));
        same(name, &open(&gguf), &Model::open(folder.path()).unwrap());
    }
}

#[test]
fn a_pattern_may_be_a_number() {
    use candle_core::quantized::gguf_file::Value;
    for (name, key, every) in [("gemma2-lm", "gemma2", 2), ("gemma3-lm", "gemma3", 2)] {
        let tiny = Tiny::named(name);
        let mut gguf = gguf_of(&tiny.path);
        gguf.set(&format!("{key}.attention.sliding_window_pattern"), Value::U32(every));
        same(name, &open(&gguf), &tiny.open());
        // Gemma 2 has such a pattern where nothing is said, Gemma 3 another.
        gguf.metadata.retain(|key, _| !key.ends_with("sliding_window_pattern"));
        let ids = &tiny.case.ids;
        let (said, unsaid) = (weights(&trace(&tiny.open(), ids)), weights(&trace(&open(&gguf), ids)));
        let moved = said.iter().zip(&unsaid).any(|(a, b)| apart(a, b) > 1e-3);
        assert_eq!(moved, name == "gemma3-lm", "{name}");
    }
}

/// The order of rows, the 1 in norms, the way round of matrices: none of them is without effect.
#[test]
fn how_a_file_stores_its_numbers_matters() {
    for (name, tensor) in [("gemma2-lm", "blk.0.attn_norm.weight"), ("gpt2-lm", "blk.0.attn_output.weight")] {
        let tiny = Tiny::named(name);
        let mut gguf = gguf_of(&tiny.path);
        let stored = gguf.tensors.get_mut(tensor).unwrap();
        *stored = match stored.rank() {
            1 => (&*stored - 1.0).unwrap(),
            _ => stored.t().unwrap().contiguous().unwrap(),
        };
        let ids = &tiny.case.ids;
        let (right, wrong) = (weights(&trace(&tiny.open(), ids)), weights(&trace(&open(&gguf), ids)));
        assert!(right.iter().zip(&wrong).any(|(a, b)| apart(a, b) > 1e-3), "{name}");
    }
}
