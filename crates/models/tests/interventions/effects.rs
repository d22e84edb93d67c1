//! What interventions are said to have changed.

use std::sync::atomic::{AtomicUsize, Ordering};

use attnscope_inspect::SiteKind;
use attnscope_models::{Experiment, Heads, Interventions, Keep, Model, Moved, Prompt, Run, Scan};
use candle_core::{Device, Tensor};

use crate::support::{Tiny, every, vectors};

fn experiment<'m>(
    model: &'m Model,
    prompt: &Prompt,
    at: Option<&str>,
    token: Option<u32>,
) -> Result<Experiment<'m>, String> {
    let texts = model.texts(prompt, &|_, _| true).unwrap();
    Experiment::new(model, texts, at, token, &|_, _| true).map_err(|error| error.to_string())
}

/// Probabilities of a row of logits, plainly.
fn softmax(logits: &[f32]) -> Vec<f64> {
    let exp: Vec<f64> = logits.iter().map(|x| f64::from(*x).exp()).collect();
    let sum: f64 = exp.iter().sum();
    exp.iter().map(|x| x / sum).collect()
}

fn logits(model: &Model, ids: &[u32], at: usize, interventions: &Interventions) -> Vec<f32> {
    let hidden = model.hidden(ids, &mut Run { interventions, ..Run::keeping(Keep::Nothing) }).unwrap();
    model.logits(&hidden).unwrap().to_vec2().unwrap().swap_remove(at)
}

#[test]
fn every_number_is_what_it_is_by_hand() {
    for (name, at) in [("llama-tied", None), ("gemma2-lm", Some("4")), ("bert-mlm", Some("6"))] {
        let tiny = Tiny::named(name);
        let (model, ids) = (&tiny.model, tiny.text().ids.clone());
        let cut = Interventions::default().cut(Heads { layer: Some(0), head: Some(1), ..Heads::default() }, None, None);
        let followed = 30;
        let experiment = experiment(model, &tiny.text().prompt(), at, Some(followed)).unwrap();
        let effect = experiment.effect(&cut, 4, &|_, _| true).unwrap();
        let at = at.map_or(ids.len() - 1, |at| at.parse().unwrap());
        assert_eq!((effect.at.index, effect.vectors.len()), (at, ids.len()), "{name}");

        let both = [Interventions::NONE, &cut].map(|cut| logits(model, &ids, at, cut));
        let probs = both.each_ref().map(|logits| softmax(logits));
        for (list, logits, probs) in [(&effect.before, &both[0], &probs[0]), (&effect.after, &both[1], &probs[1])] {
            let list = list.as_ref().unwrap();
            assert_eq!(list.len(), 4);
            let best = (0..logits.len()).max_by(|a, b| logits[*a].total_cmp(&logits[*b])).unwrap();
            assert_eq!(list[0].id as usize, best, "{name}");
            assert!(list.windows(2).all(|pair| pair[0].logit >= pair[1].logit), "{name}");
            let near = 2e-5 * logits.iter().fold(0.0, |max: f32, x| max.max(x.abs()));
            for likely in list {
                let id = likely.id as usize;
                assert!((likely.logit - logits[id]).abs() <= near, "{name}");
                assert!((likely.prob - probs[id]).abs() <= f64::from(near), "{name}");
            }
        }
        let kl: f64 = probs[0].iter().zip(&probs[1]).map(|(p, q)| p * (p / q).ln()).sum();
        assert!(kl > 1e-6 && (effect.kl.unwrap() - kl).abs() < 1e-4 * kl.max(1.0), "{name}: {:?} {kl}", effect.kl);
        let [a, b] = [0, 1].map(|which| f64::from(both[which][followed as usize]));
        let near = 4e-5 * both[0].iter().fold(0.0, |max: f32, x| max.max(x.abs()));
        assert!((effect.logit_diff.unwrap() - (b - a)).abs() <= f64::from(near), "{name}");
        let token = effect.token.as_ref().unwrap();
        let rank = both[1].iter().filter(|x| **x > both[1][followed as usize]).count();
        assert_eq!((token.id, token.rank[1]), (followed, rank));

        let (a, b) = (vectors(model, tiny.text(), Interventions::NONE), vectors(model, tiny.text(), &cut));
        for (moved, (a, b)) in effect.vectors.iter().zip(a.iter().zip(&b)) {
            let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum::<f64>();
            let apart: Vec<f32> = a.iter().zip(b).map(|(a, b)| b - a).collect();
            assert!((moved.cosine - dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()).abs() < 1e-9, "{name}");
            assert!((moved.relative_l2 - (dot(&apart, &apart) / dot(a, a)).sqrt()).abs() < 1e-6, "{name}");
        }
    }
}

