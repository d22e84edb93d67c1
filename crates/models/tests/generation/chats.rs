//! Conversations by a model's own template, and texts without marks.

use std::fs;

use attnscope_models::{Chat, Keep, Model, Prompt, Sampling};
use candle_core::quantized::gguf_file::Value;
use serde_json::{Value as Json, json};
use tempfile::TempDir;

use crate::tiny::{Folder, Gguf};

const SMOLLM2: &str = "smollm2-135m-instruct.Q4_1.gguf";
const TURNS: &str = "{% for message in messages %}{{ message.role }}:{{ message.content }}\n{% endfor %}\
                     {% if add_generation_prompt %}>{% endif %}";

/// A BERT with these files beside it.
fn with(files: &[(&str, &str)]) -> (TempDir, Model) {
    let folder = TempDir::new().unwrap();
    for (name, content) in files {
        fs::write(folder.path().join(name), content).unwrap();
    }
    let model = Model::open(&Folder::bert().write(folder.path())).unwrap();
    (folder, model)
}

fn config(template: Json) -> String {
    json!({"cls_token": "[CLS]", "sep_token": {"content": "[SEP]"}, "chat_template": template}).to_string()
}

fn chat(go_on: bool) -> Chat {
    Chat::of(None, "the robot", go_on)
}

/// The ids that transformers' apply_chat_template gives, with this file's template and tokens.
#[test]
fn smollm2_reads_conversations_as_in_transformers() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models").join(SMOLLM2);
    if !path.exists() {
        eprintln!("SKIPPED: {SMOLLM2} is not there; tools/fetch-models fetches it");
        return;
    }
    let model = Model::open(&path).unwrap();
    let asked = Prompt::Chat(Chat::of(None, "Who are you?", true));
    let want = [
        1, 9690, 198, 2683, 359, 253, 5356, 5646, 11173, 3365, 3511, 308, 34519, 28, 7018, 411, 407, 19712, 8182, 2,
        198, 1, 4093, 198, 10576, 359, 346, 47, 2, 198, 1, 520, 9531, 198,
    ];
    assert_eq!(model.ids(&asked).unwrap(), want);
    let brief = Prompt::Chat(Chat::of(Some("Be brief."), "Who are you?", false));
    let want = [1, 9690, 198, 6077, 5453, 30, 2, 198, 1, 4093, 198, 10576, 359, 346, 47, 2, 198];
    assert_eq!(model.ids(&brief).unwrap(), want);
    // It answers, and the mark that ends its turn is no text.
    let asked = Prompt::Chat(Chat::of(None, "What is the capital of France?", true));
    let said = model.generate(&asked, &Sampling::greedy(60), |_| true).unwrap();
    assert!(said.text.contains("Paris"), "{}", said.text);
    assert!(!said.text.contains("<|im_end|>"));
}

#[test]
fn a_template_is_found_wherever_a_model_may_keep_it() {
    let several = json!([{"name": "tool_use", "template": "no"}, {"name": "default", "template": TURNS}]);
    let mut models = vec![
        with(&[("tokenizer_config.json", &config(json!(TURNS)))]),
        with(&[("tokenizer_config.json", &config(several))]),
        with(&[("chat_template.jinja", TURNS)]),
        // A file of its own goes before.
        with(&[("chat_template.jinja", TURNS), ("tokenizer_config.json", &config(json!("no")))]),
    ];
    let folder = TempDir::new().unwrap();
    let mut file = Gguf::llama();
    file.set("tokenizer.chat_template", Value::String(TURNS.to_owned()));
    let model = Model::open(&file.write(folder.path())).unwrap();
    models.push((folder, model));
    for (_, model) in &models {
        assert_eq!(model.chat(&chat(true)).unwrap(), "user:the robot\n>");
        assert_eq!(model.chat(&Chat::of(Some("a"), "b", false)).unwrap(), "system:a\nuser:b\n");
        let trace = model.trace(&Prompt::Chat(chat(false)), Keep::All, &|_, _| true).unwrap();
        assert_eq!(trace.text, "user:the robot\n");
        assert_eq!(trace.tokens.len(), model.ids(&Prompt::Chat(chat(false))).unwrap().len());
    }
}

/// A template writes the marks itself, and none comes twice.
#[test]
fn marks_of_a_template_are_not_added_again() {
    let marked = config(json!("{{ cls_token }}{{ messages[0]['content'] }}{{ sep_token }}"));
    let (_folder, model) = with(&[("tokenizer_config.json", &marked)]);
    let plain = model.tokenizer().encode("the robot").unwrap();
    assert_eq!(model.ids(&Prompt::Chat(chat(true))).unwrap(), plain);
    let text = |text: &str| Box::new(Prompt::Text(text.to_owned()));
    assert_eq!(model.ids(&Prompt::Unmarked(text("the robot"))).unwrap(), plain[1..plain.len() - 1]);
    let pair = Prompt::Pair("the robot".to_owned(), "a b".to_owned());
    let (with, without) = (model.reading(&pair).unwrap(), model.reading(&Prompt::Unmarked(Box::new(pair))).unwrap());
    assert_eq!((with.ids.len(), without.ids.len()), (6, 4));
    assert_eq!(without.types.unwrap(), [0, 0, 1, 1]);
    for empty in [Prompt::Unmarked(text(" ")), Prompt::Chat(Chat::of(Some("a"), " ", true))] {
        assert!(model.ids(&empty).unwrap_err().to_string().starts_with("the text is empty"));
    }
}

#[test]
fn what_is_no_template_is_said_to_be_none() {
    let long = "x".repeat((1 << 20) + 1);
    for (files, words) in [
        (vec![], "this model has no chat template (chat_template.jinja, or chat_template in tokenizer_config.json)"),
        (vec![("tokenizer_config.json", config(Json::Null))], "no chat template"),
        (vec![("tokenizer_config.json", config(json!(3)))], "chat_template must be a text"),
        (
            vec![("tokenizer_config.json", config(json!([{"name": "rag"}])))],
            "is called \"default\"; there are [\"rag\"]",
        ),
        (vec![("tokenizer_config.json", "{".to_owned())], "is not JSON"),
        (vec![("chat_template.jinja", "{{ raise_exception('no system here') }}".to_owned())], "no system here"),
        (vec![("chat_template.jinja", long)], "1048577 bytes long"),
    ] {
        let files: Vec<(&str, &str)> = files.iter().map(|(name, content)| (*name, content.as_str())).collect();
        let (folder, model) = with(&files);
        let error = model.ids(&Prompt::Chat(chat(false))).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
        assert!(error.starts_with(folder.path().to_str().unwrap()) && error.lines().count() == 1, "{error}");
    }
    let folder = TempDir::new().unwrap();
    let model = Model::open(&Gguf::llama().write(folder.path())).unwrap();
    let error = model.ids(&Prompt::Chat(chat(false))).unwrap_err().to_string();
    assert!(error.contains("no chat template (tokenizer.chat_template in its header); leave out --chat"), "{error}");
}
