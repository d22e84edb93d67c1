//! What is shown of a continuation, and why it ends.

use attnscope_models::{Ended, Generated, Model, Prompt, Sampling};

use crate::support::Tiny;

/// Drawn, so that the text does not run in a circle.
fn drawn() -> Sampling {
    Sampling { temperature: Some(3.0), seed: Some(11), ..Sampling::greedy(20) }
}

/// A model whose tokens are letters and bits of words, a prompt, and what it makes of that.
fn spoken() -> (Model, Prompt, String) {
    let tiny = Tiny::load("llama-tied");
    let (model, prompt) = (tiny.model(), Prompt::Ids(tiny.cases["text"].ids[..8].to_vec()));
    let text = model.generate(&prompt, &drawn(), |_| true).unwrap().text;
    assert!(text.chars().count() > 12, "{text:?}");
    (model, prompt, text)
}

fn pieces(model: &Model, prompt: &Prompt, sampling: &Sampling) -> (Vec<Generated>, attnscope_models::Continuation) {
    let mut pieces = Vec::new();
    let made = model
        .generate(prompt, sampling, |new| {
            pieces.push(new.clone());
            true
        })
        .unwrap();
    (pieces, made)
}

#[test]
fn nothing_is_shown_of_what_stops_a_text_wherever_it_begins() {
    let (model, prompt, text) = spoken();
    let starts: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    let mut over_tokens = 0;
    for (at, start) in starts.iter().enumerate().take(starts.len() - 4) {
        let stop = text[*start..starts[at + 4]].to_owned();
        let want = &text[..text.find(&stop).unwrap()];
        let (pieces, made) = pieces(&model, &prompt, &Sampling { stop: vec![stop.clone()], ..drawn() });
        assert_eq!((made.text.as_str(), made.ended), (want, Ended::StopString), "{stop:?}");
        let shown: String = pieces.iter().map(|piece| piece.text.as_str()).collect();
        assert_eq!(shown, want, "{stop:?}");
        assert_eq!(pieces.iter().filter_map(|piece| piece.id).collect::<Vec<_>>(), made.ids);
        let texts: Vec<String> = made.ids.iter().map(|id| model.tokenizer().decode(&[*id]).unwrap()).collect();
        over_tokens += usize::from(texts.iter().all(|text| !text.contains(&stop)));
    }
    assert!(over_tokens > 3, "hardly any stop string was split over tokens");
}

#[test]
fn what_may_begin_a_stop_string_is_held_back_and_shown_where_it_does_not() {
    let (model, prompt, text) = spoken();
    let start = text.char_indices().nth(text.chars().count() - 2).unwrap().0;
    // Two stop strings that never come: one begins as the text ends, one as each of its words might.
    let stop = vec![format!("{}\u{1F916}", &text[start..]), format!("{}!!", &text[2..6])];
    let (pieces, made) = pieces(&model, &prompt, &Sampling { stop, ..drawn() });
    assert_eq!((made.text.as_str(), made.ended), (text.as_str(), Ended::MaxTokens));
    let shown: String = pieces.iter().map(|piece| piece.text.as_str()).collect();
    assert_eq!(shown, text);
    let last = pieces.last().unwrap();
    assert_eq!((last.id, last.text.as_str()), (None, &text[start..]), "of {text:?}");
}

#[test]
fn the_first_of_several_stop_strings_ends_a_text() {
    let (model, prompt, text) = spoken();
    let (early, late) = (text[3..5].to_owned(), text[7..9].to_owned());
    let stop = vec![late, early.clone()];
    let made = model.generate(&prompt, &Sampling { stop, ..drawn() }, |_| true).unwrap();
    assert!(made.text.len() <= text.find(&early).unwrap());
}

#[test]
fn a_text_says_why_it_ended() {
    let (model, prompt, _) = spoken();
    let ended = |sampling: &Sampling| model.generate(&prompt, sampling, |_| true).unwrap().ended;
    assert_eq!(ended(&Sampling::greedy(3)), Ended::MaxTokens);
    let (context, read) = (model.shape().context, model.ids(&prompt).unwrap().len());
    let full = model.generate(&prompt, &Sampling::greedy(usize::MAX), |_| true).unwrap();
    assert_eq!((full.ended, full.ids.len()), (Ended::Context, context - read));
    let mut left = 2;
    let interrupted = model.generate(&prompt, &Sampling::greedy(20), |_| {
        left -= 1;
        left > 0
    });
    let interrupted = interrupted.unwrap();
    assert_eq!((interrupted.ended, interrupted.ids.len()), (Ended::Interrupted, 2));
    assert_eq!(interrupted.ids, full.ids[..2]);
    assert!(full.prompt_tokens_per_second().unwrap() > 0.0 && full.decode_tokens_per_second().unwrap() > 0.0);
}

/// Of what was not read there is no rate.
#[test]
fn no_token_has_no_rate() {
    let (model, prompt, _) = spoken();
    let made = |tokens| model.generate(&prompt, &Sampling::greedy(tokens), |_| true).unwrap();
    let (none, one) = (made(0), made(1));
    assert_eq!((none.prompt_tokens_per_second(), none.decode_tokens_per_second()), (None, None));
    assert!(one.prompt_tokens_per_second().is_some() && one.decode_tokens_per_second().is_none());
}
