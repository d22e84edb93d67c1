//! A model takes the memory of its weights and little more while it is opened and read with.
#![cfg(target_os = "linux")]

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::Command;

use attnscope_models::{Keep, Model, Prompt};
use serde_json::{Map, Value, json};
use tempfile::TempDir;

#[path = "common/tiny.rs"]
mod tiny;

const HIDDEN: usize = 512;
const FFN: usize = 1536;
const LAYERS: usize = 4;

/// In the child: the model to open.
const MODEL: &str = "ATTNSCOPE_MEMORY_OF";

/// A llama of some 50 MB of f32, in two parts, written number by number so that this process stays small.
fn write_model(folder: &Path, layers: usize, dtype: &str, bytes: impl Fn(f32) -> Vec<u8>) -> u64 {
    let tiny::Folder { mut config, tokenizer, .. } = tiny::Folder::llama();
    for (key, value) in [("hidden_size", HIDDEN), ("intermediate_size", FFN), ("num_hidden_layers", layers)] {
        config[key] = json!(value);
    }
    std::fs::write(folder.join("config.json"), config.to_string()).unwrap();
    std::fs::write(folder.join("tokenizer.json"), tokenizer.to_string()).unwrap();
    let mut tensors = vec![("model.embed_tokens".to_owned(), vec![tiny::VOCAB, HIDDEN])];
    tensors.push(("model.norm".to_owned(), vec![HIDDEN]));
    for layer in 0..layers {
        let kv = HIDDEN / 2;
        for (name, shape) in [
            ("input_layernorm", vec![HIDDEN]),
            ("self_attn.q_proj", vec![HIDDEN, HIDDEN]),
            ("self_attn.k_proj", vec![kv, HIDDEN]),
            ("self_attn.v_proj", vec![kv, HIDDEN]),
            ("self_attn.o_proj", vec![HIDDEN, HIDDEN]),
            ("post_attention_layernorm", vec![HIDDEN]),
            ("mlp.gate_proj", vec![FFN, HIDDEN]),
            ("mlp.up_proj", vec![FFN, HIDDEN]),
            ("mlp.down_proj", vec![HIDDEN, FFN]),
        ] {
            tensors.push((format!("model.layers.{layer}.{name}"), shape));
        }
    }
    let numbers = tensors.iter().map(|(_, shape)| shape.iter().product::<usize>()).sum::<usize>();
    let (first, second) = tensors.split_at(tensors.len() / 2);
    let mut map = Map::new();
    for (part, tensors) in [("1.safetensors", first), ("2.safetensors", second)] {
        write_part(&folder.join(part), tensors, dtype, &bytes);
        map.extend(tensors.iter().map(|(name, _)| (format!("{name}.weight"), part.into())));
    }
    std::fs::write(folder.join("model.safetensors.index.json"), json!({"weight_map": map}).to_string()).unwrap();
    4 * numbers as u64
}

fn write_part(path: &Path, tensors: &[(String, Vec<usize>)], dtype: &str, bytes: impl Fn(f32) -> Vec<u8>) {
    let (mut header, mut at, width) = (Map::new(), 0, bytes(0.0).len());
    for (name, shape) in tensors {
        let end = at + shape.iter().product::<usize>() * width;
        let entry: Value = json!({"dtype": dtype, "shape": shape, "data_offsets": [at, end]});
        header.insert(format!("{name}.weight"), entry);
        at = end;
    }
    let mut header = Value::Object(header).to_string();
    header += &" ".repeat(header.len().wrapping_neg() % 8);
    let mut file = BufWriter::new(File::create(path).unwrap());
    file.write_all(&(header.len() as u64).to_le_bytes()).unwrap();
    file.write_all(header.as_bytes()).unwrap();
    for (_, shape) in tensors {
        for i in 0..shape.iter().product::<usize>() {
            file.write_all(&bytes((i % 97) as f32 / 1000.0 - 0.048)).unwrap();
        }
    }
    file.flush().unwrap();
}

/// What Linux says of this process's memory, in bytes.
fn memory(what: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(what)).unwrap();
    line.trim_matches(|c: char| !c.is_ascii_digit()).parse::<u64>().unwrap() * 1024
}

/// What the test below starts in a process of its own: it prints by how much opening a model and reading a few tokens with
/// it raised the memory of the process at most.
#[test]
#[ignore = "it is the other test's child"]
fn child() {
    let Some(path) = std::env::var_os(MODEL) else { return };
    let read = |path: &Path| {
        let model = Model::open(path).unwrap();
        model.trace(&Prompt::Ids(vec![1, 2, 3, 4]), Keep::All, &|_, _| true).unwrap();
    };
    // What the program itself takes when it first does all this is no part of any model: a smaller one is read before.
    let small = TempDir::new().unwrap();
    write_model(small.path(), 1, "F32", |x| x.to_le_bytes().to_vec());
    read(small.path());
    let before = memory("VmRSS:");
    read(Path::new(&path));
    eprintln!("\nraised by {}", memory("VmHWM:") - before);
}

#[test]
fn opening_a_model_takes_its_weights_and_little_more() {
    for (dtype, bytes) in [
        ("F32", (|x: f32| x.to_le_bytes().to_vec()) as fn(f32) -> Vec<u8>),
        ("BF16", |x: f32| x.to_le_bytes()[2..].to_vec()),
    ] {
        let folder = TempDir::new().unwrap();
        let weights = write_model(folder.path(), LAYERS, dtype, bytes);
        assert!((45 << 20..60 << 20).contains(&weights), "{weights}");
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["child", "--exact", "--ignored", "--nocapture"])
            .env(MODEL, folder.path())
            // Buffers of matrix products are there once for each thread that happens to take part.
            .env("RAYON_NUM_THREADS", "1")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&child.stderr).into_owned();
        let raised = said.lines().find_map(|line| line.strip_prefix("raised by ")).unwrap_or_else(|| panic!("{said}"));
        let times = raised.parse::<u64>().unwrap() as f64 / weights as f64;
        eprintln!("{dtype}: {times:.3} of the weights");
        // Much less would mean that the weights were not there at all.
        assert!((0.9..1.15).contains(&times), "{dtype}: {times:.3} times the weights");
    }
}
