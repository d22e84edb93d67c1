//! GGUF files: configuration, tokenizer and quantised tensors in one. Quantised weights are dequantised to f32.

use std::collections::HashMap;
use std::fs::File;
use std::io::Cursor;
use std::path::Path;
use std::sync::Arc;

use candle_core::quantized::gguf_file::{Content, Value};
use candle_core::{Device, Tensor};
use memmap2::Mmap;

use crate::Tokenizer;
use crate::chat::Home;
use crate::checkpoint::Checkpoint;
use crate::error::{Error, Result, reason};
use crate::families::{Activation, Build, Entry, Head, Layers, Rotary, Windows, gguf_architectures, llama};
use crate::tokenizer::ByteBpe;
use crate::weights::{TensorFile, Weights};

pub(crate) fn open(path: &Path) -> Result<Checkpoint> {
    let file = File::open(path).map_err(|error| Error::file(path, format!("cannot be opened: {error}")))?;
    // SAFETY: the map is read-only and lives as long as the checkpoint. Another process that shortens the file while
    // it is mapped would end this one, as with any mapped file.
    let map = unsafe { Mmap::map(&file) }.map_err(|error| Error::file(path, format!("cannot be mapped: {error}")))?;
    let map = Arc::new(map);
    let content = read_header(path, &map)?;
    let keys = Keys { path, metadata: &content.metadata };
    let architecture = keys.string("general.architecture")?;
    let Some(family) = Entry::of_gguf(architecture) else {
        let known = gguf_architectures();
        return Err(Error::file(path, format!("architecture {architecture:?} is not known; known are {known}")));
    };
    let config = llama_config(&keys)?;
    let build: Build = Box::new(move |weights| Ok(Box::new(llama::Llama::load(config, weights)?)));
    let (tokenizer, template) = (tokenizer(&keys)?, template(&keys));
    let name = path.file_stem().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    Ok(Checkpoint {
        name,
        family,
        build,
        tokenizer,
        template,
        weights: Weights::new(path, Gguf { content, map }),
        files: vec![path.to_owned()],
    })
}

fn read_header(path: &Path, map: &Arc<Mmap>) -> Result<Content> {
    match map.get(..4) {
        Some(b"GGUF") => {}
        _ if map.is_empty() => return Err(Error::file(path, "the file is empty; fetch it again")),
        _ => return Err(Error::file(path, "is neither a GGUF file nor a trace, nor a folder with a model")),
    }
    if zero_alignment(map) {
        return Err(Error::file(path, "its header is damaged: general.alignment is 0"));
    }
    let broken = |problem: String| Error::file(path, format!("is damaged or cut short; fetch it again ({problem})"));
    let content = Content::read(&mut Cursor::new(&map[..])).map_err(|error| broken(reason(&error)))?;
    // Checked here, once, so that a file cut short is refused before anything is computed.
    for (name, info) in &content.tensor_infos {
        let elements = info.shape.dims().iter().try_fold(1usize, |product, &n| product.checked_mul(n));
        let block = info.ggml_dtype.block_size();
        let end = elements
            .and_then(|elements| (elements / block).checked_mul(info.ggml_dtype.type_size()))
            .and_then(|bytes| content.tensor_data_offset.checked_add(info.offset)?.checked_add(bytes as u64));
        if end.is_none_or(|end| end > map.len() as u64) {
            return Err(broken(format!("tensor {name} would end beyond the {} bytes of the file", map.len())));
        }
    }
    Ok(content)
}

/// candle divides by the alignment that the header gives, so a 0 there must not reach it.
fn zero_alignment(map: &[u8]) -> bool {
    const KEY: &[u8] = b"general.alignment";
    memchr::memmem::find_iter(map, KEY).any(|at| {
        let after = &map[at + KEY.len()..];
        // candle drops zero bytes at the end of a key, so any number of them may stand before the value.
        let zeros = after.iter().take_while(|byte| **byte == 0).count();
        (0..=zeros).any(|skipped| is_zero(&after[skipped..]))
    })
}

/// Whether a whole number of at most 32 bits stands here and is 0: a type code in four bytes, then the value in as
/// many bytes as its type has.
fn is_zero(value: &[u8]) -> bool {
    let &[kind, 0, 0, 0, ref value @ ..] = value else { return false };
    let width = match kind {
        0 | 1 => 1,
        2 | 3 => 2,
        4 | 5 => 4,
        _ => return false,
    };
    value.get(..width).is_some_and(|value| value.iter().all(|byte| *byte == 0))
}

/// The metadata, with errors that say which key.
struct Keys<'a> {
    path: &'a Path,
    metadata: &'a HashMap<String, Value>,
}

impl<'a> Keys<'a> {
    fn get(&self, key: &str) -> Result<&'a Value> {
        self.metadata.get(key).ok_or_else(|| Error::file(self.path, format!("its header has no {key}")))
    }

    fn string(&self, key: &str) -> Result<&'a str> {
        match self.get(key)? {
            Value::String(text) => Ok(text),
            other => Err(self.wrong(key, "a text", other)),
        }
    }

    fn size(&self, key: &str) -> Result<usize> {
        let value = self.get(key)?;
        let size = match *value {
            Value::I32(n) => usize::try_from(n).ok(),
            Value::I64(n) => usize::try_from(n).ok(),
            // candle would take it for 0 or 1.
            Value::Bool(_) => None,
            _ => value.to_u64().ok().and_then(|n| usize::try_from(n).ok()),
        };
        size.ok_or_else(|| self.wrong(key, "a whole number", value))
    }

    fn number(&self, key: &str) -> Result<f64> {
        match *self.get(key)? {
            Value::F32(x) => Ok(f64::from(x)),
            Value::F64(x) => Ok(x),
            ref other => Err(self.wrong(key, "a number", other)),
        }
    }

    fn list(&self, key: &str) -> Result<&'a [Value]> {
        match self.get(key)? {
            Value::Array(list) => Ok(list),
            other => Err(self.wrong(key, "a list", other)),
        }
    }

    fn has(&self, key: &str) -> bool {
        self.metadata.contains_key(key)
    }

    fn wrong(&self, key: &str, want: &str, got: &Value) -> Error {
        Error::file(self.path, format!("{key} in its header must be {want}, not {:?}", got.value_type()))
    }
}