#[test]
fn nothing_cut_is_nothing_changed() {
    for tiny in Tiny::all() {
        let experiment = experiment(&tiny.model, &tiny.text().prompt(), None, None).unwrap();
        let effect = experiment.effect(Interventions::NONE, 3, &|_, _| true).unwrap();
        assert_eq!(effect.before, effect.after, "{}", tiny.name);
        assert!(effect.vectors.iter().all(|moved| moved.cosine == 1.0 && moved.relative_l2 == 0.0), "{}", tiny.name);
        // A model with a head has numbers; one without has none, and says so.
        let headed = !tiny.name.ends_with("base") && !tiny.name.starts_with("albert-groups");
        let numbers = [effect.kl, effect.logit_diff];
        assert_eq!(numbers, if headed { [Some(0.0); 2] } else { [None; 2] }, "{}", tiny.name);
        assert_eq!((effect.before.is_some(), effect.token.is_some()), (headed, headed), "{}", tiny.name);
    }
}

/// A run begins at the layer in which something is cut, and comes to the very numbers that one from the start does.
#[test]
fn going_on_from_a_later_layer_is_the_same_as_from_the_start() {
    for tiny in Tiny::all() {
        let (model, case) = (&tiny.model, tiny.text());
        let experiment = experiment(model, &case.prompt(), None, None).unwrap();
        let before = vectors(model, case, Interventions::NONE);
        for site in tiny.kinds() {
            let last = Heads { site, layer: Some(tiny.last(site)), head: Some(1) };
            let cut = Interventions::default().cut(last, None, None);
            let effect = experiment.effect(&cut, 1, &|_, _| true).unwrap();
            let after = vectors(model, case, &cut);
            for (moved, (a, b)) in effect.vectors.iter().zip(before.iter().zip(&after)) {
                assert_eq!(*moved, Moved::new(moved.index, moved.token.clone(), a, b), "{} {site}", tiny.name);
            }
            assert!(effect.vectors.iter().any(|moved| moved.relative_l2 > 0.0), "{} {site}", tiny.name);
        }
    }
}

#[test]
fn the_position_looked_at_is_the_mask_where_there_is_one() {
    let tiny = Tiny::named("bert-mlm");
    let at = |text: &str, at: Option<&str>| {
        experiment(&tiny.model, &Prompt::Text(text.to_owned()), at, None).map(|experiment| experiment.at())
    };
    let found = at("the robot was [MASK] .", None).unwrap();
    assert_eq!((found.index, &*found.token), (4, "[MASK]"));
    // Without one, the last token that is no mark.
    assert_eq!(at("the robot was tired.", None).unwrap().token, ".");
    assert_eq!(at("the robot was tired.", Some("robot")).unwrap().index, 2);
    let several = at("the [MASK] was [MASK] .", None).unwrap_err();
    assert!(several.contains("2 masks") && several.contains("--at"), "{several}");
    assert!(at("the robot", Some("9")).unwrap_err().contains("out of range"));
    let llama = Tiny::named("llama-tied");
    let last = experiment(&llama.model, &llama.text().prompt(), None, None).unwrap().at().index;
    assert_eq!(last, llama.text().ids.len() - 1);
}

