//! Encoder-decoders: what the decoder may see, and that a trace names the right tokens on each axis.

use attnscope_inspect::{At, SiteKind, Trace};
use attnscope_models::{Cache, Keep, Model, Prompt, Run, Sampling};
use candle_core::Tensor;
use tempfile::TempDir;

use crate::support::{Tiny, apart, hidden, trace};

const HALVES: [&str; 4] = ["t5-relu", "t5-gated", "bart-lm", "bart-base"];

fn rows(tensor: &Tensor) -> Vec<Vec<f32>> {
    tensor.to_vec2().unwrap()
}

/// Decodes in chunks of so many tokens.
fn in_chunks(model: &Model, tiny: &Tiny, case: &str, chunk: usize) -> Tensor {
    let case = &tiny.cases[case];
    let mut run = Run { real: case.real.clone(), ..Run::keeping(Keep::Nothing) };
    let mut cache = Cache::after(model.encode(&case.ids, &mut run).unwrap());
    let ids = case.decoder_ids.clone().unwrap();
    let part = |ids: &[u32]| {
        let mut run = Run { cache: Some(&mut cache), ..Run::keeping(Keep::Nothing) };
        model.hidden(ids, &mut run).unwrap()
    };
    let parts: Vec<Tensor> = ids.chunks(chunk).map(part).collect();
    assert_eq!(cache.len(), ids.len());
    Tensor::cat(&parts, 0).unwrap()
}

#[test]
fn token_by_token_is_the_same_as_at_once() {
    for variant in HALVES {
        let tiny = Tiny::load(variant);
        let model = tiny.model();
        for (name, case) in &tiny.cases {
            let at_once: Vec<f32> = hidden(&model, case).flatten_all().unwrap().to_vec1().unwrap();
            for chunk in [1, 2, 5] {
                let off = apart(&in_chunks(&model, &tiny, name, chunk), &at_once);
                assert!(off <= 1e-5, "{variant} {name} in chunks of {chunk}: {off}");
            }
        }
    }
}

#[test]
fn a_later_token_changes_nothing_before_it() {
    for variant in HALVES {
        let tiny = Tiny::load(variant);
        let model = tiny.model();
        let case = &tiny.cases["text"];
        let before = rows(&hidden(&model, case));
        let mut other = case.clone();
        other.decoder_ids.as_mut().unwrap()[5] = 9;
        assert_ne!(other.decoder_ids, case.decoder_ids);
        let after = rows(&hidden(&model, &other));
        assert_eq!(before[..5], after[..5], "{variant}");
        assert!(before.iter().zip(&after).skip(5).all(|(a, b)| a != b), "{variant}");
        // What the encoder reads reaches every position.
        let mut other = case.clone();
        other.ids[3] = 9;
        let after = rows(&hidden(&model, &other));
        assert!(before.iter().zip(&after).all(|(a, b)| a != b), "{variant}");
    }
}

#[test]
fn padding_in_the_source_changes_nothing() {
    for variant in ["t5-relu", "t5-gated", "bart-lm"] {
        let tiny = Tiny::load(variant);
        let model = tiny.model();
        let padded = &tiny.cases["right"];
        let mut plain = padded.clone();
        let real = plain.real.take().unwrap();
        plain.ids = padded.ids.iter().zip(&real).filter(|(_, real)| **real).map(|(id, _)| *id).collect();
        assert!(plain.ids.len() < padded.ids.len());
        let want: Vec<f32> = hidden(&model, &plain).flatten_all().unwrap().to_vec1().unwrap();
        let off = apart(&hidden(&model, padded), &want);
        assert!(off <= 1e-5, "{variant}: {off}");
        // As keys they are said to be padding.
        let trace = trace(&model, &padded.prompt());
        for site in [SiteKind::Encoder, SiteKind::Cross] {
            let row = trace.row(At { site, layer: 0, head: 0 }, 2).unwrap();
            let hidden: Vec<bool> = row.mask.iter().map(|mask| *mask == Some("padding")).collect();
            assert_eq!(hidden, real.iter().map(|real| !real).collect::<Vec<_>>(), "{variant} {site}");
        }
    }
}

