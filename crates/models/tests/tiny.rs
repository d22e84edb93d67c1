//! The tiny models: the same weights give the same numbers from either container, through the cache or at once.

#[path = "common/tiny.rs"]
mod tiny;

use attnscope_inspect::{At, Trace};
use attnscope_models::{Cache, Keep, Model, Prompt, Run, Sampling, Shape};
use candle_core::quantized::GgmlDType;
use tempfile::TempDir;
use tiny::{CONTEXT, END, Folder, Gguf, HEAD_DIM, KV_HEADS, LAYERS, Q_HEADS, VOCAB, interleave};

const TEXT: &str = "the other 42 é";

fn gguf(spoil: impl FnOnce(&mut Gguf)) -> Model {
    let folder = TempDir::new().unwrap();
    let mut parts = Gguf::llama();
    spoil(&mut parts);
    Model::open(&parts.write(folder.path())).unwrap()
}

fn folder(parts: &Folder) -> Model {
    let folder = TempDir::new().unwrap();
    Model::open(&parts.write(folder.path())).unwrap()
}

fn trace(model: &Model) -> Trace {
    model.trace(&Prompt::Text(TEXT.to_owned()), Keep::All, &|_, _| true).unwrap()
}

fn hidden(model: &Model, ids: &[u32]) -> Vec<Vec<f32>> {
    model.hidden(ids, &mut Run::keeping(Keep::Nothing)).unwrap().to_vec2().unwrap()
}

/// The largest difference, of numbers that are all there.
fn difference(a: &[f32], b: &[f32]) -> f32 {
    assert_eq!(a.len(), b.len());
    // NaN is the largest difference of all.
    a.iter()
        .zip(b)
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, |worst, d| if worst.is_nan() || d <= worst { worst } else { d })
}

#[test]
fn both_containers_hold_the_same_llama() {
    let (from_gguf, from_folder) = (gguf(|_| {}), folder(&Folder::llama()));
    let shape = Shape { vocab: VOCAB, layers: LAYERS, q_heads: Q_HEADS, context: CONTEXT, causal: true };
    assert_eq!([from_gguf.shape(), from_folder.shape()], [shape; 2]);
    assert_eq!([from_gguf.family(), from_folder.family()], ["llama"; 2]);

    let ids = from_gguf.tokenizer().encode(TEXT).unwrap();
    assert_eq!(ids, from_folder.tokenizer().encode(TEXT).unwrap());
    assert_eq!(hidden(&from_gguf, &ids), hidden(&from_folder, &ids));

    let (a, b) = (trace(&from_gguf), trace(&from_folder));
    assert_eq!(a.tokens, b.tokens);
    assert_eq!(a.sites.len(), LAYERS);
    for (a, b) in a.sites.iter().zip(&b.sites) {
        assert_eq!(a.q.shape, [ids.len(), Q_HEADS, HEAD_DIM]);
        assert_eq!(a.k.shape, [ids.len(), KV_HEADS, HEAD_DIM]);
        assert_eq!(a.params, b.params);
        for (a, b) in [(&a.q, &b.q), (&a.k, &b.k), (&a.v, &b.v), (&a.out, &b.out)] {
            assert_eq!(a.data[..], b.data[..]);
        }
        assert_eq!(a.lse[..], b.lse[..]);
    }
}

/// The test above could not fail if the order of the rows did not matter.
#[test]
fn the_order_of_q_rows_matters() {
    let twice = gguf(|parts| {
        let q = parts.tensors.get_mut("blk.0.attn_q.weight").unwrap();
        *q = interleave(q, Q_HEADS);
    });
    let at = At { layer: 0, head: 1, ..At::default() };
    let last = trace(&twice).tokens.len() - 1;
    let (wrong, right) = (trace(&twice).row(at, last).unwrap(), trace(&gguf(|_| {})).row(at, last).unwrap());
    let apart = wrong.weights.iter().zip(&right.weights).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(apart > 1e-3, "{apart}");
}

#[test]
fn a_quantised_file_is_the_same_llama_to_its_rounding() {
    let (exact, rounded) = (gguf(|_| {}), gguf(|parts| parts.dtype = GgmlDType::Q8_0));
    let ids = exact.tokenizer().encode(TEXT).unwrap();
    let (a, b) = (hidden(&exact, &ids).concat(), hidden(&rounded, &ids).concat());
    let apart = difference(&a, &b);
    // Eight bits leave about 1/250 of a block's largest weight; two layers of that.
    assert!(apart > 1e-4 && apart < 0.15, "{apart}");
}

