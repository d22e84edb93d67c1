//! GGUF files whose very bytes are wrong: not one at all, cut short, or with counts that no file could hold.

use std::fs;

use candle_core::quantized::gguf_file::Value;
use tempfile::TempDir;

use crate::refused;
use crate::tiny::Gguf;

fn bytes(bytes: &[u8], parts: &[&str]) -> String {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("tiny.gguf");
    fs::write(&path, bytes).unwrap();
    refused(&path, parts)
}

/// Where a text first stands in the file.
fn find(file: &[u8], text: &str) -> usize {
    file.windows(text.len()).position(|window| window == text.as_bytes()).unwrap()
}

/// The file with a 64-bit number put at `at`.
fn patched(at: usize, number: u64) -> Vec<u8> {
    let mut file = Gguf::llama().bytes();
    file[at..at + 8].copy_from_slice(&number.to_le_bytes());
    file
}

const ABSURD: [u64; 6] = [1 << 24, 1 << 31, 1 << 40, i64::MAX as u64, u64::MAX - 7, u64::MAX];

#[test]
fn what_is_no_gguf_file_is_said_to_be_none() {
    let folder = TempDir::new().unwrap();
    refused(&folder.path().join("nowhere.gguf"), &["no such file or folder"]);
    bytes(b"", &["the file is empty", "fetch it again"]);
    bytes(b"once upon a time, a file", &["neither a GGUF file nor"]);
    bytes(b"GGU", &["neither a GGUF file nor"]);
    bytes(&[0; 4096], &["neither a GGUF file nor"]);
    let mut newer = Gguf::llama().bytes();
    newer[4] = 9;
    bytes(&newer, &["version 9", "2 and 3 are"]);
    newer[4..8].copy_from_slice(&3u32.to_be_bytes());
    bytes(&newer, &["big-endian"]);
}

#[test]
fn a_file_cut_short_anywhere_is_refused() {
    let file = Gguf::llama().bytes();
    let header = find(&file, "token_embd.weight") + 64;
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("cut.gguf");
    // Whatever follows the last tensor's last byte is padding, and may be missing.
    let end = file.len() - 31;
    for len in (0..header).chain((header..end).step_by(251)).chain([end - 1]) {
        fs::write(&path, &file[..len]).unwrap();
        let part = match len {
            0 => "the file is empty",
            1..4 => "neither a GGUF file",
            _ => "damaged or cut short",
        };
        refused(&path, &[part]);
    }
}

#[test]
fn counts_that_no_file_could_hold_are_refused_before_anything_is_allocated() {
    for count in ABSURD {
        bytes(&patched(8, count), &["damaged", "tensor"]);
        bytes(&patched(16, count), &["damaged", "metadata"]);
        // The length of the first key, of a text, and of a list.
        bytes(&patched(24, count), &["damaged", "string length"]);
        let file = Gguf::llama().bytes();
        bytes(&patched(find(&file, "llama") - 8, count), &["damaged"]);
        let list = find(&file, "tokenizer.ggml.tokens") + "tokenizer.ggml.tokens".len() + 8;
        bytes(&patched(list, count), &["damaged", "array"]);
    }
}

#[test]
fn dimensions_and_offsets_beyond_the_file_are_refused() {
    let file = Gguf::llama().bytes();
    // name, number of dimensions (32 bits), dimensions (64 each), type (32), offset (64)
    let name = "blk.0.attn_k.weight";
    let dims = find(&file, name) + name.len();
    for absurd in ABSURD {
        bytes(&patched(dims + 4, absurd), &["damaged", name, "beyond"]);
        bytes(&patched(dims + 12, absurd), &["damaged", name, "beyond"]);
        bytes(&patched(dims + 24, absurd), &["damaged", name, "beyond"]);
    }
    let mut many = file.clone();
    many[dims..dims + 4].copy_from_slice(&u32::MAX.to_le_bytes());
    bytes(&many, &["damaged", "dimensions"]);
    // Tensors begin where their numbers can be read in place.
    for offset in [1, 4, 30] {
        bytes(&patched(dims + 24, offset), &["damaged", name, "no multiple of 8"]);
    }
}

/// A thousand names for the same bytes would be a thousand times the memory.
#[test]
fn tensors_that_share_their_bytes_are_refused() {
    let mut file = Gguf::llama().bytes();
    for name in Gguf::llama().tensors.keys() {
        // name, number of dimensions, dimensions, type, offset
        let dims = find(&file, name) + name.len();
        let count = file[dims] as usize;
        file[dims + 4 + 8 * count + 4..][..8].copy_from_slice(&0u64.to_le_bytes());
    }
    // All begin together, and a few reach over most of the file.
    for name in Gguf::llama().tensors.keys().filter(|name| name.ends_with("norm.weight")) {
        let dims = find(&file, name) + name.len();
        file[dims + 4..][..8].copy_from_slice(&8000u64.to_le_bytes());
    }
    bytes(&file, &["damaged", "more bytes than it has"]);
}

#[test]
fn an_alignment_of_zero_is_refused_in_every_type_and_spelling() {
    let zeros = [Value::U8(0), Value::I8(0), Value::U16(0), Value::I16(0), Value::U32(0), Value::I32(0), Value::U64(0)];
    for zero in zeros {
        // The reader drops zero bytes at the end of a key, so these are the same key.
        for key in ["general.alignment", "general.alignment\0", "general.alignment\0\0\0"] {
            let folder = TempDir::new().unwrap();
            let mut gguf = Gguf::llama();
            gguf.set(key, zero.clone());
            refused(&gguf.write(folder.path()), &["general.alignment is 0"]);
        }
    }
}

#[test]
fn an_alignment_of_something_is_not_mistaken_for_zero() {
    for alignment in [Value::U8(32), Value::U32(32), Value::U16(256), Value::I32(1 << 16)] {
        let folder = TempDir::new().unwrap();
        let mut gguf = Gguf::llama();
        gguf.set("general.alignment", alignment);
        // The writer pads to 32 whatever the entry says, so another alignment need not open; it is not zero, though.
        if let Err(error) = attnscope_models::Model::open(&gguf.write(folder.path())) {
            assert!(!error.to_string().contains("is 0"), "{error}");
        }
    }
}

#[test]
fn lists_of_lists_of_lists_do_not_exhaust_the_stack() {
    let mut gguf = Gguf::llama();
    let mut nested = Value::U8(1);
    for _ in 0..200 {
        nested = Value::Array(vec![nested]);
    }
    gguf.set("aaa.nested", nested);
    bytes(&gguf.bytes(), &["damaged", "nesting"]);
}
