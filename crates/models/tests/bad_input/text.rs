//! Texts that a model cannot read.

use attnscope_models::{Ask, Keep, Model, Prompt, Sampling, Source};

use crate::tiny::{CONTEXT, VOCAB};
use crate::{bert, check_message, llama, text};

/// Through every way of reading, with the same words.
fn unread(model: &Model, prompt: Prompt, parts: &[&str]) {
    let ids = model.ids(&prompt).unwrap_err().to_string();
    check_message(&ids, parts);
    let trace = model.trace(&prompt, Keep::All, &|_, _| true).unwrap_err();
    assert_eq!(trace.to_string(), ids);
    let generate = model.generate(&prompt, &Sampling::greedy(1), |_| true).unwrap_err().to_string();
    match model.shape().causal {
        true => assert_eq!(generate, ids),
        // Another text would not help.
        false => check_message(&generate, &["is an encoder and no decoder"]),
    }
}

#[test]
fn an_empty_text_is_refused() {
    for model in [llama(), bert()] {
        unread(&model, text(""), &["the text is empty", "--text"]);
        unread(&model, text(" \n\t"), &["the text is empty"]);
        unread(&model, Prompt::Ids(vec![]), &["no token"]);
    }
}

#[test]
fn a_text_beyond_the_context_is_refused_with_both_numbers() {
    let context = CONTEXT.to_string();
    let model = llama();
    let fits = "x".repeat(CONTEXT);
    assert_eq!(model.ids(&text(&fits)).unwrap().len(), CONTEXT);
    model.trace(&text(&fits), Keep::All, &|_, _| true).unwrap();
    assert!(model.generate(&text(&fits), &Sampling::greedy(5), |_| true).unwrap().ids.is_empty());
    unread(&model, text(&(fits + "x")), &["25 tokens", &context, "shorten"]);
    unread(&model, Prompt::Ids(vec![1; 1000]), &["1000 tokens", &context]);

    // The two marks count.
    let model = bert();
    let fits = "a ".repeat(CONTEXT - 2);
    model.trace(&text(&fits), Keep::All, &|_, _| true).unwrap();
    unread(&model, text(&(fits + "a")), &["25 tokens", &context]);
}

#[test]
fn an_id_beyond_the_vocabulary_is_refused_with_the_range() {
    let last = (VOCAB - 1).to_string();
    let model = llama();
    model.trace(&Prompt::Ids(vec![0, VOCAB as u32 - 1]), Keep::All, &|_, _| true).unwrap();
    for id in [VOCAB as u32, u32::MAX] {
        unread(&model, Prompt::Ids(vec![3, id]), &[&id.to_string(), "vocabulary", "0 to", &last]);
    }
}

/// Below the checks of a prompt, ids go in as they are; they still must not bring the program down.
#[test]
fn unchecked_ids_are_an_error_and_no_panic() {
    let mut run = attnscope_models::Run::keeping(Keep::Nothing);
    for model in [llama(), bert()] {
        assert!(model.hidden(&[1_000_000], &mut run).is_err());
        assert!(model.hidden(&[], &mut run).is_err());
        assert!(model.next_logits(&[], &mut attnscope_models::Cache::default()).is_err());
    }
}

#[test]
fn a_layer_that_is_not_there_is_refused_with_the_range() {
    let source = Source::Model(Box::new(llama()));
    let ask = Ask { prompt: Some(text("the")), keep: Keep::Only(2), ..Ask::default() };
    check_message(&source.trace(ask).unwrap_err().to_string(), &["layer 2 is out of range", "layers 0 to 1"]);
}

#[test]
fn a_source_is_read_as_what_it_is() {
    let ask = |prompt: Option<Prompt>, causal| Ask { prompt, causal, ..Ask::default() };
    let causal = Source::Model(Box::new(llama()));
    check_message(&causal.trace(ask(None, Some(false))).unwrap_err().to_string(), &["is causal", "only the example"]);
    let both = Source::Model(Box::new(bert()));
    check_message(&both.trace(ask(None, Some(true))).unwrap_err().to_string(), &["is bidirectional"]);
    let example = Source::open("example").unwrap();
    check_message(
        &example.trace(ask(Some(text("other")), None)).unwrap_err().to_string(),
        &["the worked example has a text of its own"],
    );
    // A plain name could be one of the Hub.
    let nowhere = Source::open("./no-such-model").err().unwrap().to_string();
    check_message(&nowhere, &["no-such-model", "no such file or folder", "`example`"]);
}
