//! Real models against transformers on the same weights.

mod common;

use attnscope_inspect::{At, SiteKind, Trace};
use attnscope_models::{Cache, Keep, Model, Prompt, Run, Sampling};
use common::{expected, model};
use serde::Deserialize;

const SMOLLM2: &str = "smollm2-135m-instruct.Q4_1.gguf";
const MINILM: &str = "all-minilm-l6-v2";
/// An ALBERT that reads chemical reactions; `tools/convert-pickle.py` makes it of a pickle, where torch is at hand.
const RXNMAPPER: &str = "rxnmapper";

#[derive(Deserialize)]
struct Map {
    layer: usize,
    head: usize,
    map: Vec<Vec<f64>>,
}

#[derive(Deserialize)]
struct Some50 {
    ids: Vec<usize>,
    logits: Vec<f32>,
}

#[derive(Deserialize)]
struct Logits {
    max_abs: f32,
    top: Some50,
    sample: Some50,
}

#[derive(Deserialize)]
struct Next {
    prompt: String,
    ids: Vec<u32>,
    tokens: Vec<String>,
}

#[derive(Deserialize)]
struct Continued {
    prompt: String,
    ids: Vec<u32>,
    text: String,
}

#[derive(Deserialize)]
struct SmolLm2 {
    text: String,
    ids: Vec<u32>,
    attention: Vec<Map>,
    final_hidden: Vec<f32>,
    logits: Logits,
    next: Next,
    greedy: Continued,
}

#[derive(Deserialize)]
struct MiniLm {
    text: String,
    ids: Vec<u32>,
    attention: Vec<Map>,
    hidden: Vec<Vec<f32>>,
}

#[derive(Deserialize)]
struct Reaction {
    text: String,
    ids: Vec<u32>,
    tokens: Vec<String>,
    attention: Vec<Map>,
}

#[derive(Deserialize)]
struct Texts {
    texts: Vec<Ids>,
}

#[derive(Deserialize)]
struct Ids {
    name: String,
    text: String,
    ids: Vec<u32>,
}

fn trace(model: &Model, text: &str) -> Trace {
    model.trace(&Prompt::Text(text.to_owned()), Keep::All, &|_, _| true).unwrap()
}

/// Every weight of every expected map, through the cell query, the row query and the tile.
fn same_maps(trace: &Trace, maps: &[Map]) {
    assert!(maps.len() >= 9, "at least 3 layers x 3 heads");
    for Map { layer, head, map } in maps {
        let at = At { layer: *layer, head: *head, site: SiteKind::SelfAttention };
        let tile = trace.tile(at, 0..map.len(), 0..map.len()).unwrap();
        for (query, want) in map.iter().enumerate() {
            let row = trace.row(at, query).unwrap();
            for (key, want) in want.iter().enumerate() {
                let got = row.weights[key];
                // transformers' own f32 error here is 1.5e-6; ours is no larger.
                assert!((got - want).abs() <= 5e-6, "layer {layer} head {head} ({query}, {key}): {got} for {want}");
                let cell = trace.cell(at, query, key).unwrap();
                assert_eq!(cell.weight.to_bits(), got.to_bits());
                let shown = tile.cells[query * map.len() + key];
                assert_eq!(shown.max(0.0), got as f32);
                assert_eq!(shown < 0.0, cell.mask.is_some());
            }
        }
    }
}

fn same_numbers(what: &str, got: &[f32], want: &[f32], allowed: f32) {
    assert_eq!(got.len(), want.len());
    for (index, (got, want)) in got.iter().zip(want).enumerate() {
        assert!((got - want).abs() <= allowed, "{what} {index}: {got} for {want}");
    }
}

