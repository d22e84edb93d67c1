//! PyTorch's pickles are not loaded, and what is said is how to convert one.

use std::fs;

use tempfile::TempDir;

use crate::refused;
use crate::tiny::Folder;

const WAY_OUT: [&str; 2] = ["is not loaded", "tools/convert-pickle.py"];

#[test]
fn a_pickle_given_as_a_file_is_refused_by_what_it_is() {
    let folder = TempDir::new().unwrap();
    // A zip archive, a bare pickle, and one that only its name tells.
    for (name, bytes) in [
        ("weights", &b"PK\x03\x04archive/data.pkl"[..]),
        ("old.model", b"\x80\x02}q\x00."),
        ("pytorch_model.bin", b"something else"),
        ("model.PT", b"something else"),
        ("last.ckpt", b"something else"),
    ] {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        refused(&path, &WAY_OUT);
    }
    let path = folder.path().join("empty.bin");
    fs::write(&path, b"").unwrap();
    refused(&path, &["the file is empty"]);
}

#[test]
fn a_folder_with_nothing_but_pickles_says_which() {
    for (names, said) in [
        (&["training_args.bin", "pytorch_model.bin"][..], "pytorch_model.bin"),
        (&["pytorch_model-00001-of-00002.bin"], "pytorch_model-00001-of-00002.bin"),
        (&["consolidated.00.pth"], "consolidated.00.pth"),
    ] {
        let folder = TempDir::new().unwrap();
        let mut parts = Folder::llama();
        parts.tensors.clear();
        parts.write(folder.path());
        for name in names {
            fs::write(folder.path().join(name), b"PK\x03\x04").unwrap();
        }
        refused(folder.path(), &["no model.safetensors", said, WAY_OUT[0], WAY_OUT[1]]);
    }
    let folder = TempDir::new().unwrap();
    let mut parts = Folder::llama();
    parts.tensors.clear();
    let message = refused(&parts.write(folder.path()), &["no model.safetensors"]);
    assert!(!message.contains("pickle"), "{message}");
}
