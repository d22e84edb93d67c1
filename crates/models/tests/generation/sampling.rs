//! What is applied to scores, against numbers that transformers' processors (5.x) give, and how tokens are drawn.

use std::collections::HashMap;

use attnscope_models::{Prompt, Sampling};

use crate::support::Tiny;

const LOGITS: [f32; 6] = [2.0, 1.0, 0.5, -1.0, 0.25, -3.0];
const SEEN: [u32; 3] = [0, 3, 3];
const OUT: f64 = f64::NEG_INFINITY;

fn same(sampling: Sampling, want: [f64; 6]) {
    let got = sampling.scores(&LOGITS, &SEEN).unwrap();
    assert_eq!(got.len(), want.len());
    for (got, want) in got.iter().zip(want) {
        assert!(*got == want || (got - want).abs() < 1e-6, "{sampling:?}: {got} for {want}");
    }
}

#[test]
fn each_processor_is_that_of_transformers() {
    let none = Sampling::default;
    same(none(), LOGITS.map(f64::from));
    same(Sampling { repetition_penalty: Some(1.3), ..none() }, [1.538_461_5, 1.0, 0.5, -1.3, 0.25, -3.0]);
    same(
        Sampling { temperature: Some(0.7), ..none() },
        [2.857_142_9, 1.428_571_4, 0.714_285_7, -1.428_571_4, 0.357_142_9, -4.285_714_3],
    );
    same(Sampling { top_k: Some(4), ..none() }, [2.0, 1.0, 0.5, OUT, 0.25, OUT]);
    same(Sampling { top_k: Some(100), ..none() }, LOGITS.map(f64::from));
    same(Sampling { top_p: Some(0.8), ..none() }, [2.0, 1.0, 0.5, OUT, OUT, OUT]);
    same(Sampling { top_p: Some(0.55), ..none() }, [2.0, 1.0, OUT, OUT, OUT, OUT]);
    // However little is asked for, the likeliest stays.
    same(Sampling { top_p: Some(0.01), ..none() }, [2.0, OUT, OUT, OUT, OUT, OUT]);
    same(Sampling { min_p: Some(0.2), ..none() }, [2.0, 1.0, 0.5, OUT, OUT, OUT]);
    same(Sampling { min_p: Some(0.3), ..none() }, [2.0, 1.0, OUT, OUT, OUT, OUT]);
    same(Sampling { min_p: Some(1.0), ..none() }, [2.0, OUT, OUT, OUT, OUT, OUT]);
}

/// With all at once, the penalty brings the first token nearer to the second before anything is cut.
#[test]
fn they_are_applied_in_the_order_of_transformers() {
    let all = Sampling {
        repetition_penalty: Some(1.3),
        temperature: Some(0.7),
        top_k: Some(4),
        top_p: Some(0.9),
        min_p: Some(0.3),
        ..Sampling::default()
    };
    same(all, [2.197_802_2, 1.428_571_4, OUT, OUT, OUT, OUT]);
}

#[test]
fn scores_that_equal_the_last_of_the_highest_stay() {
    let scores = Sampling { top_k: Some(2), ..Sampling::default() }.scores(&[1.0, 2.0, 1.0, 0.0], &[]).unwrap();
    assert_eq!(scores, [1.0, 2.0, 1.0, OUT]);
}

#[test]
fn a_value_that_means_nothing_is_refused_by_name() {
    let tiny = Tiny::load("llama-tied");
    let (model, prompt) = (tiny.model(), Prompt::Ids(vec![5, 6]));
    let none = Sampling::default;
    for (wrong, words) in [
        (Sampling { temperature: Some(0.0), ..none() }, "the temperature is 0, but must be at least 0.000001"),
        (Sampling { temperature: Some(-1.0), ..none() }, "the temperature is -1"),
        (Sampling { temperature: Some(f64::NAN), ..none() }, "the temperature is NaN"),
        (Sampling { temperature: Some(f64::INFINITY), ..none() }, "the temperature is inf"),
        (Sampling { top_k: Some(0), ..none() }, "top-k is 0, but must be at least 1"),
        (Sampling { top_p: Some(0.0), ..none() }, "the top-p is 0, but must be above 0 and at most 1"),
        (Sampling { top_p: Some(1.5), ..none() }, "the top-p is 1.5"),
        (Sampling { top_p: Some(f64::NAN), ..none() }, "the top-p is NaN"),
        (Sampling { min_p: Some(-0.1), ..none() }, "the min-p is -0.1, but must be 0 to 1"),
        (Sampling { min_p: Some(f64::NAN), ..none() }, "the min-p is NaN"),
        (Sampling { repetition_penalty: Some(0.0), ..none() }, "the repetition penalty is 0"),
        (Sampling { repetition_penalty: Some(f64::INFINITY), ..none() }, "the repetition penalty is inf"),
        (Sampling { stop: vec!["a".to_owned(), String::new()], ..none() }, "a stop string is empty"),
    ] {
        let error = model.generate(&prompt, &wrong, |_| panic!("it began")).unwrap_err().to_string();
        assert!(error.starts_with(words) && error.lines().count() == 1, "{error}");
    }
    let error = none().scores(&[f32::NAN; 3], &[]).unwrap_err().to_string();
    assert_eq!(error, "every logit is NaN: the checkpoint is damaged");
}

