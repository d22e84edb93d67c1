//! Trace files that are not whole or not what they say: one clear error, and never a panic.

mod common;

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;

use attnscope_inspect::{At, SiteKind, Trace};
use attnscope_kernel::{Params, Window};
use common::{SMALL, site, tokens, trace};
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A trace file taken apart.
struct Parts {
    /// The `attnscope` entry; none if null.
    entry: Value,
    tensors: HashMap<String, (Dtype, Vec<usize>, Vec<u8>)>,
}

/// The bytes of a trace file that is fine.
fn whole() -> Vec<u8> {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("t.safetensors");
    let params = Params { causal: true, window: Some(Window { left: 4, right: 0 }), ..Params::for_head_dim(5) };
    trace(SMALL, &params).save(&path).unwrap();
    fs::read(path).unwrap()
}

impl Parts {
    fn new() -> Self {
        let bytes = whole();
        let file = SafeTensors::deserialize(&bytes).unwrap();
        let (_, metadata) = SafeTensors::read_metadata(&bytes).unwrap();
        let entry = serde_json::from_str(&metadata.metadata().as_ref().unwrap()["attnscope"]).unwrap();
        let taken = |view: TensorView| (view.dtype(), view.shape().to_vec(), view.data().to_vec());
        Self { entry, tensors: file.tensors().into_iter().map(|(name, view)| (name, taken(view))).collect() }
    }

    fn bytes(&self) -> Vec<u8> {
        let entry = match &self.entry {
            Value::Null => None,
            // A text goes in as it is, so that it need not be JSON.
            Value::String(text) => Some(HashMap::from([("attnscope".to_owned(), text.clone())])),
            entry => Some(HashMap::from([("attnscope".to_owned(), entry.to_string())])),
        };
        let views = self
            .tensors
            .iter()
            .map(|(name, (dtype, shape, data))| (name.clone(), TensorView::new(*dtype, shape.clone(), data).unwrap()));
        safetensors::serialize(views, entry).unwrap()
    }

    fn floats(&mut self, name: &str, shape: &[usize]) {
        let data = vec![0; shape.iter().product::<usize>() * 4];
        self.tensors.insert(name.to_owned(), (Dtype::F32, shape.to_vec(), data));
    }
}

fn written(bytes: &[u8]) -> (TempDir, PathBuf) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("t.safetensors");
    fs::write(&path, bytes).unwrap();
    (folder, path)
}

fn refused(bytes: &[u8], parts: &[&str]) {
    let (_folder, path) = written(bytes);
    let Err(error) = Trace::open(&path) else { panic!("opened; wanted {parts:?}") };
    let message = error.to_string();
    assert!(message.lines().count() <= 2 && message.len() < 600, "{message}");
    assert!(!message.chars().any(char::is_control), "{message:?} could command a terminal");
    assert!(message.contains("t.safetensors"), "{message:?} does not say where");
    for part in parts {
        assert!(message.contains(part), "{message:?} does not say {part:?}");
    }
}

fn spoiled(spoil: impl FnOnce(&mut Parts), parts: &[&str]) {
    let mut file = Parts::new();
    spoil(&mut file);
    refused(&file.bytes(), parts);
}

#[test]
fn a_file_taken_apart_and_put_together_opens() {
    let (_folder, path) = written(&Parts::new().bytes());
    assert_eq!(Trace::open(&path).unwrap().sites.len(), 2);
}

#[test]
fn a_file_cut_short_anywhere_says_so() {
    let file = whole();
    let (_folder, path) = written(&file);
    for len in (0..200).chain((200..file.len()).step_by(37)).chain([file.len() - 1]) {
        fs::write(&path, &file[..len]).unwrap();
        let message = Trace::open(&path).unwrap_err().to_string();
        assert!(message.contains("not a whole safetensors file"), "{len}: {message}");
        assert!(message.contains("attnscope trace"), "{len}: {message}");
    }
    let mut longer = file.clone();
    longer.push(0);
    refused(&longer, &["not a whole safetensors file"]);
}

#[test]
fn a_file_that_is_missing_or_a_folder_says_so() {
    let folder = TempDir::new().unwrap();
    for path in [folder.path().join("none.safetensors"), folder.path().to_owned()] {
        let message = Trace::open(&path).unwrap_err().to_string();
        assert!(message.contains(path.to_str().unwrap()) && message.lines().count() == 1, "{message}");
    }
}

#[test]
fn a_header_length_that_no_file_could_hold_is_refused() {
    for absurd in [1u64 << 24, 1 << 40, u64::MAX - 7, u64::MAX] {
        let mut file = whole();
        file[..8].copy_from_slice(&absurd.to_le_bytes());
        refused(&file, &["not a whole safetensors file"]);
    }
}

#[test]
fn a_file_without_the_entry_is_no_trace() {
    spoiled(|file| file.entry = Value::Null, &["no trace", "`attnscope` entry", "folder"]);
    for broken in ["", "{", "[]", "7", "{\"format\": \"one\"}", "{}"] {
        spoiled(|file| file.entry = json!(broken), &["`attnscope` entry does not read"]);
    }
}