#[test]
fn through_the_cache_is_the_same_as_at_once() {
    let model = gguf(|_| {});
    let ids = model.tokenizer().encode(TEXT).unwrap();
    let at_once = hidden(&model, &ids);
    let logits = model.next_logits(&ids, &mut Cache::default()).unwrap();
    assert_eq!(logits.len(), VOCAB);
    for chunk in [1, 2, 5] {
        let (mut cache, mut rows) = (Cache::default(), Vec::new());
        for ids in ids.chunks(chunk) {
            let mut run = Run { cache: Some(&mut cache), ..Run::keeping(Keep::Nothing) };
            rows.extend(model.hidden(ids, &mut run).unwrap().to_vec2::<f32>().unwrap());
        }
        assert_eq!(cache.len(), ids.len());
        let apart = difference(&rows.concat(), &at_once.concat());
        assert!(apart < 2e-5, "chunks of {chunk}: {apart}");

        let mut cache = Cache::default();
        let last = ids.chunks(chunk).map(|ids| model.next_logits(ids, &mut cache).unwrap()).last().unwrap();
        assert!(difference(&last, &logits) < 1e-4, "chunks of {chunk}");
    }
}

/// What a cached run keeps is the lower part of the map: few queries on all keys.
#[test]
fn a_cached_run_keeps_the_rows_it_read() {
    let model = gguf(|_| {});
    let ids = model.tokenizer().encode(TEXT).unwrap();
    let whole = trace(&model);
    let (first, rest) = ids.split_at(ids.len() - 3);
    let mut cache = Cache::default();
    model.hidden(first, &mut Run { cache: Some(&mut cache), ..Run::keeping(Keep::Nothing) }).unwrap();
    let mut run = Run { cache: Some(&mut cache), ..Run::keeping(Keep::All) };
    model.hidden(rest, &mut run).unwrap();
    assert_eq!(run.sites.len(), LAYERS);
    for (part, whole) in run.sites.iter().zip(&whole.sites) {
        assert_eq!((part.q_len(), part.kv_len()), (3, ids.len()));
        assert_eq!(part.position(0), Some(first.len()));
        for head in 0..Q_HEADS {
            for query in 0..3 {
                let (a, b) = (part.lse[head * 3 + query], whole.lse[head * ids.len() + first.len() + query]);
                assert!((a - b).abs() < 1e-4, "head {head} query {query}: {a} for {b}");
            }
        }
    }
}

#[test]
fn every_head_proves_itself() {
    for model in [gguf(|_| {}), folder(&Folder::llama()), folder(&Folder::bert())] {
        let heads = trace(&model).heads(None).unwrap();
        assert_eq!(heads.len(), LAYERS * Q_HEADS);
        for head in heads {
            assert!(head.proof.row_sum_error < 1e-5 && head.proof.output_error < 1e-5, "{head:?}");
        }
    }
}

#[test]
fn a_text_is_cut_by_the_rules_of_the_file() {
    let model = gguf(|_| {});
    let texts = |text: &str| -> Vec<String> {
        let ids = model.tokenizer().encode(text).unwrap();
        model.tokenizer().tokens(&ids).into_iter().map(|token| token.text).collect()
    };
    assert_eq!(texts("the the 42"), ["the", " the", " ", "4", "2"]);
    // Merges never cross a digit, and a mark is one token.
    assert_eq!(texts("th3er<|end|>"), ["th", "3", "er", END]);
    let ids = model.tokenizer().encode(END).unwrap();
    assert_eq!(ids, [VOCAB as u32 - 1]);
    assert!(model.tokenizer().tokens(&ids)[0].special);
    assert!(model.tokenizer().ends(ids[0]));
}

#[test]
fn bert_sees_both_ways_and_has_no_words_of_its_own() {
    let model = folder(&Folder::bert());
    assert_eq!(model.family(), "bert");
    let trace = model.trace(&Prompt::Text("The robot was tired.".to_owned()), Keep::All, &|_, _| true).unwrap();
    let shown: Vec<&str> = trace.tokens.iter().map(|token| &*token.text).collect();
    assert_eq!(shown, ["[CLS]", "the", "robot", "was", "tire", "##d", ".", "[SEP]"]);
    assert_eq!(trace.tokens.iter().map(|token| token.special).collect::<Vec<_>>(), {
        let mut special = [false; 8];
        (special[0], special[7]) = (true, true);
        special
    });
    let first = trace.row(At { layer: 1, head: 2, ..At::default() }, 0).unwrap();
    assert_eq!(first.visible, 8);
    assert!(first.weights.iter().all(|weight| *weight > 0.0));

    let refused = model.generate(&Prompt::Text("the".to_owned()), &Sampling::greedy(1), |_| true).unwrap_err();
    assert!(refused.to_string().contains("is an encoder and no decoder"), "{refused}");
}

