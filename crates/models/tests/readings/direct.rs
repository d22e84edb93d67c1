use attnscope_inspect::{At, SiteKind};
use attnscope_models::{Contribution, Direct};

use crate::support::{Tiny, dot, moments};

/// The families in whose logits a head has a share, where they have a head.
const DEFINED: [&str; 11] =
    ["gpt2", "llama", "mistral", "qwen2", "qwen3", "smollm3", "phi3", "gemma2", "gemma3", "gpt_neox", "t5"];

fn defined() -> Vec<Tiny> {
    let mut all = Tiny::all();
    all.retain(|tiny| DEFINED.contains(&tiny.family()) && !tiny.name.ends_with("-base"));
    assert!(all.len() >= 19, "{}", all.len());
    all
}

fn direct(tiny: &Tiny, position: usize, token: u32) -> Direct {
    tiny.model.direct(&tiny.looking(&tiny.prompt(), &position.to_string()), token).unwrap()
}

/// All parts together are the logit: nothing of the stream is left out, and nothing is counted twice.
#[test]
fn all_parts_sum_to_the_logit() {
    for tiny in defined() {
        let mut worst: f64 = 0.0;
        let last = tiny.ids().len() - 1;
        for position in [0, last / 2, last] {
            let (hidden, _) = tiny.run(position);
            let logits: Vec<f32> = tiny.model.logits(&hidden).unwrap().get(position).unwrap().to_vec1().unwrap();
            let largest = logits.iter().fold(0.0, |max: f64, x| max.max(f64::from(x.abs())));
            for token in [3, 50, 120] {
                let Direct { token: said, softcap, uncapped, sum, heads, .. } = direct(&tiny, position, token);
                assert_eq!(
                    heads.len(),
                    (1 + usize::from(tiny.family() == "t5")) * tiny.model.shape().layers * tiny.model.shape().q_heads
                );
                let off = (sum - uncapped).abs() / largest;
                assert!(off < 1e-4, "{} token {token} at {position}: {sum} is not {uncapped}", tiny.name);
                worst = worst.max(off);
                let capped = softcap.map_or(uncapped, |cap| cap * (uncapped / cap).tanh());
                let logit = f64::from(logits[token as usize]);
                assert!((capped - logit).abs() < 1e-4 * largest, "{}: {capped} is not {logit}", tiny.name);
                assert_eq!(said.id, token);
                assert!((f64::from(said.logit) - logit).abs() < 1e-6 * largest, "{}: {said:?}", tiny.name);
                // Heads have a part in it, or nothing would be shown.
                assert!(heads[0].contribution.abs() > 1e-3 * largest, "{}: {:?}", tiny.name, heads[0]);
                assert!(heads.is_sorted_by(|a, b| a.contribution.abs() >= b.contribution.abs()));
            }
        }
        eprintln!("{}: parts sum to the logit to {worst:.1e} of the largest", tiny.name);
    }
}

#[test]
fn softcaps_are_named() {
    let capped: Vec<_> =
        defined().iter().map(|tiny| (tiny.name.clone(), direct(tiny, 1, 3).softcap.is_some())).collect();
    let names: Vec<&str> = capped.iter().filter(|(_, capped)| *capped).map(|(name, _)| &**name).collect();
    assert_eq!(names, ["gemma2-lm", "gemma3-lm"]);
}

/// What reads a logit off the last state, by hand.
struct ByHand {
    centred: bool,
    norm: Vec<f64>,
    eps: f64,
    row: Vec<f64>,
    /// Weight of the norm behind an attention, of each layer; Gemma only.
    after: Option<Vec<Vec<f64>>>,
}

fn by_hand(tiny: &Tiny, token: usize) -> ByHand {
    let layers = tiny.model.shape().layers;
    let number = |key: &str| tiny.config[key].as_f64().unwrap();
    let plus_1 = |vector: Vec<f64>| vector.into_iter().map(|x| x + 1.0).collect::<Vec<f64>>();
    let (norm, eps, head) = match tiny.family() {
        "gpt2" => (tiny.vector("ln_f.weight"), number("layer_norm_epsilon"), "wte.weight"),
        "gpt_neox" => (tiny.vector("final_layer_norm.weight"), number("layer_norm_eps"), "embed_out.weight"),
        "t5" => (
            tiny.vector("decoder.final_layer_norm.weight"),
            number("layer_norm_epsilon"),
            if tiny.has("lm_head.weight") { "lm_head.weight" } else { "shared.weight" },
        ),
        family => {
            let norm = tiny.vector("model.norm.weight");
            let head = if tiny.has("lm_head.weight") { "lm_head.weight" } else { "embed_tokens.weight" };
            (if family.starts_with("gemma") { plus_1(norm) } else { norm }, number("rms_norm_eps"), head)
        }
    };
    let mut row = tiny.matrix(head).swap_remove(token);
    if tiny.family() == "t5" && head == "shared.weight" {
        let hidden = row.len() as f64;
        row.iter_mut().for_each(|x| *x /= hidden.sqrt());
    }
    let after = |layer: usize| plus_1(tiny.vector(&format!("layers.{layer}.post_attention_layernorm.weight")));
    ByHand {
        centred: ["gpt2", "gpt_neox"].contains(&tiny.family()),
        norm,
        eps,
        row,
        after: tiny.family().starts_with("gemma").then(|| (0..layers).map(after).collect()),
    }
}