fn llama_config(keys: &Keys) -> Result<llama::Config> {
    let hidden = keys.size("llama.embedding_length")?;
    let q_heads = keys.size("llama.attention.head_count")?;
    let optional = |key: &str, default: usize| if keys.has(key) { keys.size(key) } else { Ok(default) };
    if keys.has("llama.rope.scaling.type") && keys.string("llama.rope.scaling.type")? != "none" {
        let kind = keys.string("llama.rope.scaling.type")?;
        return Err(Error::file(keys.path, format!("rotary scaling {kind:?} is not supported yet")));
    }
    let head_dim = optional("llama.attention.key_length", hidden.checked_div(q_heads).unwrap_or(0))?;
    let rotary = optional("llama.rope.dimension_count", head_dim)?;
    if rotary != head_dim {
        let problem = format!("rotary embedding of {rotary} of {head_dim} dimensions is not supported yet");
        return Err(Error::file(keys.path, problem));
    }
    let theta = if keys.has("llama.rope.freq_base") { keys.number("llama.rope.freq_base")? } else { 10_000.0 };
    let config = llama::Config {
        vocab: keys.list("tokenizer.ggml.tokens")?.len(),
        hidden,
        layers: keys.size("llama.block_count")?,
        q_heads,
        kv_heads: optional("llama.attention.head_count_kv", q_heads)?,
        head_dim,
        ffn: keys.size("llama.feed_forward_length")?,
        norm_eps: keys.number("llama.attention.layer_norm_rms_epsilon")?,
        activation: Activation::Silu,
        rotary: Rotary::plain(head_dim, theta),
        rotated: Layers::All,
        windows: Windows::NONE,
        biases: llama::Biases::default(),
        qk_norm: false,
        context: keys.size("llama.context_length")?,
        head: Head::Tied,
        names: llama::Names::Gguf,
    };
    config.check().map_err(|problem| Error::file(keys.path, problem))?;
    Ok(config)
}

fn tokenizer(keys: &Keys) -> Result<Tokenizer> {
    let kind = keys.string("tokenizer.ggml.model")?;
    if kind != "gpt2" {
        let problem = format!("tokenizer {kind:?} is not supported yet; \"gpt2\" (byte BPE) is");
        return Err(Error::file(keys.path, problem));
    }
    let texts = |key: &str| -> Result<Vec<String>> {
        keys.list(key)?
            .iter()
            .map(|value| value.to_string().cloned().map_err(|_| keys.wrong(key, "a list of texts", value)))
            .collect()
    };
    let types = if keys.has("tokenizer.ggml.token_type") { keys.list("tokenizer.ggml.token_type")? } else { &[] };
    let control: Vec<bool> = types.iter().map(|kind| matches!(kind, Value::I32(3) | Value::U32(3))).collect();
    let id = |key: &str| keys.has(key).then(|| keys.size(key)).transpose();
    let begin = match keys.metadata.get("tokenizer.ggml.add_bos_token") {
        Some(Value::Bool(true)) => id("tokenizer.ggml.bos_token_id")?,
        _ => None,
    };
    Tokenizer::byte_bpe(ByteBpe {
        tokens: texts("tokenizer.ggml.tokens")?,
        merges: texts("tokenizer.ggml.merges")?,
        control,
        rule: if keys.has("tokenizer.ggml.pre") { keys.string("tokenizer.ggml.pre")? } else { "gpt-2" }.to_owned(),
        begin,
        end: id("tokenizer.ggml.eos_token_id")?,
    })
    .map_err(|problem| Error::file(keys.path, problem))
}

/// The chat template, and the marks that it may name.
fn template(keys: &Keys) -> Home {
    let source = keys.string("tokenizer.chat_template").ok().map(str::to_owned);
    let tokens = keys.list("tokenizer.ggml.tokens").unwrap_or_default();
    let names = [("bos", "bos"), ("eos", "eos"), ("pad", "padding"), ("unk", "unknown")];
    let mark = |(jinja, gguf): (&str, &str)| {
        let id = keys.size(&format!("tokenizer.ggml.{gguf}_token_id")).ok()?;
        Some((format!("{jinja}_token"), tokens.get(id)?.to_string().ok()?.clone()))
    };
    Home::Header { path: keys.path.to_owned(), source, marks: names.into_iter().filter_map(mark).collect() }
}

struct Gguf {
    content: Content,
    map: Arc<Mmap>,
}

impl TensorFile for Gguf {
    fn shape(&self, name: &str) -> Option<Vec<usize>> {
        Some(self.content.tensor_infos.get(name)?.shape.dims().to_vec())
    }

    fn read(&self, name: &str) -> candle_core::Result<Tensor> {
        self.content.tensor(&mut Cursor::new(&self.map[..]), name, &Device::Cpu)?.dequantize(&Device::Cpu)
    }
}
