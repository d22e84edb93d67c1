//! JSON that is deeper than a stack or longer than any configuration.

use std::fs::File;

use tempfile::TempDir;

use crate::refused;
use crate::tiny::Folder;

const NAMES: [&str; 3] = ["config.json", "tokenizer.json", "generation_config.json"];

/// A tiny Llama with one of its files written anew.
fn with(name: &str, text: &str, parts: &[&str]) {
    let folder = TempDir::new().unwrap();
    Folder::llama().write(folder.path());
    std::fs::write(folder.path().join(name), text).unwrap();
    refused(folder.path(), parts);
}

#[test]
fn deeply_nested_json_is_refused() {
    const DEEP: usize = 200_000;
    for name in NAMES {
        for text in ["[".repeat(DEEP), "{\"a\":".repeat(DEEP), "[".repeat(DEEP) + &"]".repeat(DEEP)] {
            with(name, &text, &[name]);
            with(name, &format!("{{\"model_type\": \"llama\", \"rope_scaling\": {text}}}"), &[name]);
        }
    }
}

#[test]
fn an_index_that_is_deeply_nested_is_refused() {
    let folder = TempDir::new().unwrap();
    Folder::llama().write(folder.path());
    std::fs::remove_file(folder.path().join("model.safetensors")).unwrap();
    let index = folder.path().join("model.safetensors.index.json");
    std::fs::write(index, format!("{{\"weight_map\": {}", "[".repeat(200_000))).unwrap();
    refused(folder.path(), &["model.safetensors.index.json", "is not JSON"]);
}

/// The files have no bytes on the disk, and are not read either.
#[test]
fn huge_json_is_refused_unread() {
    for (name, len) in NAMES.into_iter().zip([1 << 40, 1 << 40, 65 << 20]) {
        let folder = TempDir::new().unwrap();
        Folder::llama().write(folder.path());
        File::create(folder.path().join(name)).unwrap().set_len(len).unwrap();
        refused(folder.path(), &[name, &len.to_string(), "bytes long"]);
    }
}