#[test]
fn another_format_is_named_beside_the_one_that_is_read() {
    spoiled(|file| file.entry["format"] = json!(2), &["trace format 2", "reads format 1", "newer"]);
    // Whatever else a later format changed, that is what is said first.
    spoiled(|file| file.entry = json!({"format": 7, "layers": []}), &["trace format 7"]);
}

#[test]
fn a_parameter_that_is_not_known_is_refused_by_name() {
    spoiled(|file| file.entry["sites"][1]["warmth"] = json!(30.0), &["unknown field `warmth`"]);
    spoiled(|file| file.entry["sites"][0]["site"] = json!("sideways"), &["sideways"]);
    for (key, wrong) in [
        ("scale", json!("big")),
        ("scale", json!(null)),
        ("causal", json!(1)),
        ("layer", json!(-1)),
        ("window", json!({"left": -1, "right": 0})),
        ("window", json!(3)),
        ("sinks", json!("none")),
        ("knockouts", json!([{"layer": 1}])),
    ] {
        spoiled(|file| file.entry["sites"][0][key] = wrong, &["does not read"]);
    }
    for (key, wrong, says) in [
        ("softcap", json!(-1.0), "softcap is -1"),
        ("sinks", json!([0.5]), "sinks is 1 numbers"),
        ("real_keys", json!([true]), "key_padding is 1 keys"),
        ("segments", json!({"q": [0, 3], "kv": [0, 1]}), "segments of"),
        ("segments", json!({"q": [1, 0], "kv": [0, 1]}), "never falling"),
        ("knockouts", json!([{"head": 99, "query": null, "key": null}]), "knockout head is 99"),
        ("relative_bias", json!({"table": [1.0], "buckets": 3, "max_distance": 9, "bidirectional": true}), "buckets"),
    ] {
        spoiled(|file| file.entry["sites"][0][key] = wrong, &[says]);
    }
    // Beyond an f32, which would make every score infinite.
    spoiled(|file| file.entry["sites"][0]["scale"] = json!(1e39), &["scale", "finite"]);
    for key in ["sites", "tokens", "text", "model"] {
        spoiled(|file| drop(file.entry.as_object_mut().unwrap().remove(key)), &["missing field", key]);
    }
}

/// What is quoted from a file cannot fill the screen or command the terminal.
#[test]
fn what_is_quoted_from_a_file_is_made_fit_to_show() {
    let strange = "\u{1b}[2J\r\n".repeat(1000);
    spoiled(|file| file.entry["sites"][0][&strange] = json!(1), &["unknown field"]);
}

/// A window within a window header that this version does not know would be passed over just the same.
#[test]
fn a_parameter_of_a_window_that_is_not_known_is_refused_too() {
    spoiled(|file| file.entry["sites"][0]["window"]["dilation"] = json!(2), &["unknown field `dilation`"]);
}

#[test]
fn a_tensor_that_is_missing_or_of_another_kind_is_named() {
    for part in ["q", "k", "v", "out", "lse"] {
        let name = format!("blocks.1.self.{part}");
        spoiled(|file| drop(file.tensors.remove(&name)), &[&name, "missing"]);
        let other = |file: &mut Parts| {
            let tensor = file.tensors.get_mut(&name).unwrap();
            tensor.0 = if tensor.0 == Dtype::F64 { Dtype::I64 } else { Dtype::I32 };
        };
        spoiled(other, &[&name, "must be F"]);
        spoiled(
            |file| {
                let tensor = file.tensors.get_mut(&name).unwrap();
                let count = tensor.1.iter().product();
                tensor.1 = vec![count];
            },
            &[&name, "must be"],
        );
    }
    spoiled(|file| file.entry["sites"][1]["layer"] = json!(5), &["blocks.5.self.q is missing"]);
}

#[test]
fn pieces_that_do_not_fit_each_other_are_refused() {
    let q = "blocks.0.self.q";
    spoiled(|file| file.floats("blocks.0.self.k", &[11, 3, 5]), &["do not fit", "layer 0 self", "kv_heads"]);
    spoiled(|file| file.floats("blocks.0.self.k", &[11, 2, 4]), &["do not fit", "head_dim"]);
    spoiled(|file| file.floats("blocks.0.self.k", &[12, 2, 5]), &["do not fit"]);
    spoiled(|file| file.floats("blocks.0.self.v", &[10, 2, 3]), &["do not fit", "v (len, heads)"]);
    spoiled(|file| file.floats("blocks.0.self.out", &[11, 4, 4]), &["do not fit", "out"]);
    spoiled(|file| file.floats(q, &[10, 4, 5]), &["lse"]);
    spoiled(|file| drop(file.entry["tokens"].as_array_mut().unwrap().pop()), &["do not fit", "number of tokens"]);
}