#[test]
fn a_token_to_follow_must_be_one_of_the_models() {
    let tiny = Tiny::named("llama-tied");
    let refused = experiment(&tiny.model, &tiny.text().prompt(), None, Some(1 << 20)).err().unwrap();
    assert!(refused.contains("beyond the vocabulary"), "{refused}");
    let base = Tiny::named("llama-base");
    let refused = experiment(&base.model, &base.text().prompt(), None, Some(3)).err().unwrap();
    assert!(refused.contains("no head that names words"), "{refused}");
}

#[test]
fn a_scan_ranks_what_each_cut_alone_changes() {
    for name in ["smollm3-nope", "modernbert-mlm", "bart-lm", "bert-base"] {
        let tiny = Tiny::named(name);
        let experiment = experiment(&tiny.model, &tiny.text().prompt(), None, None).unwrap();
        for has in tiny.model.attentions() {
            let heads = experiment.scan(Scan::Heads, has.kind, &|_, _| true).unwrap();
            assert_eq!(heads.len(), has.layers * has.heads, "{name} {}", has.kind);
            let keys = experiment.scan(Scan::Keys, has.kind, &|_, _| true).unwrap();
            assert_eq!(keys.len(), experiment.to_scan(Scan::Keys, has.kind).unwrap());
            assert_eq!(keys.len(), experiment.names().key_tokens(has.kind).len(), "{name} {}", has.kind);
            for list in [&heads, &keys] {
                let sizes: Vec<f64> =
                    list.iter().map(|one| one.log_prob_diff.unwrap_or(one.relative_l2).abs()).collect();
                assert!(sizes.windows(2).all(|pair| pair[0] >= pair[1]) && sizes[0] > 0.0, "{name}: {sizes:?}");
            }
            for one in heads.iter().chain(&keys).step_by(5) {
                let which = Heads { site: has.kind, layer: one.layer, head: one.head };
                let effect = experiment.effect(&Interventions::default().cut(which, None, one.key), 1, &|_, _| true);
                let effect = effect.unwrap();
                assert_eq!((one.logit_diff, one.kl), (effect.logit_diff, effect.kl), "{name}");
                if let (Some(diff), Some(token)) = (one.log_prob_diff, effect.token) {
                    assert!((diff - (token.prob[1] / token.prob[0]).ln()).abs() < 1e-9, "{name}");
                }
                assert_eq!(one.relative_l2, effect.vectors[effect.at.index].relative_l2, "{name}");
            }
        }
    }
}

/// Where a decoder alone is cut into, what its encoder made of its text is that of the first run. The ranking is the one that
/// whole runs give, to the last bit.
#[test]
fn a_scan_of_a_decoder_does_not_run_its_encoder_again() {
    for name in ["t5-relu", "bart-lm"] {
        let tiny = Tiny::named(name);
        let (model, case) = (&tiny.model, tiny.text());
        let experiment = experiment(model, &case.prompt(), None, None).unwrap();
        let (at, (token, _)) = (experiment.at().index, experiment.token().unwrap());
        let log_prob = |interventions: &Interventions| {
            let row = vectors(model, case, interventions).swap_remove(at);
            let row = Tensor::from_slice(&row, (1, row.len()), &Device::Cpu).unwrap();
            let logits: Vec<f64> =
                model.logits(&row).unwrap().to_vec2::<f32>().unwrap()[0].iter().map(|x| f64::from(*x)).collect();
            let max = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let sum: f64 = logits.iter().map(|x| (x - max).exp()).sum();
            logits[token as usize] - max - sum.ln()
        };
        let before = log_prob(Interventions::NONE);
        let of_encoder = tiny.last(SiteKind::Encoder) + 1;
        for has in model.attentions().into_iter().filter(|has| has.kind != SiteKind::Encoder) {
            let cut = |layer: usize, head: usize| {
                let which = Heads { site: has.kind, layer: Some(layer), head: Some(head) };
                Interventions::default().cut(which, None, None)
            };
            let each = (0..has.layers).flat_map(|layer| (0..has.heads).map(move |head| (layer, head)));
            let mut whole: Vec<(usize, usize, f64)> =
                each.map(|(layer, head)| (layer, head, log_prob(&cut(layer, head)) - before)).collect();
            whole.sort_by(|a, b| b.2.abs().total_cmp(&a.2.abs()));
            let ranked = experiment.scan(Scan::Heads, has.kind, &|_, _| true).unwrap();
            let ranked = ranked.iter().map(|one| (one.layer.unwrap(), one.head.unwrap(), one.log_prob_diff.unwrap()));
            assert_eq!(ranked.collect::<Vec<_>>(), whole, "{name} {}", has.kind);
            // Layers that are through are counted from those of the encoder on.
            let first = AtomicUsize::new(usize::MAX);
            let progress = |done: usize, _: usize| {
                first.fetch_min(done, Ordering::Relaxed);
                true
            };
            experiment.effect(&cut(0, 0), 1, &progress).unwrap();
            assert_eq!(first.into_inner(), of_encoder + 1, "{name} {}", has.kind);
        }
    }
}

