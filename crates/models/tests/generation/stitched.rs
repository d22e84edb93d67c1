//! One map of a prompt and of all that follows it.

use attnscope_inspect::{At, SiteKind, Trace};
use attnscope_models::{Prompt, Sampling};
use tempfile::TempDir;

use crate::support::{Tiny, trace};

/// Windowed ones, ones whose queries share keys, and encoder-decoders.
const MODELS: [&str; 10] = [
    "mistral-window",
    "gemma2-lm",
    "gemma3-lm",
    "qwen3-windows",
    "smollm3-nope",
    "llama-tied",
    "gpt2-lm",
    "gpt_neox-parallel",
    "t5-relu",
    "bart-lm",
];

/// A prompt for a model, and the same with `new` after it.
fn prompts(tiny: &Tiny, new: &[u32]) -> Prompt {
    let case = &tiny.cases["text"];
    match &case.decoder_ids {
        None => Prompt::Ids([&case.ids[..20], new].concat()),
        Some(ids) => Prompt::Halves {
            encoder: Box::new(Prompt::Ids(case.ids.clone())),
            decoder: Box::new(Prompt::Ids([&ids[..3], new].concat())),
        },
    }
}

fn furthest(a: &Trace, b: &Trace) -> f64 {
    assert_eq!(a.sites.len(), b.sites.len());
    let mut worst: f64 = 0.0;
    for site in &a.sites {
        let other = b.site(site.kind, site.layer).unwrap();
        assert_eq!((site.q_len(), site.kv_len()), (other.q_len(), other.kv_len()));
        assert_eq!(site.params, other.params);
        for head in 0..site.q_heads() {
            let at = At { site: site.kind, layer: site.layer, head };
            for query in 0..site.q_len() {
                let (a, b) = (a.row(at, query).unwrap(), b.row(at, query).unwrap());
                assert_eq!(a.mask, b.mask);
                let apart = a.weights.iter().zip(&b.weights).map(|(a, b)| (a - b).abs());
                worst = apart.fold(worst, |worst, x| if x.is_nan() { f64::INFINITY } else { worst.max(x) });
            }
        }
    }
    worst
}

#[test]
fn a_stitched_trace_is_that_of_one_pass_over_the_same_tokens() {
    let mut outside = 0;
    for name in MODELS {
        let tiny = Tiny::load(name);
        let model = tiny.model();
        // Drawn, so that no text runs in a circle.
        let sampling = Sampling { max_tokens: 10, temperature: Some(2.0), seed: Some(4), ..Sampling::default() };
        let (made, stitched) = model.generate_traced(&prompts(&tiny, &[]), &sampling, |_| true).unwrap();
        assert!(made.ids.len() > 3, "{name}: {made:?}");
        let ids: Vec<u32> = stitched.tokens.iter().map(|token| token.id.unwrap()).collect();
        assert_eq!(ids, [&made.prompt_ids[..], &made.ids].concat(), "{name}");
        let one = trace(&model, &prompts(&tiny, &made.ids));
        assert_eq!((&one.tokens, &one.encoder, &one.model), (&stitched.tokens, &stitched.encoder, &stitched.model));
        assert_eq!(stitched.text, one.text, "{name}");
        let apart = furthest(&stitched, &one);
        assert!(apart <= 1e-5, "{name}: {apart}");
        // It proves itself, from a file as well.
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("kept.safetensors");
        stitched.save(&path).unwrap();
        for trace in [&stitched, &Trace::open(&path).unwrap()] {
            for head in trace.heads(None).unwrap() {
                let (sum, out) = (head.proof.row_sum_error, head.proof.output_error);
                assert!(sum < 1e-5 && out < 1e-5, "{name}: {head:?}");
            }
        }
        // Nothing else comes of being watched.
        assert_eq!(model.generate(&prompts(&tiny, &[]), &sampling, |_| true).unwrap().ids, made.ids, "{name}");
        let last = ids.len() - 1;
        let windowed = stitched.sites.iter().filter(|site| site.params.window.is_some());
        for site in windowed {
            let row = stitched.row(At { layer: site.layer, ..At::default() }, last).unwrap();
            outside += row.mask.iter().filter(|mask| **mask == Some("outside_window")).count();
        }
        let crossed = stitched.sites.iter().any(|site| site.kind == SiteKind::Cross);
        assert_eq!(crossed, stitched.encoder.is_some());
    }
    assert!(outside > 20, "no window hid anything");
}

/// Whatever ends a text: every token of it has its row.
#[test]
fn every_token_has_its_row_however_the_text_ends() {
    let tiny = Tiny::load("mistral-window");
    let model = tiny.model();
    let prompt = prompts(&tiny, &[]);
    for (most, stop) in [(0, None), (1, None), (6, None), (6, Some(2))] {
        let mut seen = 0;
        let (made, stitched) = model
            .generate_traced(&prompt, &Sampling::greedy(most), |_| {
                seen += 1;
                Some(seen) != stop
            })
            .unwrap();
        assert_eq!(made.ids.len(), stop.unwrap_or(most));
        assert_eq!(stitched.tokens.len(), 20 + made.ids.len());
        for site in &stitched.sites {
            assert_eq!((site.q_len(), site.kv_len()), (stitched.tokens.len(), stitched.tokens.len()));
        }
    }
}