#[test]
fn smollm2_is_what_transformers_makes_of_it() {
    let Some(model) = model(SMOLLM2) else { return };
    let want: SmolLm2 = expected("smollm2.json");
    assert_eq!(model.tokenizer().encode(&want.text).unwrap(), want.ids);
    same_maps(&trace(&model, &want.text), &want.attention);

    let logits = model.next_logits(&want.ids, &mut Cache::default()).unwrap();
    for some in [&want.logits.top, &want.logits.sample] {
        let got: Vec<f32> = some.ids.iter().map(|id| logits[*id]).collect();
        same_numbers("logit", &got, &some.logits, 2e-5 * want.logits.max_abs);
    }
    let hidden = model.hidden(&want.ids, &mut Run::keeping(Keep::Nothing)).unwrap();
    let last = hidden.get(want.ids.len() - 1).unwrap().to_vec1::<f32>().unwrap();
    let largest = want.final_hidden.iter().fold(0.0, |max: f32, x| max.max(x.abs()));
    same_numbers("hidden", &last, &want.final_hidden, 2e-5 * largest);
}

#[test]
fn smollm2_goes_on_as_transformers_does() {
    let Some(model) = model(SMOLLM2) else { return };
    let want: SmolLm2 = expected("smollm2.json");
    let mut text = String::new();
    let prompt = Prompt::Text(want.greedy.prompt.clone());
    let options = Sampling::greedy(want.greedy.ids.len());
    let ids = model
        .generate(&prompt, &options, |new| {
            text += &new.text;
            true
        })
        .unwrap()
        .ids;
    assert_eq!(ids, want.greedy.ids);
    assert_eq!(text, want.greedy.text);

    let ids = model.generate(&Prompt::Text(want.next.prompt), &Sampling::greedy(1), |_| true).unwrap().ids;
    assert_eq!(ids, want.next.ids[..1]);
    assert_eq!(model.tokenizer().decode(&ids).unwrap(), want.next.tokens[0]);
}

#[test]
fn through_the_cache_is_the_same_as_at_once() {
    let Some(model) = model(SMOLLM2) else { return };
    let want: SmolLm2 = expected("smollm2.json");
    let at_once = model.next_logits(&want.ids, &mut Cache::default()).unwrap();
    for chunk in [1, 5] {
        let mut cache = Cache::default();
        let mut last = Vec::new();
        for ids in want.ids.chunks(chunk) {
            last = model.next_logits(ids, &mut cache).unwrap();
        }
        assert_eq!(cache.len(), want.ids.len());
        same_numbers("logit", &last, &at_once, 1e-5 * want.logits.max_abs);
    }
}

#[test]
fn a_later_token_changes_nothing_before_it() {
    let Some(model) = model(SMOLLM2) else { return };
    let ids = expected::<SmolLm2>("smollm2.json").ids;
    let mut other = ids.clone();
    other[10] += 1;
    let run = |ids: &[u32]| model.hidden(ids, &mut Run::keeping(Keep::Nothing)).unwrap().to_vec2::<f32>().unwrap();
    let (a, b) = (run(&ids), run(&other));
    assert_eq!(a[..10], b[..10]);
    assert_ne!(a[10], b[10]);
}

#[test]
fn minilm_is_what_transformers_makes_of_it() {
    let Some(model) = model(MINILM) else { return };
    let want: MiniLm = expected("minilm.json");
    assert_eq!(model.tokenizer().encode(&want.text).unwrap(), want.ids);
    same_maps(&trace(&model, &want.text), &want.attention);
    let hidden = model.hidden(&want.ids, &mut Run::keeping(Keep::Nothing)).unwrap().to_vec2::<f32>().unwrap();
    let largest = want.hidden.iter().flatten().fold(0.0, |max: f32, x| max.max(x.abs()));
    for (got, want) in hidden.iter().zip(&want.hidden) {
        same_numbers("hidden", got, want, 2e-5 * largest);
    }
}