/// What comes after the position is not looked into, and what was ranked before a stop is kept.
#[test]
fn a_scan_looks_back_only_and_can_be_stopped() {
    let tiny = Tiny::named("llama-tied");
    let experiment = experiment(&tiny.model, &tiny.text().prompt(), Some("6"), None).unwrap();
    let keys = experiment.scan(Scan::Keys, SiteKind::SelfAttention, &|_, _| true).unwrap();
    assert_eq!(keys.len(), 7);
    let later = Interventions::default().cut(every(SiteKind::SelfAttention), None, Some(7));
    assert_eq!(experiment.effect(&later, 1, &|_, _| true).unwrap().kl, Some(0.0));
    let asked = AtomicUsize::new(0);
    // In the middle of the fourth run.
    let going = |done: usize, all: usize| {
        assert_eq!(all, 7);
        done < 3 || asked.fetch_add(1, Ordering::Relaxed) < 1
    };
    assert_eq!(experiment.scan(Scan::Keys, SiteKind::SelfAttention, &going).unwrap().len(), 3);
    assert!(experiment.scan(Scan::Heads, SiteKind::Cross, &|_, _| true).is_err());
}

/// What no query sees is hidden already; said is that, and why, and of nothing else.
#[test]
fn cuts_that_find_nothing_are_said_to() {
    let warned = |name: &str, cuts: &[(Heads, Option<usize>, Option<usize>)]| {
        let tiny = Tiny::named(name);
        let experiment = experiment(&tiny.model, &tiny.text().prompt(), None, None).unwrap();
        let cut = |all: Interventions, (heads, query, key): &(Heads, Option<usize>, Option<usize>)| {
            all.cut(*heads, *query, *key)
        };
        experiment.effect(&cuts.iter().fold(Interventions::default(), cut), 1, &|_, _| true).unwrap()
    };
    let one = |layer| Heads { layer: Some(layer), head: Some(1), ..Heads::default() };
    let every = every(SiteKind::SelfAttention);

    let future =
        warned("llama-tied", &[(one(1), Some(2), Some(5)), (every, Some(2), Some(1)), (one(0), None, Some(7))]);
    assert_eq!(
        future.warnings,
        ["cut self 1.1.2.5 changes nothing: query 2 does not see key 5 anyway, which comes after it"]
    );
    assert!(future.kl.unwrap() > 0.0, "the other cuts count");
    let none = warned("gpt2-lm", &[(every, Some(0), Some(3))]);
    assert_eq!((none.warnings.len(), none.kl), (1, Some(0.0)));
    // Every layer of it has a window of 7 (mistral) or every other one (gemma2): one that sees the cell is enough.
    let window = warned("mistral-window", &[(every, Some(12), Some(1)), (one(0), Some(4), Some(3))]);
    assert_eq!(
        window.warnings,
        ["cut self *.*.12.1 changes nothing: query 12 does not see key 1 anyway, which lies outside of its window"]
    );
    assert!(warned("gemma2-lm", &[(every, Some(14), Some(0))]).warnings.is_empty());
    assert!(warned("bert-mlm", &[(one(1), Some(2), Some(5))]).warnings.is_empty(), "an encoder sees both ways");
}
