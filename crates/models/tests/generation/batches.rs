//! Several texts padded to one length: each is read as it is alone.

use attnscope_inspect::{At, Trace};
use attnscope_models::{Prompt, Reading, Side};

use crate::support::{Tiny, trace};

const DECODERS: [&str; 9] = [
    "gpt2-lm",
    "llama-tied",
    "llama-dynamic",
    "mistral-window",
    "gemma2-lm",
    "gemma3-lm",
    "phi3-longrope",
    "gpt_neox-serial",
    "smollm3-nope",
];
const ENCODERS: [&str; 5] = ["bert-base", "distilbert-base", "roberta-mlm", "albert-mlm", "modernbert-base"];

/// The largest difference of any weight between the tokens of a text that was padded and of the same alone. Weights of
/// padding, and of other things hidden, are 0.
fn furthest(padded: &Trace, real: &[bool], alone: &Trace) -> f64 {
    let places: Vec<usize> = (0..real.len()).filter(|at| real[*at]).collect();
    assert_eq!(places.len(), alone.tokens.len());
    let mut worst: f64 = 0.0;
    for site in &alone.sites {
        for head in 0..site.q_heads() {
            let at = At { site: site.kind, layer: site.layer, head };
            for (query, place) in places.iter().enumerate() {
                let (wide, want) = (padded.row(at, *place).unwrap(), alone.row(at, query).unwrap());
                let masks: Vec<_> = places.iter().map(|key| wide.mask[*key]).collect();
                assert_eq!(masks, want.mask);
                for (key, weight) in wide.weights.iter().enumerate() {
                    let want = places.binary_search(&key).map_or(0.0, |key| want.weights[key]);
                    let apart = (weight - want).abs();
                    worst = if apart.is_nan() { f64::INFINITY } else { worst.max(apart) };
                }
            }
        }
    }
    worst
}

#[test]
fn a_padded_text_is_read_as_it_is_alone() {
    for (models, sides) in [(&DECODERS[..], [Side::Left, Side::Right]), (&ENCODERS[..], [Side::Right, Side::Right])] {
        for name in models {
            let tiny = Tiny::load(name);
            let model = tiny.model();
            let ids = &tiny.cases["text"].ids;
            let prompts = [&ids[..20], &ids[4..9], &ids[2..15]].map(|ids| Prompt::Ids(ids.to_vec()));
            for side in sides {
                let readings = model.padded(&prompts, side).unwrap();
                for (prompt, reading) in prompts.iter().zip(readings) {
                    let Reading { ids, real: Some(real), .. } = &reading else { panic!("{reading:?}") };
                    assert_eq!((ids.len(), real.len()), (20, 20));
                    let first = if side == Side::Left { real.last() } else { real.first() };
                    assert_eq!(first, Some(&true));
                    let apart =
                        furthest(&trace(&model, &Prompt::Tokens(reading.clone())), real, &trace(&model, prompt));
                    assert!(apart <= 1e-5, "{name} {side:?}: {apart}");
                }
            }
        }
    }
}

/// What is known of each token is padded with it.
#[test]
fn pairs_of_texts_are_padded_too() {
    let tiny = Tiny::load("bert-base");
    let model = tiny.model();
    let pair = Prompt::Pair("the robot".to_owned(), "the cabinet is here".to_owned());
    let prompts = [pair.clone(), Prompt::Text("a robot walked to the old cabinet and to the keys".to_owned())];
    let readings = model.padded(&prompts, Side::Right).unwrap();
    assert_eq!(readings[0].ids.len(), readings[1].ids.len());
    let types = readings[0].types.as_ref().unwrap();
    let real = readings[0].real.as_ref().unwrap();
    assert!(real.contains(&false) && types.len() == real.len() && types.contains(&1));
    let apart = furthest(&trace(&model, &Prompt::Tokens(readings[0].clone())), real, &trace(&model, &pair));
    assert!(apart <= 1e-5, "{apart}");
    assert!(model.padded(&[], Side::Left).unwrap().is_empty());
    let refused = model.padded(&[Prompt::Ids(vec![1]), Prompt::Ids(vec![1 << 20])], Side::Left).unwrap_err();
    assert!(refused.to_string().contains("beyond the vocabulary"), "{refused}");
}
