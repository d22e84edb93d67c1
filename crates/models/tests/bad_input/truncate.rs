//! Texts longer than the context, cut on demand.

use std::path::Path;

use attnscope_models::{Keep, Model, Prompt, Reading, Truncated};

use crate::tiny::CONTEXT;
use crate::{bert, llama, text};

/// The tokens that are read of a prompt, and what was cut.
fn cut(model: &Model, prompt: Prompt, room: usize) -> (Reading, Vec<Truncated>) {
    let (prompt, cut) = model.truncate(prompt, room).unwrap();
    (model.reading(&prompt).unwrap(), cut)
}

#[test]
fn what_fits_is_left_as_it_is() {
    for (model, fits) in [(llama(), "x".repeat(CONTEXT)), (bert(), "a ".repeat(CONTEXT - 2))] {
        assert_eq!(model.truncate(text(&fits), 0).unwrap(), (text(&fits), vec![]));
        let ids = Prompt::Ids(vec![3; CONTEXT]);
        assert_eq!(model.truncate(ids.clone(), 0).unwrap(), (ids, vec![]));
    }
}

#[test]
fn a_text_is_cut_at_its_end() {
    let model = llama();
    let long: String = ('a'..='z').chain('a'..='z').collect();
    let whole = model.tokenizer().encode(&long).unwrap();
    let (reading, cut) = cut(&model, text(&long), 0);
    assert_eq!(reading.ids, whole[..CONTEXT]);
    assert_eq!(cut, [Truncated { had: whole.len(), kept: CONTEXT }]);
    let (prompt, _) = model.truncate(text(&long), 0).unwrap();
    let trace = model.trace(&prompt, Keep::All, &|_, _| true).unwrap();
    assert_eq!((trace.tokens.len(), &trace.text[..]), (CONTEXT, &long[..CONTEXT]));
}

/// As transformers' `truncation=True`: [CLS] and [SEP] stay.
#[test]
fn marks_at_the_end_stay() {
    let model = bert();
    let ends = model.tokenizer().encode("").unwrap();
    let (reading, cut) = cut(&model, text("the robot ".repeat(20)), 0);
    let middle = model.tokenizer().encode(&"the robot ".repeat(CONTEXT / 2 - 1)).unwrap();
    assert_eq!(reading.ids, middle);
    assert_eq!((reading.ids.len(), reading.ids[0], reading.ids[CONTEXT - 1]), (CONTEXT, ends[0], ends[1]));
    assert_eq!(cut, [Truncated { had: 42, kept: CONTEXT }]);
}

/// As transformers' `truncation="longest_first"`: tokens are taken from the longer of the two.
#[test]
fn of_a_pair_the_longer_text_is_cut() {
    let model = bert();
    for (first, second) in [("a ".repeat(40), "b c".to_owned()), ("b c".to_owned(), "a ".repeat(40))] {
        let (reading, cut) = cut(&model, Prompt::Pair(first.clone(), second.clone()), 0);
        assert_eq!(
            cut,
            [Truncated { had: model.tokenizer().encode_pair(&first, &second).unwrap().0.len(), kept: CONTEXT }]
        );
        let fits = |text: &str| text[..text.len().min(2 * (CONTEXT - 4))].to_owned();
        let (ids, types) = model.tokenizer().encode_pair(&fits(&first), &fits(&second)).unwrap();
        assert_eq!((reading.ids, reading.types), (ids, Some(types)));
    }
}

#[test]
fn ids_are_cut_as_they_are_with_what_is_known_of_them() {
    let model = bert();
    let known = Reading {
        ids: (0..30).map(|id| id % 19).collect(),
        types: Some((0..30).map(|at| u32::from(at > 9)).collect()),
        real: Some((0..30).map(|at| at > 2).collect()),
    };
    let (reading, cut) = cut(&model, Prompt::Tokens(known.clone()), 0);
    assert_eq!(cut, [Truncated { had: 30, kept: CONTEXT }]);
    assert_eq!(reading.ids, known.ids[..CONTEXT]);
    assert_eq!(reading.types.as_deref(), Some(&known.types.unwrap()[..CONTEXT]));
    assert_eq!(reading.real.as_deref(), Some(&known.real.unwrap()[..CONTEXT]));
}

#[test]
fn room_is_left_for_what_comes_after() {
    let model = llama();
    for (room, kept) in [(0, CONTEXT), (5, CONTEXT - 5), (CONTEXT, 1), (usize::MAX, 1)] {
        let (reading, cut) = cut(&model, text("x".repeat(100)), room);
        assert_eq!((reading.ids.len(), &cut[..]), (kept, &[Truncated { had: 100, kept }][..]));
    }
}

#[test]
fn the_two_texts_of_an_encoder_decoder_are_cut_each_by_itself() {
    let model = Model::open(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tiny/bart-lm")).unwrap();
    let context = model.shape().context;
    let halves = |encoder: String, decoder: String| Prompt::Halves {
        encoder: Box::new(text(encoder)),
        decoder: Box::new(text(decoder)),
    };
    let long = "the keys ".repeat(context);
    let (prompt, cut) = model.truncate(halves(long.clone(), "the".to_owned()), 0).unwrap();
    assert_eq!(cut.len(), 1);
    let trace = model.trace(&prompt, Keep::All, &|_, _| true).unwrap();
    assert_eq!(trace.encoder.unwrap().tokens.len(), context);

    let (prompt, cut) = model.truncate(halves("the".to_owned(), long), 0).unwrap();
    assert_eq!(cut.iter().map(|cut| cut.kept).collect::<Vec<_>>(), [context]);
    let short = model.trace(&halves("the".to_owned(), "the keys".to_owned()), Keep::All, &|_, _| true).unwrap();
    let trace = model.trace(&prompt, Keep::All, &|_, _| true).unwrap();
    assert_eq!(trace.tokens.len(), context);
    assert_eq!(trace.tokens[..3], short.tokens[..3]);
}
