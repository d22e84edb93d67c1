//! A cache changes nothing, and nothing comes from later tokens, in any decoder.

use attnscope_models::{Cache, Keep, Model, Run};

use crate::checkpoints::{Tiny, apart, hidden, largest, logits, numbers};

/// The vectors of every token, read a few at a time through a cache.
fn in_chunks<'a>(model: &Model, chunks: impl Iterator<Item = &'a [u32]>) -> Vec<Vec<f32>> {
    let mut cache = Cache::default();
    let mut rows = Vec::new();
    for ids in chunks {
        let mut run = Run { cache: Some(&mut cache), ..Run::keeping(Keep::Nothing) };
        rows.extend(model.hidden(ids, &mut run).unwrap().to_vec2::<f32>().unwrap());
    }
    assert_eq!(cache.len(), rows.len());
    rows
}

#[test]
fn at_once_in_chunks_and_token_by_token_are_the_same() {
    for tiny in Tiny::all() {
        let model = tiny.open();
        // Where the angles depend on the length of the text, they are those of a short one until it is longer.
        let ids = if tiny.turns_by_length() { &tiny.case.ids[..16] } else { &tiny.case.ids[..] };
        let at_once = hidden(&model, ids).concat();
        for chunk in [1, 5, 13] {
            let off = apart(&in_chunks(&model, ids.chunks(chunk)).concat(), &at_once) / f64::from(largest(&at_once));
            assert!(off <= 1e-5, "{} in chunks of {chunk}: {off}", tiny.name);
        }
        // A long chunk after a short one: more queries than walk over a cache as it lies.
        let (first, rest) = ids.split_at(3);
        let off =
            apart(&in_chunks(&model, [first, rest].into_iter()).concat(), &at_once) / f64::from(largest(&at_once));
        assert!(off <= 1e-5, "{} in a short chunk and a long one: {off}", tiny.name);
    }
}

/// Where the angles depend on the length of the text, a key stays turned as it was when it was read: in transformers, and
/// here.
#[test]
fn angles_that_depend_on_the_length_are_those_of_transformers_token_by_token() {
    let mut seen = 0;
    for tiny in Tiny::all() {
        let expected = tiny.expected();
        let Some(want) = expected.get("cached.logits").map(numbers) else { continue };
        assert!(tiny.turns_by_length());
        let (model, mut cache, mut got) = (tiny.open(), Cache::default(), Vec::new());
        for id in &tiny.case.ids {
            got.extend(model.next_logits(&[*id], &mut cache).unwrap());
        }
        let size = f64::from(largest(&want));
        let off = apart(&got, &want) / size;
        assert!(off <= 2e-5, "{}: {off}", tiny.name);
        // That is not what reading all at once gives.
        let at_once = numbers(&logits(&model, &tiny.case.ids));
        assert!(apart(&at_once, &want) / size > 1e-3, "{}", tiny.name);
        seen += 1;
    }
    assert_eq!(seen, 2);
}

#[test]
fn a_later_token_changes_nothing_before_it() {
    for tiny in Tiny::all() {
        let model = tiny.open();
        let mut other = tiny.case.ids.clone();
        for at in [1, 20, other.len() - 1] {
            other.clone_from(&tiny.case.ids);
            other[at] = (other[at] + 7) % 150;
            let (a, b) = (hidden(&model, &tiny.case.ids), hidden(&model, &other));
            assert_eq!(a[..at], b[..at], "{} at {at}", tiny.name);
            assert_ne!(a[at], b[at], "{} at {at}", tiny.name);
        }
    }
}
