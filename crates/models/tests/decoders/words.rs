//! Tokens of a SentencePiece vocabulary as a person reads them.

use std::fs;

use attnscope_models::Model;
use serde_json::{Value, json};

use crate::checkpoints::Tiny;

/// A vocabulary as Llama 2 has one: words with U+2581 for a blank, and bytes for what is no piece.
fn byte_fallback() -> Value {
    let mut pieces: Vec<String> =
        ["<unk>", "<s>", "</s>", "▁", "t", "h", "e", "th", "the", "▁the"].map(str::to_owned).to_vec();
    pieces.extend((0..=255).filter(|byte| (0x80..0xFF).contains(byte)).map(|byte: u32| format!("<0x{byte:02X}>")));
    let vocab: serde_json::Map<String, Value> =
        pieces.iter().enumerate().map(|(id, piece)| (piece.clone(), json!(id))).collect();
    json!({
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": [],
        "normalizer": {"type": "Sequence", "normalizers": [
            {"type": "Prepend", "prepend": "▁"},
            {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
        ]},
        "pre_tokenizer": null, "post_processor": null,
        "decoder": {"type": "Sequence", "decoders": [
            {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
            {"type": "ByteFallback"}, {"type": "Fuse"},
            {"type": "Strip", "content": " ", "start": 1, "stop": 0},
        ]},
        "model": {
            "type": "BPE", "dropout": null, "unk_token": "<unk>", "continuing_subword_prefix": null,
            "end_of_word_suffix": null, "fuse_unk": true, "byte_fallback": true, "ignore_merges": false,
            "vocab": vocab, "merges": ["t h", "th e", "▁ the"],
        },
    })
}

#[test]
fn pieces_with_byte_fallback_read_as_words_and_whole_characters() {
    let folder = Tiny::named("mistral-window").copy().write();
    fs::write(folder.path().join("tokenizer.json"), byte_fallback().to_string()).unwrap();
    let model = Model::open(folder.path()).unwrap();
    let tokenizer = model.tokenizer();
    let text = "the the ሰ";
    let ids = tokenizer.encode(text).unwrap();
    let tokens = tokenizer.tokens(&ids);
    let shown: Vec<(&str, Option<(u32, u32)>)> = tokens.iter().map(|token| (&*token.text, token.part)).collect();
    let parts = [0, 1, 2].map(|part| ("ሰ", Some((part, 3))));
    assert_eq!(shown, [&[(" the", None), (" the", None), (" ", None)], &parts[..]].concat());
    assert_eq!(tokenizer.decode(&ids).unwrap(), text);
}
