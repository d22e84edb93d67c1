//! Tokenizers put together from a header: ids as SentencePiece has them, and as a folder's tokenizer.json has them.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use attnscope_models::{Chat, Model, Prompt};
use candle_core::quantized::gguf_file::Value;
use candle_core::{DType, Device, Tensor};
use serde::Deserialize;
use serde_json::{Value as Json, json};
use tempfile::TempDir;

use crate::checkpoints::Tiny;
use crate::tiny::{Folder, Gguf, HIDDEN, byte_bpe};
use crate::writer::{gguf_of, open, text};

#[derive(Deserialize)]
struct Case {
    name: String,
    text: String,
    ids: Vec<u32>,
}

#[derive(Deserialize)]
struct Pieces {
    blank_first: bool,
    pieces: Vec<(String, f32, i32)>,
    texts: Vec<Case>,
}

fn expected(name: &str) -> Json {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/expected").join(name);
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// Texts that tokenizers get wrong.
fn nasty() -> Vec<String> {
    let texts: Vec<Case> = serde_json::from_value(expected("smollm2-tokens.json")["texts"].take()).unwrap();
    texts.into_iter().map(|case| case.text).chain(["gone quickly".to_owned()]).collect()
}

/// The header of a SentencePiece vocabulary, in place of the one that is there.
fn with_pieces(mut gguf: Gguf, pieces: &Pieces) -> Gguf {
    gguf.metadata.retain(|key, _| !key.starts_with("tokenizer."));
    let list = |each: &dyn Fn(&(String, f32, i32)) -> Value| Value::Array(pieces.pieces.iter().map(each).collect());
    gguf.set("tokenizer.ggml.model", text("llama"));
    gguf.set("tokenizer.ggml.pre", text("default"));
    gguf.set("tokenizer.ggml.tokens", list(&|piece| text(&piece.0)));
    gguf.set("tokenizer.ggml.scores", list(&|piece| Value::F32(piece.1)));
    gguf.set("tokenizer.ggml.token_type", list(&|piece| Value::I32(piece.2)));
    for (key, id) in [("unknown", 0), ("bos", 1), ("eos", 2)] {
        gguf.set(&format!("tokenizer.ggml.{key}_token_id"), Value::U32(id));
    }
    if !pieces.blank_first {
        gguf.set("tokenizer.ggml.add_space_prefix", Value::Bool(false));
    }
    for name in ["token_embd.weight", "output.weight"] {
        if let Some(tensor) = gguf.tensors.get_mut(name) {
            *tensor = Tensor::ones((pieces.pieces.len(), HIDDEN), DType::F32, &Device::Cpu).unwrap();
        }
    }
    gguf
}

#[test]
fn a_sentencepiece_vocabulary_gives_the_ids_of_sentencepiece() {
    let expected: HashMap<String, Pieces> = serde_json::from_value(expected("sentencepiece.json")).unwrap();
    assert_eq!(expected.len(), 2);
    for (name, pieces) in &expected {
        let mut gguf = with_pieces(Gguf::llama(), pieces);
        let begun = open(&gguf);
        gguf.set("tokenizer.ggml.add_bos_token", Value::Bool(false));
        let model = open(&gguf);
        for case in &pieces.texts {
            let ids = model.tokenizer().encode(&case.text).unwrap();
            assert_eq!(ids, case.ids, "{name}: {}", case.name);
            // A mark comes before every text where the header does not say otherwise.
            assert_eq!(begun.tokenizer().encode(&case.text).unwrap(), [&[1], &ids[..]].concat(), "{name}");
            assert_eq!(model.tokenizer().decode(&ids).unwrap(), case.text, "{name}: {}", case.name);
            let tokens = model.tokenizer().tokens(&ids);
            assert!(tokens.iter().all(|token| !token.text.contains('\u{fffd}') || case.text.contains('\u{fffd}')));
        }
    }
}

/// A Phi-3's marks take the blanks after them; those of others do not, nor does the one that begins a text.
#[test]
fn marks_of_a_phi3_swallow_blanks() {
    let expected: HashMap<String, Pieces> = serde_json::from_value(expected("sentencepiece.json")).unwrap();
    let mut pieces = expected.into_iter().find(|(name, _)| name == "llama").unwrap().1;
    *pieces.pieces.last_mut().unwrap() = ("<|user|>".to_owned(), 0.0, 3);
    for (gguf, swallows) in [(gguf_of(&Tiny::named("phi3-window").path), true), (Gguf::llama(), false)] {
        let model = open(&with_pieces(gguf, &pieces));
        let ids = |text: &str| model.tokenizer().encode(text).unwrap();
        assert_eq!(ids("<|user|> \n the") == ids("<|user|>the"), swallows);
        assert_ne!(ids("<s>  the"), ids("<s>the"));
        assert!(model.tokenizer().tokens(&ids("<|user|>"))[1].special);
    }
}

/// A byte BPE whose merges go across every boundary that a rule could draw: the commonest pairs of the nasty texts.
fn reckless() -> (Vec<String>, Vec<String>) {
    let (mut tokens, _) = byte_bpe();
    tokens.truncate(256);
    let texts = nasty().join("\n\n");
    let mut known: HashMap<u8, String> = HashMap::new();
    let mut others = 0x100u32..;
    for byte in 0..=255u8 {
        let prints = matches!(byte, 0x21..=0x7E | 0xA1..=0xAC | 0xAE..=0xFF);
        let code = if prints { u32::from(byte) } else { others.next().unwrap() };
        known.insert(byte, char::from_u32(code).unwrap().to_string());
    }
    let mut text: Vec<String> = texts.bytes().map(|byte| known[&byte].clone()).collect();
    let mut merges = Vec::new();
    for _ in 0..400 {
        let mut counts: HashMap<(&str, &str), usize> = HashMap::new();
        for pair in text.windows(2) {
            *counts.entry((&pair[0], &pair[1])).or_default() += 1;
        }
        let (pair, _) = counts.into_iter().max_by_key(|(pair, count)| (*count, *pair)).unwrap();
        let (left, right) = (pair.0.to_owned(), pair.1.to_owned());
        let merged = format!("{left}{right}");
        let mut next: Vec<String> = Vec::with_capacity(text.len());
        let mut at = 0;
        while at < text.len() {
            let here = text[at] == left && text.get(at + 1) == Some(&right);
            next.push(if here { merged.clone() } else { text[at].clone() });
            at += if here { 2 } else { 1 };
        }
        text = next;
        if !tokens.contains(&merged) {
            tokens.push(merged);
            merges.push(format!("{left} {right}"));
        }
    }
    // No merges lead to this one: only a rule that takes pieces whole finds it.
    tokens.extend(["\u{120}quickly", "<|end|>"].map(str::to_owned));
    (tokens, merges)
}

/// A tokenizer.json as the models of a rule have it.
fn tokenizer_json(pattern: Option<&str>, digits: bool, nfc: bool, whole: bool) -> Json {
    let (tokens, merges) = reckless();
    let mut json = Folder::llama().tokenizer;
    let byte_level =
        |regex: bool| json!({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": regex});
    let first = match pattern {
        Some(pattern) => {
            vec![json!({"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": false})]
        }
        None if digits => vec![json!({"type": "Digits", "individual_digits": true})],
        None => vec![],
    };
    let steps = [first, vec![byte_level(pattern.is_none())]].concat();
    json["pre_tokenizer"] = json!({"type": "Sequence", "pretokenizers": steps});
    json["normalizer"] = if nfc { json!({"type": "NFC"}) } else { Json::Null };
    json["model"]["ignore_merges"] = json!(whole);
    let vocab: serde_json::Map<String, Json> =
        tokens.iter().enumerate().map(|(id, token)| (token.clone(), json!(id))).collect();
    json["added_tokens"][0]["id"] = json!(tokens.len() - 1);
    json["model"]["vocab"] = vocab.into();
    json["model"]["merges"] = json!(merges);
    json
}

#[test]
fn each_rule_cuts_texts_as_the_models_of_its_name_do() {
    let cl100k = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
    let qwen = cl100k.replace(r"\p{N}{1,3}", r"\p{N}");
    let cased = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+@|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*@|\p{N}#| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+";
    let tekken = cased.replace(['@', '#'], "");
    let o200k = cased.replace('@', "(?i:'s|'t|'re|'ve|'m|'ll|'d)?").replace('#', "{1,3}");
    let rules = [
        ("gpt-2", tokenizer_json(None, false, false, false)),
        ("smollm", tokenizer_json(None, true, false, false)),
        ("llama-bpe", tokenizer_json(Some(cl100k), false, false, true)),
        ("dbrx", tokenizer_json(Some(cl100k), false, false, false)),
        ("qwen2", tokenizer_json(Some(&qwen), false, true, false)),
        ("tekken", tokenizer_json(Some(&tekken), false, false, true)),
        ("gpt-4o", tokenizer_json(Some(&o200k), false, false, false)),
    ];
    let (tokens, merges) = reckless();
    let rows = tokens.len();
    let texts = |texts: Vec<String>| Value::Array(texts.into_iter().map(Value::String).collect());
    let mut seen: Vec<Vec<Vec<u32>>> = Vec::new();
    for (rule, json) in rules {
        let mut gguf = Gguf::llama();
        gguf.set("tokenizer.ggml.pre", text(rule));
        gguf.set("tokenizer.ggml.tokens", texts(tokens.clone()));
        gguf.set("tokenizer.ggml.merges", texts(merges.clone()));
        let types = (0..rows).map(|id| Value::I32(if id + 1 == rows { 3 } else { 1 })).collect();
        gguf.set("tokenizer.ggml.token_type", Value::Array(types));
        gguf.set("tokenizer.ggml.eos_token_id", Value::U32(rows as u32 - 1));
        let embedding = Tensor::ones((rows, HIDDEN), DType::F32, &Device::Cpu).unwrap();
        gguf.tensors.insert("token_embd.weight".to_owned(), embedding.clone());
        let mut folder = Folder::llama();
        folder.tokenizer = json;
        folder.config["vocab_size"] = json!(rows);
        folder.config["eos_token_id"] = json!(rows - 1);
        folder.tensors.insert("model.embed_tokens.weight".to_owned(), embedding);
        let place = TempDir::new().unwrap();
        let (here, there) = (open(&gguf), Model::open(&folder.write(place.path())).unwrap());
        let all: Vec<Vec<u32>> = nasty().iter().map(|text| here.tokenizer().encode(text).unwrap()).collect();
        for (ids, text) in all.iter().zip(nasty()) {
            assert_eq!(*ids, there.tokenizer().encode(&text).unwrap(), "{rule}: {text:?}");
        }
        // Were two rules one, this test could not tell which is meant.
        assert!(!seen.contains(&all), "{rule}");
        seen.push(all);
    }
}

/// Where a rule's models begin texts with a mark and a file does not say, it is theirs.
#[test]
fn a_mark_begins_a_text_where_the_file_or_its_rule_says_so() {
    for (rule, said, begins) in [
        ("llama-bpe", None, true),
        ("llama-bpe", Some(false), false),
        ("gpt-2", None, false),
        ("gpt-2", Some(true), true),
    ] {
        let mut gguf = gguf_of(&Tiny::named("llama-llama3").path);
        gguf.set("tokenizer.ggml.pre", text(rule));
        gguf.set("tokenizer.ggml.bos_token_id", Value::U32(159));
        if let Some(said) = said {
            gguf.set("tokenizer.ggml.add_bos_token", Value::Bool(said));
        }
        let ids = open(&gguf).tokenizer().encode("the").unwrap();
        assert_eq!(ids[0] == 159, begins, "{rule} {said:?}: {ids:?}");
        gguf.set("tokenizer.ggml.add_eos_token", Value::Bool(true));
        assert_eq!(open(&gguf).tokenizer().encode("the").unwrap().last(), Some(&159));
    }
}

#[test]
fn the_template_of_a_conversation_comes_with_the_file() {
    let mut gguf = Gguf::llama();
    let asked = Prompt::Chat(Chat::of(None, "a", true));
    assert!(open(&gguf).ids(&asked).unwrap_err().to_string().contains("template"));
    gguf.set("tokenizer.chat_template", text("{{ messages[0].content }}a"));
    let model = open(&gguf);
    assert_eq!(model.ids(&asked).unwrap(), model.tokenizer().encode_unmarked("aa").unwrap());
}
