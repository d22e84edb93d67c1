//! Runs that go on after a cache: positions are those of the whole text.

use attnscope_inspect::{At, SiteKind};
use attnscope_models::{Cache, Heads, Interventions, Keep, Mean, Model, Run};

use crate::support::{Case, Tiny, apart, every, trace, vectors};

fn in_chunks(model: &Model, case: &Case, chunk: usize, interventions: &Interventions) -> Result<Vec<Vec<f32>>, String> {
    let said = |error: attnscope_models::Error| error.to_string();
    let mut cache = match &case.decoder_ids {
        None => Cache::default(),
        Some(_) => {
            let mut run = Run { interventions, ..Run::keeping(Keep::Nothing) };
            Cache::after(model.encode(&case.ids, &mut run).map_err(said)?)
        }
    };
    let mut rows = Vec::new();
    for ids in case.read().chunks(chunk) {
        let mut run = Run { cache: Some(&mut cache), interventions, ..Run::keeping(Keep::Nothing) };
        rows.extend(model.hidden(ids, &mut run).map_err(said)?.to_vec2::<f32>().unwrap());
    }
    Ok(rows)
}

/// Every kind of change that a cache allows.
fn changes(tiny: &Tiny, case: &Case) -> Vec<Interventions> {
    let last = case.read().len() - 1;
    let mut other = case.clone();
    other.read_mut()[2] = 31;
    let theirs = trace(&tiny.model, &other, Interventions::NONE);
    let decoder = tiny.kinds().into_iter().filter(|kind| *kind != SiteKind::Encoder);
    let of = decoder.flat_map(|site| {
        let layer = tiny.last(site);
        let head = Heads { site, layer: Some(layer), head: Some(1) };
        let none = Interventions::default();
        [
            none.clone().cut(every(site), Some(last), Some(last - 1)),
            none.clone().cut(every(site), None, Some(1)),
            none.clone().cut(head, Some(2), None),
            none.clone().cut(head, None, None),
            none.clone().mean(head, Mean::Given(vec![0.25; theirs.site(site, layer).unwrap().v_head_dim()])),
            none.pattern(At { site, layer, head: 1 }, &theirs).unwrap(),
        ]
    });
    of.chain([tiny.model.without_attention()]).collect()
}

#[test]
fn at_once_in_chunks_and_token_by_token_are_the_same() {
    let mut seen = 0;
    for tiny in Tiny::all().filter(|tiny| tiny.model.shape().causal) {
        // Short enough for angles that depend on the length of a text to be those of a short one.
        let mut case = tiny.text().clone();
        case.read_mut().truncate(14);
        for interventions in changes(&tiny, &case) {
            let at_once = vectors(&tiny.model, &case, &interventions);
            let plain = vectors(&tiny.model, &case, Interventions::NONE);
            assert!(apart(&at_once, &plain) > 1e-4, "{} {interventions}", tiny.name);
            for chunk in [1, 5] {
                let off = apart(&in_chunks(&tiny.model, &case, chunk, &interventions).unwrap(), &at_once);
                assert!(off <= 1e-5, "{} {interventions} in chunks of {chunk}: {off}", tiny.name);
            }
        }
        seen += 1;
    }
    assert!(seen >= 25, "{seen}");
}

#[test]
fn what_a_cache_cannot_know_is_refused() {
    let tiny = Tiny::named("llama-tied");
    let heads = Heads { layer: Some(0), ..Heads::default() };
    let mean = Interventions::default().mean(heads, Mean::OfThisRun);
    let refused = in_chunks(&tiny.model, tiny.text(), 3, &mean).unwrap_err();
    assert!(refused.contains("not known before its end") && refused.contains("another run"), "{refused}");
    // A pattern ends where its text did.
    let mut short = tiny.text().clone();
    short.ids.truncate(9);
    let pattern =
        Interventions::default().pattern(At::default(), &trace(&tiny.model, &short, Interventions::NONE)).unwrap();
    let refused = in_chunks(&tiny.model, tiny.text(), 5, &pattern).unwrap_err();
    assert!(refused.contains("is of 9 queries and 9 keys, but this run has 10 and 10"), "{refused}");
}
