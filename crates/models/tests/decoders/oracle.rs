//! Weights and logits as transformers has them.

use attnscope_inspect::At;
use attnscope_models::families::FAMILIES;
use candle_core::Tensor;

use crate::checkpoints::{Tiny, apart, largest, logits, numbers, trace, weights};

#[test]
fn weights_are_those_of_transformers() {
    for tiny in Tiny::all() {
        let (model, expected) = (tiny.open(), tiny.expected());
        assert_eq!(model.family(), tiny.family);
        let trace = trace(&model, &tiny.case.ids);
        let got = weights(&trace);
        let (layers, heads) = (model.shape().layers, model.shape().q_heads);
        assert_eq!(got.len(), layers * heads);
        let mut worst = 0.0f64;
        for layer in 0..layers {
            let want = numbers(&expected[&format!("text.self.{layer}")]);
            for (head, want) in want.chunks(want.len() / heads).enumerate() {
                let want: Vec<f64> = want.iter().map(|x| f64::from(*x)).collect();
                let off = apart(&got[layer * heads + head], &want);
                assert!(off <= 5e-6, "{} layer {layer} head {head}: off by {off}", tiny.name);
                worst = worst.max(off);
            }
        }
        eprintln!("{}: weights off by {worst:.1e}", tiny.name);
    }
}

#[test]
fn logits_are_those_of_transformers() {
    let mut seen = 0;
    for tiny in Tiny::all() {
        let expected = tiny.expected();
        let Some(want) = expected.get("text.logits").map(numbers) else { continue };
        let model = tiny.open();
        let all = logits(&model, &tiny.case.ids);
        let positions = Tensor::new(&tiny.case.logit_positions[..], all.device()).unwrap();
        let got = numbers(&all.index_select(&positions, 0).unwrap());
        let off = apart(&got, &want) / f64::from(largest(&want));
        eprintln!("{}: logits off by {off:.1e} of the largest", tiny.name);
        assert!(off <= 2e-5, "{}: off by {off} of the largest", tiny.name);
        seen += 1;
    }
    assert!(seen >= 16, "{seen}");
}

/// The maps would not show an option that leaves every head flat.
#[test]
fn every_head_has_a_row_that_knows_what_it_wants() {
    // A row that sees next to nothing knows it anyway.
    const FEW: usize = 4;
    for tiny in Tiny::all() {
        let (expected, len) = (tiny.expected(), tiny.case.ids.len());
        let maps = expected.iter().filter(|(name, _)| name.starts_with("text.self."));
        for (name, map) in maps {
            for (head, map) in numbers(map).chunks(len * len).enumerate() {
                let peak = largest(&map[FEW * len..]);
                assert!(peak > 0.5, "{} {name} head {head}: {peak}", tiny.name);
            }
        }
    }
}

#[test]
fn every_head_proves_itself() {
    for tiny in Tiny::all() {
        for head in trace(&tiny.open(), &tiny.case.ids).heads(None).unwrap() {
            assert!(head.proof.row_sum_error < 1e-5 && head.proof.output_error < 1e-5, "{} {head:?}", tiny.name);
        }
    }
}

#[test]
fn a_text_is_cut_as_transformers_cuts_it() {
    for tiny in Tiny::all() {
        assert_eq!(tiny.open().tokenizer().encode(&tiny.case.text).unwrap(), tiny.case.ids, "{}", tiny.name);
    }
}

/// A key outside of a window is said to be, and takes no weight; what is inside is seen.
#[test]
fn windows_hide_what_lies_outside_and_say_so() {
    for (name, layer, width) in [
        ("mistral-window", 0, Some(7)),
        ("qwen2-windows", 0, None),
        ("qwen2-windows", 1, Some(6)),
        ("qwen3-windows", 1, None),
        ("qwen3-windows", 2, Some(9)),
        ("smollm3-nope", 0, None),
        ("smollm3-nope", 1, Some(8)),
        ("phi3-window", 1, Some(9)),
        ("gemma2-lm", 0, Some(7)),
        ("gemma2-lm", 1, None),
        ("gemma3-lm", 1, None),
        ("gemma3-base", 0, Some(7)),
    ] {
        let tiny = Tiny::named(name);
        let trace = trace(&tiny.open(), &tiny.case.ids);
        let (at, last) = (At { layer, ..At::default() }, tiny.case.ids.len() - 1);
        let row = trace.row(at, last).unwrap();
        assert_eq!(row.visible, width.unwrap_or(last + 1), "{name} layer {layer}");
        if let Some(width) = width {
            let outside = trace.cell(at, last, last - width).unwrap();
            assert_eq!(serde_json::to_value(&outside).unwrap()["mask"], "outside_window", "{name}");
            assert_eq!(outside.weight, 0.0);
            assert!(trace.cell(at, last, last + 1 - width).unwrap().weight > 0.0);
        }
    }
}

/// What the table of families says they were proven on is what is tested here.
#[test]
fn the_table_names_every_checkpoint() {
    for tiny in Tiny::all() {
        let entry = FAMILIES.iter().find(|entry| entry.family == tiny.family).unwrap();
        assert!(entry.causal);
        let variant = tiny.name.split_once('-').unwrap().1;
        assert!(entry.proven_on.contains(&&*format!("tiny/{}", tiny.name)), "{} {variant}", tiny.family);
    }
    for entry in FAMILIES {
        for name in entry.proven_on.iter().filter_map(|name| name.strip_prefix("tiny/")) {
            let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tiny").join(name);
            assert!(folder.join("expected.safetensors").exists(), "{name}");
        }
    }
}