/// A size of 0 takes no bytes, so the other sizes could be anything: 2^40 keys in an empty tensor.
#[test]
fn sizes_that_no_bytes_vouch_for_are_refused() {
    let absurd = 1 << 40;
    spoiled(
        |file| {
            file.entry["sites"][0]["site"] = json!("cross");
            file.floats("blocks.0.cross.q", &[1, 1, 0]);
            file.floats("blocks.0.cross.k", &[absurd, 1, 0]);
            file.floats("blocks.0.cross.v", &[absurd, 1, 0]);
            file.floats("blocks.0.cross.out", &[1, 1, 0]);
            file.tensors.insert("blocks.0.cross.lse".to_owned(), (Dtype::F64, vec![1, 1], vec![0; 8]));
        },
        &["do not fit", "layer 0 cross", "at least 1"],
    );
    spoiled(
        |file| {
            file.floats("blocks.0.self.q", &[11, 0, 5]);
            file.floats("blocks.0.self.k", &[11, 0, 5]);
            file.floats("blocks.0.self.v", &[11, 0, 3]);
            file.floats("blocks.0.self.out", &[11, 0, 3]);
            file.tensors.insert("blocks.0.self.lse".to_owned(), (Dtype::F64, vec![0, 11], vec![]));
        },
        &["do not fit", "at least 1"],
    );
}

/// Two attentions under one name: only one of them could ever be seen.
#[test]
fn a_layer_that_occurs_twice_is_refused() {
    spoiled(
        |file| {
            let again = file.entry["sites"][0].clone();
            file.entry["sites"].as_array_mut().unwrap().push(again);
        },
        &["layer 0 self", "twice"],
    );
    let params = Params::for_head_dim(5);
    let sites = vec![
        site(SiteKind::SelfAttention, 3, 11, 11, SMALL, &params),
        site(SiteKind::SelfAttention, 3, 11, 11, SMALL, &params),
    ];
    let error = Trace::new(Default::default(), String::new(), tokens(11), sites).unwrap_err();
    assert!(error.to_string().contains("layer 3 self") && error.to_string().contains("twice"), "{error}");
}

/// Tensors that share bytes, which the format forbids.
#[test]
fn tensors_that_overlap_are_refused() {
    let file = whole();
    let (len, _) = SafeTensors::read_metadata(&file).unwrap();
    let header = String::from_utf8(file[8..8 + len].to_vec()).unwrap();
    let parsed: Value = serde_json::from_str(&header).unwrap();
    let offsets = |name: &str| parsed[name]["data_offsets"].to_string();
    let (a, b) = (offsets("blocks.0.self.k"), offsets("blocks.1.self.k"));
    assert_ne!(a, b);
    let mut overlapping = header.replace(&b, &a);
    overlapping.extend(std::iter::repeat_n(' ', (8 - overlapping.len() % 8) % 8));
    let mut bytes = (overlapping.len() as u64).to_le_bytes().to_vec();
    bytes.extend(overlapping.as_bytes());
    bytes.extend(&file[8 + len..]);
    refused(&bytes, &["not a whole safetensors file"]);
}

/// Whatever the numbers are, every question has an answer or an error.
#[test]
fn numbers_that_are_none_make_no_question_panic() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300] {
        let mut file = Parts::new();
        for (dtype, _, data) in file.tensors.values_mut() {
            match dtype {
                Dtype::F64 => data[..8].copy_from_slice(&bad.to_le_bytes()),
                _ => data[..4].copy_from_slice(&(bad as f32).to_le_bytes()),
            }
        }
        let (_folder, path) = written(&file.bytes());
        let trace = Trace::open(&path).unwrap();
        let at = At::default();
        trace.cell(at, 0, 0).unwrap();
        trace.row(at, 0).unwrap();
        trace.tile(at, 0..11, 0..11).unwrap();
        let heads = trace.heads(None).unwrap();
        // A proof does not pass over it, so no one takes such a head for a sound one.
        let proof = heads[0].proof;
        assert!(!(proof.row_sum_error < 1e-5 && proof.output_error < 1e-5), "{bad}: {proof:?}");
        serde_json::to_string(&heads).unwrap();
    }
}

#[test]
fn random_damage_opens_or_is_refused() {
    let file = whole();
    let (_folder, path) = written(&file);
    let header = SafeTensors::read_metadata(&file).unwrap().0 + 8;
    let mut opened = 0;
    for seed in 0..600 {
        let random = common::numbers(seed, 6);
        let below = |x: f32, n: usize| ((x + 2.0) / 4.0 * n as f32) as usize % n;
        let mut bytes = file.clone();
        let reach = if seed % 2 == 0 { file.len() } else { header };
        for pair in random.chunks(2).take(1 + seed as usize % 3) {
            bytes[below(pair[0], reach)] = below(pair[1], 256) as u8;
        }
        fs::write(&path, &bytes).unwrap();
        let Ok(trace) = Trace::open(&path) else { continue };
        opened += 1;
        for site in &trace.sites {
            let at = At { site: site.kind, layer: site.layer, head: 0 };
            let _ = (trace.cell(at, 0, 0), trace.row(at, 0), trace.tile(at, 0..site.q_len(), 0..site.kv_len()));
        }
        let _ = trace.heads(None);
    }
    assert!((50..590).contains(&opened), "{opened} of 600 opened");
}