/// Greedy by hand: each token is the likeliest after all before it.
#[test]
fn generation_takes_the_likeliest_until_the_context_is_full() {
    let model = gguf(|_| {});
    let prompt = model.tokenizer().encode("the other").unwrap();
    let new = model.generate(&Prompt::Ids(prompt.clone()), &Sampling::greedy(1000), |_| true).unwrap().ids;
    let mut read = prompt.clone();
    for id in &new {
        let logits = model.next_logits(&read, &mut Cache::default()).unwrap();
        let best = (0..VOCAB).max_by(|a, b| logits[*a].total_cmp(&logits[*b])).unwrap();
        assert_eq!(*id as usize, best);
        read.push(*id);
    }
    let ended = read.len() < CONTEXT
        && (0..VOCAB).max_by(|a, b| {
            let logits = model.next_logits(&read, &mut Cache::default()).unwrap();
            logits[*a].total_cmp(&logits[*b])
        }) == Some(VOCAB - 1);
    assert!(read.len() == CONTEXT || ended, "{} tokens", read.len());

    let none = model.generate(&Prompt::Ids(prompt), &Sampling::greedy(0), |_| true).unwrap().ids;
    assert!(none.is_empty());
}

/// A folder's own end mark (config.json) ends a text as a GGUF file's does.
#[test]
fn an_end_mark_ends_a_text_in_either_container() {
    for model in [gguf(|_| {}), folder(&Folder::llama())] {
        assert!(model.tokenizer().ends(VOCAB as u32 - 1), "{}", model.name());
        assert!(!model.tokenizer().ends(0));
    }
}

#[test]
fn a_model_says_what_its_weights_are() {
    let (from_gguf, dir) = (Gguf::llama(), TempDir::new().unwrap());
    let model = Model::open(&from_gguf.write(dir.path())).unwrap();
    let sha256 = model.sha256().unwrap().to_owned();
    assert_eq!(sha256.len(), 64);
    assert_eq!(Model::open(&from_gguf.write(dir.path())).unwrap().sha256(), Some(&*sha256));
    let mut other = Gguf::llama();
    other.dtype = GgmlDType::Q8_0;
    assert_ne!(Model::open(&other.write(dir.path())).unwrap().sha256(), Some(&*sha256));
}

/// A run that ends early must not leave tokens in some layers' caches and not in others'.
#[test]
fn a_stopped_run_leaves_its_cache_as_it_was() {
    let model = gguf(|_| {});
    let ids = model.tokenizer().encode("the other one").unwrap();
    let (first, rest) = ids.split_at(2);
    let mut cache = Cache::default();
    model.next_logits(first, &mut cache).unwrap();
    let mut run = Run { cache: Some(&mut cache), progress: &|done, _| done < 1, ..Run::keeping(Keep::Nothing) };
    assert_eq!(model.hidden(rest, &mut run).unwrap_err().to_string(), "stopped");
    assert_eq!(cache.len(), first.len());
    let want = model.next_logits(&ids, &mut Cache::default()).unwrap();
    assert!(difference(&model.next_logits(rest, &mut cache).unwrap(), &want) < 1e-5);
}

#[test]
fn a_cache_is_refused_where_it_cannot_serve() {
    let model = gguf(|_| {});
    let mut cache = Cache::default();
    let mut run = Run { cache: Some(&mut cache), ..Run::keeping(Keep::Only(0)) };
    assert!(model.hidden(&[1, 2], &mut run).unwrap_err().to_string().starts_with("a cache serves causal models only"));
    let ids = vec![1; CONTEXT];
    let mut cache = Cache::default();
    model.next_logits(&ids, &mut cache).unwrap();
    let error = model.next_logits(&[1], &mut cache).unwrap_err().to_string();
    assert!(error.starts_with(&format!("the text has {} tokens, but this model reads at most {CONTEXT}", CONTEXT + 1)));
}