/// Head 5 of layer 10 finds for each atom of an ester the atom that it was in the acid or the alcohol. (Schwaller et al.
/// 2021, "Extraction of organic chemistry grammar from unsupervised learning of chemical reactions")
#[test]
fn rxnmapper_maps_the_atoms_of_an_esterification() {
    let Some(model) = model(RXNMAPPER) else { return };
    let want: Reaction = expected("rxnmapper.json");
    assert_eq!(model.tokenizer().encode(&want.text).unwrap(), want.ids);
    let trace = trace(&model, &want.text);
    same_maps(&trace, &want.attention);

    let arrow = want.tokens.iter().position(|token| token == ">>").unwrap();
    let is_atom = |at: &usize| want.tokens[*at].starts_with(|c: char| c.is_alphabetic());
    let before: Vec<usize> = (0..arrow).filter(is_atom).collect();
    let at = At { layer: 10, head: 5, ..At::default() };
    let was = |atom: usize| {
        let row = trace.row(at, atom).unwrap();
        *before.iter().max_by(|a, b| row.weights[**a].total_cmp(&row.weights[**b])).unwrap()
    };
    let mapped: Vec<(usize, usize)> =
        (arrow..want.tokens.len()).filter(is_atom).map(|atom| (atom, was(atom))).collect();
    // CC(Cl)C(=O)O.CO>>CC(Cl)C(=O)OC: the acid gives all but its hydroxyl, the alcohol its oxygen and its carbon.
    assert_eq!(mapped, [(16, 1), (17, 2), (19, 4), (21, 6), (24, 9), (26, 14), (27, 13)]);
}

#[test]
fn token_ids_are_the_models_own() {
    for (file, name) in [("smollm2-tokens.json", SMOLLM2), ("minilm-tokens.json", MINILM)] {
        let Some(model) = model(name) else { continue };
        for text in expected::<Texts>(file).texts {
            assert_eq!(model.tokenizer().encode(&text.text).unwrap(), text.ids, "{name}: {}", text.name);
        }
    }
}

#[test]
fn tokens_read_as_whole_characters() {
    let Some(model) = model(SMOLLM2) else { return };
    let tokenizer = model.tokenizer();
    let text = "naïve 🤖 ሰላም\n a  b";
    let tokens = tokenizer.tokens(&tokenizer.encode(text).unwrap());
    assert!(tokens.iter().all(|token| !token.text.contains('\u{fffd}')), "{tokens:?}");
    // Each group of tokens that shares characters shows them once.
    let shown: String = tokens.iter().filter(|t| t.part.is_none_or(|(part, _)| part == 0)).map(|t| &*t.text).collect();
    assert_eq!(shown, text);
    let robot = tokens.iter().find(|token| token.text.contains('🤖')).unwrap();
    assert!(robot.part.is_some_and(|(_, count)| count > 1));
}

#[test]
fn every_head_of_both_models_proves_itself() {
    let text = "In 1969, the astronauts walked on the moon; half a billion people watched them on television.";
    for name in [SMOLLM2, MINILM] {
        let Some(model) = model(name) else { continue };
        let heads = trace(&model, text).heads(None).unwrap();
        assert_eq!(heads.len(), model.shape().layers * model.shape().q_heads);
        for head in heads {
            assert!(head.proof.row_sum_error < 1e-5 && head.proof.output_error < 1e-5, "{head:?}");
        }
    }
}

#[test]
fn one_layer_alone_is_the_same_layer() {
    let Some(model) = model(SMOLLM2) else { return };
    let prompt = Prompt::Text("The capital of France is".to_owned());
    let all = model.trace(&prompt, Keep::All, &|_, _| true).unwrap();
    let one = model.trace(&prompt, Keep::Only(5), &|_, _| true).unwrap();
    assert_eq!(one.sites.len(), 1);
    let at = At { layer: 5, head: 4, ..At::default() };
    assert_eq!(all.cell(at, 4, 2).unwrap(), one.cell(at, 4, 2).unwrap());
}

#[test]
fn a_run_can_be_stopped() {
    let Some(model) = model(SMOLLM2) else { return };
    let prompt = Prompt::Text("The capital of France is".to_owned());
    let stopped = model.trace(&prompt, Keep::All, &|done, _| done < 3);
    assert_eq!(stopped.unwrap_err().to_string(), "stopped");
}