/// The contribution of every head, from the checkpoint's tensors, the weights of the trace, and nothing else of ours.
fn contributions(tiny: &Tiny, position: usize, token: usize) -> Vec<Contribution> {
    let ByHand { centred, norm, eps, row, after } = by_hand(tiny, token);
    let (_, stream) = tiny.run(position);
    let state: Vec<f64> = stream.states.last().unwrap().iter().map(|x| f64::from(*x)).collect();
    let (_, size) = moments(&state, centred, eps);
    let trace = tiny.trace();
    let mut found = Vec::new();
    for site in trace.sites.iter().filter(|site| site.kind != SiteKind::Encoder) {
        let (w_o, bias) = tiny.w_o(site.kind, site.layer);
        let dim = site.v_head_dim();
        let part = |head: usize| -> Vec<f64> {
            let at = At { site: site.kind, layer: site.layer, head };
            let weights = trace.row(at, position).unwrap().weights;
            let values = trace.values(at).unwrap();
            let mix = |d: usize| weights.iter().zip(&values).map(|(weight, v)| weight * f64::from(v[d])).sum();
            let z: Vec<f64> = (0..dim).map(mix).collect();
            w_o.iter().map(|row| dot(&row[head * dim..][..dim], &z)).collect()
        };
        let mut parts: Vec<Vec<f64>> = (0..site.q_heads()).map(part).collect();
        if let Some(after) = &after {
            let whole: Vec<f64> =
                (0..bias.len()).map(|d| bias[d] + parts.iter().map(|part| part[d]).sum::<f64>()).collect();
            let (_, size) = moments(&whole, false, eps);
            for part in &mut parts {
                part.iter_mut().zip(&after[site.layer]).for_each(|(x, weight)| *x *= weight / size);
            }
        }
        for (head, part) in parts.iter().enumerate() {
            let (mean, _) = moments(part, centred, eps);
            let normed: Vec<f64> = part.iter().zip(&norm).map(|(x, weight)| (x - mean) / size * weight).collect();
            found.push(Contribution { site: site.kind, layer: site.layer, head, contribution: dot(&normed, &row) });
        }
    }
    found
}

#[test]
fn a_heads_share_is_what_it_is_by_hand() {
    for tiny in defined() {
        let (position, token) = (tiny.ids().len() - 2, 77);
        let want = contributions(&tiny, position, token);
        let got = direct(&tiny, position, token as u32).heads;
        let largest = got[0].contribution.abs();
        for want in want {
            let same = |got: &&Contribution| (got.site, got.layer, got.head) == (want.site, want.layer, want.head);
            let got = got.iter().find(same).unwrap();
            let off = (got.contribution - want.contribution).abs();
            assert!(off < 1e-4 * largest, "{} {got:?}: {want:?}", tiny.name);
        }
    }
}

#[test]
fn where_a_share_is_not_defined_that_is_said() {
    for (name, why) in [
        ("bert-mlm", "has an activation in it"),
        ("modernbert-mlm", "has an activation in it"),
        ("albert-mlm", "has an activation in it"),
        ("bert-base", "no language head"),
        ("gpt2-base", "no language head"),
        ("bart-lm", "a norm follows each of its attentions"),
    ] {
        let tiny = Tiny::named(name);
        let refused = tiny.model.direct(&tiny.looking(&tiny.prompt(), "0"), 3).unwrap_err().to_string();
        assert!(refused.contains(name) && refused.contains(why), "{refused}");
        assert_eq!(refused.lines().count(), 1);
    }
}

#[test]
fn tokens_are_found_by_id_and_by_text() {
    let tiny = Tiny::named("llama-tied");
    let prompt = tiny.prompt();
    let word = tiny.model.tokenizer().tokens(&[100]).remove(0).text;
    assert_eq!((tiny.model.token_id("100").unwrap(), tiny.model.token_id(&word).unwrap()), (100, 100));
    assert_eq!(direct(&tiny, 5, 100).token.token, word);
    let refused = |name: &str| tiny.model.token_id(name).unwrap_err().to_string();
    assert!(refused("160").contains("ids are 0 to 159") && refused("99999999999999").contains("ids are 0 to 159"));
    assert!(refused("not a token of it").contains("not one token") && refused("").contains("not one token"));
    assert!(tiny.model.direct(&tiny.looking(&prompt, "5"), 160).unwrap_err().to_string().contains("token 160"));
    let beyond = tiny.model.direct(&tiny.looking(&prompt, "99"), 3).unwrap_err().to_string();
    assert!(beyond.contains("99 is out of range"), "{beyond}");
}
