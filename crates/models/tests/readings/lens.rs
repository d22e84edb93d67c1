use attnscope_models::Lens;

use crate::support::{Tiny, dot, moments};

/// All logits of a layer, by id.
fn logits(lens: &Lens, layer: Option<usize>) -> Vec<f64> {
    let found = lens.layers.iter().find(|at| at.layer == layer).unwrap();
    let mut by_id: Vec<(u32, f64)> = found.top.iter().map(|guess| (guess.id, f64::from(guess.logit))).collect();
    by_id.sort_by_key(|(id, _)| *id);
    by_id.into_iter().map(|(_, logit)| logit).collect()
}

fn lens(tiny: &Tiny, position: usize) -> Lens {
    let vocab = tiny.model.shape().vocab;
    tiny.model.lens(&tiny.looking(&tiny.prompt(), &position.to_string()), vocab).unwrap()
}

fn headed() -> Vec<Tiny> {
    let mut all = Tiny::all();
    all.retain(|tiny| !tiny.name.ends_with("-base") && tiny.name != "albert-groups");
    assert!(all.len() >= 25, "{}", all.len());
    all
}

#[test]
fn at_the_last_layer_the_lens_says_what_the_model_says() {
    for tiny in headed() {
        let (position, layers) = (tiny.ids().len() - 2, tiny.model.shape().layers);
        let lens = lens(&tiny, position);
        let (hidden, _) = tiny.run(position);
        let own: Vec<f32> = tiny.model.logits(&hidden).unwrap().get(position).unwrap().to_vec1().unwrap();
        let largest = own.iter().fold(0.0, |max: f32, x| max.max(x.abs()));
        let got = logits(&lens, Some(layers - 1));
        assert_eq!((lens.layers.len(), got.len()), (layers + 1, own.len()), "{}", tiny.name);
        for (got, own) in got.iter().zip(&own) {
            assert!((got - f64::from(*own)).abs() <= 1e-6 * f64::from(largest), "{}", tiny.name);
        }
        let last = lens.layers.last().unwrap();
        assert_eq!((last.rank, last.top[0].id), (0, lens.said.id), "{}", tiny.name);
        assert!(last.kl < 1e-9 && (last.prob - lens.said.prob).abs() < 1e-6, "{}: {}", tiny.name, last.kl);
        let moved = logits(&lens, None).iter().zip(&own).map(|(a, b)| (a - f64::from(*b)).abs()).fold(0.0, f64::max);
        assert!(moved > 0.05 * f64::from(largest), "{}: the embedding already says it all", tiny.name);
        for layer in &lens.layers {
            let sum: f64 = layer.top.iter().map(|guess| guess.prob).sum();
            assert!((sum - 1.0).abs() < 1e-9, "{}: {sum}", tiny.name);
            assert!(layer.top.is_sorted_by(|a, b| a.logit >= b.logit));
            assert_eq!(layer.top[layer.rank].id, lens.said.id, "{}", tiny.name);
        }
    }
}

/// Norm and head on the state of each layer, written out.
#[test]
fn a_layer_is_read_by_the_last_norm_and_the_head() {
    for (name, norm, head, centred) in [
        ("gpt2-lm", "ln_f", "wte.weight", true),
        ("llama-tied", "model.norm", "embed_tokens.weight", false),
        ("gemma2-lm", "model.norm", "embed_tokens.weight", false),
        ("gpt_neox-serial", "final_layer_norm", "embed_out.weight", true),
        ("t5-relu", "decoder.final_layer_norm", "shared.weight", false),
    ] {
        let tiny = Tiny::named(name);
        let position = tiny.ids().len() / 2;
        let (lens, (_, stream)) = (lens(&tiny, position), tiny.run(position));
        let eps =
            ["layer_norm_epsilon", "rms_norm_eps", "layer_norm_eps"].iter().find_map(|key| tiny.config[key].as_f64());
        let shift = if name.starts_with("gemma") { 1.0 } else { 0.0 };
        let weight = tiny.vector(&format!("{norm}.weight"));
        let bias = if centred { tiny.vector(&format!("{norm}.bias")) } else { vec![0.0; weight.len()] };
        let rows = tiny.matrix(head);
        for (passed, state) in stream.states.iter().enumerate() {
            let x: Vec<f64> = state.iter().map(|x| f64::from(*x)).collect();
            let (mean, size) = moments(&x, centred, eps.unwrap());
            let normed = |d: usize| (x[d] - mean) / size * (weight[d] + shift) + bias[d];
            let scale = if name.starts_with("t5") { (x.len() as f64).sqrt().recip() } else { 1.0 };
            let h: Vec<f64> = (0..x.len()).map(|d| normed(d) * scale).collect();
            let cap = tiny.config["final_logit_softcapping"].as_f64();
            let logit = |row: &Vec<f64>| {
                let raw = dot(row, &h);
                cap.map_or(raw, |cap| cap * (raw / cap).tanh())
            };
            let want: Vec<f64> = rows.iter().map(logit).collect();
            let largest = want.iter().fold(0.0, |max: f64, x| max.max(x.abs()));
            for (got, want) in logits(&lens, passed.checked_sub(1)).iter().zip(&want) {
                assert!((got - want).abs() < 2e-5 * largest, "{name} layer {passed}: {got} is not {want}");
            }
        }
    }
}

#[test]
fn a_model_without_a_head_has_no_lens() {
    for name in ["bert-base", "llama-base", "bart-base"] {
        let tiny = Tiny::named(name);
        let refused = tiny.model.lens(&tiny.looking(&tiny.prompt(), "0"), 5).unwrap_err().to_string();
        assert!(refused.contains(name) && refused.contains("no head that names words"), "{refused}");
    }
}

#[test]
fn a_position_is_found_by_its_word() {
    let tiny = Tiny::named("gpt2-lm");
    let prompt = tiny.prompt();
    let at = |at| tiny.model.lens(&tiny.looking(&prompt, at), 1).unwrap().position;
    let tokens = tiny.model.tokenizer().tokens(&tiny.case.ids);
    let once = (0..tokens.len())
        .find(|i| tokens.iter().filter(|token| token.text.trim() == tokens[*i].text.trim()).count() == 1)
        .unwrap();
    assert_eq!(at(tokens[once].text.trim()).index, once);
    assert_eq!(at("4").index, 4);
}