#[test]
fn the_same_seed_draws_the_same_and_another_something_else() {
    let tiny = Tiny::load("llama-tied");
    let (model, prompt) = (tiny.model(), Prompt::Ids(tiny.cases["text"].ids[..8].to_vec()));
    let drawn = |seed: Option<u64>| {
        let sampling = Sampling { temperature: Some(2.0), seed, max_tokens: 16, ..Sampling::default() };
        let made = model.generate(&prompt, &sampling, |_| true).unwrap();
        (made.ids, made.seed.unwrap())
    };
    let (first, seed) = drawn(None);
    assert_eq!(drawn(Some(seed)), (first.clone(), seed));
    let others: Vec<_> = (0..4).map(|seed| drawn(Some(seed)).0).collect();
    assert!(others.iter().any(|other| *other != others[0]));
    let likeliest = model.generate(&prompt, &Sampling::greedy(16), |_| true).unwrap();
    assert_eq!(likeliest.seed, None);
    // So little heat draws the likeliest.
    let cold = Sampling { temperature: Some(Sampling::COLDEST), max_tokens: 16, ..Sampling::default() };
    assert_eq!(model.generate(&prompt, &cold, |_| true).unwrap().ids, likeliest.ids);
}

/// Each token comes as often as it is likely, and one that is out never.
#[test]
fn tokens_are_drawn_as_often_as_they_are_likely() {
    let tiny = Tiny::load("llama-tied");
    let (model, prompt) = (tiny.model(), tiny.cases["text"].ids[..6].to_vec());
    let logits = model.next_logits(&prompt, &mut attnscope_models::Cache::default()).unwrap();
    // Warm enough that there is something to choose from.
    let sampling = |seed| Sampling {
        temperature: Some(6.0),
        top_k: Some(4),
        seed: Some(seed),
        max_tokens: 1,
        ..Sampling::default()
    };
    let scores = sampling(0).scores(&logits, &[]).unwrap();
    let all: f64 = scores.iter().map(|score| score.exp()).sum();
    const DRAWS: usize = 600;
    let mut counts: HashMap<u32, usize> = HashMap::new();
    for seed in 0..DRAWS {
        let made = model.generate(&Prompt::Ids(prompt.clone()), &sampling(seed as u64), |_| true).unwrap();
        *counts.entry(made.ids[0]).or_default() += 1;
    }
    assert!(counts.keys().all(|id| scores[*id as usize] > OUT), "{counts:?}");
    let likely: Vec<u32> = (0..).zip(&scores).filter(|(_, score)| **score > OUT).map(|(id, _)| id).collect();
    assert_eq!(likely.len(), 4);
    for id in likely {
        let (p, n) = (scores[id as usize].exp() / all, DRAWS as f64);
        let drawn = counts.get(&id).copied().unwrap_or(0) as f64;
        // Four standard deviations.
        assert!((drawn - n * p).abs() < 4.0 * (n * p * (1.0 - p)).sqrt() + 1.0, "{id}: {drawn} of {n} at {p}");
    }
}

/// A penalty that is high enough lets nothing come twice; transformers counts the prompt's tokens too.
#[test]
fn a_repetition_penalty_holds_for_the_prompt_and_for_what_was_generated() {
    let tiny = Tiny::load("gpt2-lm");
    let (model, prompt) = (tiny.model(), tiny.cases["text"].ids[..10].to_vec());
    let plain = model.generate(&Prompt::Ids(prompt.clone()), &Sampling::greedy(12), |_| true).unwrap().ids;
    let penalty = Sampling { repetition_penalty: Some(1e6), ..Sampling::greedy(12) };
    let new = model.generate(&Prompt::Ids(prompt.clone()), &penalty, |_| true).unwrap().ids;
    assert_ne!(new, plain);
    let all = [prompt, new.clone()].concat();
    for (at, id) in new.iter().enumerate() {
        assert!(!all[..all.len() - new.len() + at].contains(id), "{id} came twice in {all:?}");
    }
}