/// Two lists of tokens, each on its own axis, kept by a file.
#[test]
fn a_trace_names_the_tokens_of_each_axis() {
    for variant in HALVES {
        let tiny = Tiny::load(variant);
        let (model, case) = (tiny.model(), &tiny.cases["text"]);
        let (source, target) = (case.text.clone().unwrap(), case.target.clone().unwrap());
        let prompt = Prompt::Halves {
            encoder: Box::new(Prompt::Text(source.clone())),
            decoder: Box::new(Prompt::Text(target.clone())),
        };
        let made = trace(&model, &prompt);
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("kept.safetensors");
        made.save(&path).unwrap();
        for trace in [made, Trace::open(&path).unwrap()] {
            let ids = |tokens: &[attnscope_inspect::Token]| tokens.iter().map(|t| t.id.unwrap()).collect::<Vec<_>>();
            assert_eq!(ids(&trace.tokens), *case.decoder_ids.as_ref().unwrap(), "{variant}");
            let read = trace.encoder.as_ref().unwrap();
            assert_eq!((&trace.text, &read.text), (&target, &source));
            assert_eq!(ids(&read.tokens), case.ids);
            for (kind, queries, keys) in [
                (SiteKind::SelfAttention, &trace.tokens, &trace.tokens),
                (SiteKind::Cross, &trace.tokens, &read.tokens),
                (SiteKind::Encoder, &read.tokens, &read.tokens),
            ] {
                assert_eq!((trace.query_tokens(kind), trace.key_tokens(kind)), (&queries[..], &keys[..]));
                let at = At { site: kind, layer: 0, head: 1 };
                let (query, key) = (2, keys.len() - 2);
                let cell = trace.cell(at, query, key).unwrap();
                assert_eq!((&cell.query.token, &cell.key.token), (&queries[query].text, &keys[key].text));
                let row = trace.row(at, query).unwrap();
                assert_eq!(row.query.token, queries[query].text);
                assert!(row.strongest.iter().all(|strong| strong.token == keys[strong.index].text));
                let column = trace.column(kind, 0, attnscope_inspect::Pick::Head(1), key).unwrap();
                assert_eq!(column.key.token, keys[key].text);
                assert!(column.strongest.iter().all(|strong| strong.token == queries[strong.index].text));
                assert_eq!(trace.find_query(kind, "2").unwrap(), 2);
            }
            let causal: Vec<bool> = trace.sites.iter().map(|site| site.params.causal).collect();
            assert_eq!(causal, trace.sites.iter().map(|s| s.kind == SiteKind::SelfAttention).collect::<Vec<_>>());
            for head in trace.heads(None).unwrap() {
                assert!(head.proof.row_sum_error < 1e-5 && head.proof.output_error < 1e-5, "{variant}: {head:?}");
                assert_eq!(head.previous.is_none(), head.site == SiteKind::Cross);
            }
        }
    }
}

/// A word that stands in one of the texts only is found on the axis of that text alone.
#[test]
fn a_token_is_looked_for_in_the_text_of_its_axis() {
    let tiny = Tiny::load("t5-relu");
    let (model, case) = (tiny.model(), &tiny.cases["text"]);
    let trace = trace(&model, &case.prompt());
    let cabinet = trace.find_key(SiteKind::Cross, "cabinet").unwrap();
    assert_eq!(trace.find_query(SiteKind::Encoder, "cabinet").unwrap(), cabinet);
    let refused = trace.find_query(SiteKind::Cross, "cabinet").unwrap_err().to_string();
    assert!(refused.contains("no token reads \"cabinet\"") && refused.contains("\"walked\""), "{refused}");
    assert!(trace.find_key(SiteKind::Cross, "walked").is_err());
}

#[test]
fn without_a_target_the_decoder_reads_what_it_would_say() {
    for variant in ["t5-relu", "bart-lm"] {
        let tiny = Tiny::load(variant);
        let (model, case) = (tiny.model(), &tiny.cases["text"]);
        let source = Prompt::Text(case.text.clone().unwrap());
        let said = model.generate(&source, &Sampling::greedy(12), |_| true).unwrap().ids;
        assert!(!said.is_empty());
        let start = case.decoder_ids.as_ref().unwrap()[0];
        let ids: Vec<u32> = trace(&model, &source).tokens.iter().map(|token| token.id.unwrap()).collect();
        assert_eq!(ids[0], start);
        assert_eq!(ids[1..ids.len().min(13)], said[..]);
        // Each is the likeliest after all before it.
        let mut read = case.clone();
        for (at, next) in said.iter().enumerate().take(5) {
            read.decoder_ids = Some(ids[..=at].to_vec());
            let logits = rows(&model.logits(&hidden(&model, &read)).unwrap()).pop().unwrap();
            let best = (0..logits.len()).max_by(|a, b| logits[*a].total_cmp(&logits[*b])).unwrap();
            assert_eq!(best, *next as usize);
        }
    }
    // Without a head it says nothing, and only begins.
    let tiny = Tiny::load("bart-base");
    let trace = trace(&tiny.model(), &Prompt::Ids(tiny.cases["text"].ids.clone()));
    assert_eq!(trace.tokens.len(), 1);
}

/// One layer alone, of any of the three sites, is the same as in a run that keeps all.
#[test]
fn one_layer_alone_is_the_same_layer() {
    let tiny = Tiny::load("bart-lm");
    let (model, prompt) = (tiny.model(), tiny.cases["text"].prompt());
    let all = trace(&model, &prompt);
    for (layer, sites) in [(1, 3), (2, 2)] {
        let one = model.trace(&prompt, Keep::Only(layer), &|_, _| true).unwrap();
        assert_eq!(one.sites.len(), sites);
        for site in &one.sites {
            let at = At { site: site.kind, layer, head: 1 };
            assert_eq!(all.cell(at, 3, 2).unwrap(), one.cell(at, 3, 2).unwrap());
        }
    }
}

#[test]
fn a_run_says_how_far_it_is_and_can_be_stopped_in_either_half() {
    let tiny = Tiny::load("t5-relu");
    let (model, prompt) = (tiny.model(), tiny.cases["text"].prompt());
    let told = std::sync::Mutex::new(Vec::new());
    model
        .trace(&prompt, Keep::Nothing, &|done, all| {
            told.lock().unwrap().push((done, all));
            true
        })
        .unwrap();
    assert_eq!(*told.lock().unwrap(), [(1, 5), (2, 5), (3, 5), (4, 5), (5, 5)]);
    for last in [1, 4] {
        let stopped = model.trace(&prompt, Keep::All, &|done, _| done < last).unwrap_err();
        assert_eq!(stopped.to_string(), "stopped");
    }
}
