//! Damage to JSON that leaves it JSON, and to what would still pass for it.

use serde_json::{Map, Number, Value};

use crate::random::Random;

/// Words that readers know and seeds need not have.
pub(crate) const WORDS: &[&str] = &[
    "",
    "default",
    "linear",
    "dynamic",
    "yarn",
    "llama3",
    "longrope",
    "su",
    "rope_scaling",
    "rope_parameters",
    "rope_type",
    "factor",
    "original_max_position_embeddings",
    "sliding_window",
    "layer_types",
    "full_attention",
    "sliding_attention",
    "no_rope_layers",
    "head_dim",
    "num_key_value_heads",
    "partial_rotary_factor",
    "attn_logit_softcapping",
    "gelu_new",
    "gelu_pytorch_tanh",
    "silu",
    "relu",
    "gated-gelu",
    "BPE",
    "WordPiece",
    "WordLevel",
    "Unigram",
    "ByteLevel",
    "Metaspace",
    "Split",
    "Sequence",
    "Replace",
    "Prepend",
    "Strip",
    "StripAccents",
    "NFC",
    "NFD",
    "NFKC",
    "NFKD",
    "Nmt",
    "Precompiled",
    "Lowercase",
    "BertNormalizer",
    "BertPreTokenizer",
    "Whitespace",
    "WhitespaceSplit",
    "Punctuation",
    "Digits",
    "UnicodeScripts",
    "CharDelimiterSplit",
    "FixedLength",
    "TemplateProcessing",
    "RobertaProcessing",
    "BertProcessing",
    "ByteFallback",
    "Fuse",
    "CTC",
    "BPEDecoder",
    "Regex",
    "String",
    "Isolated",
    "Removed",
    "MergedWithPrevious",
    "MergedWithNext",
    "Contiguous",
    "pattern",
    "behavior",
    "invert",
    "(?:a+)+$",
    "\\p{L}+|\\s+(?!\\S)",
    "[",
    "(?<=a)b",
    "\u{e9}",
    "\u{1f600}",
    "e\u{301}",
    "\u{200d}",
    "\u{2581}",
    "<0xE1>",
    "<0x",
    "\u{1b}[2J",
    "precompiled_charsmap",
    "weight_map",
    "model.safetensors",
    "../model.safetensors",
    "/dev/zero",
    "F32",
    "F16",
    "BF16",
    "F64",
    "I64",
    "U8",
    "BOOL",
    "F8_E4M3",
    "F4",
    "C64",
    "self",
    "cross",
    "encoder",
    "window",
    "segments",
    "real_keys",
    "relative_bias",
    "alibi_slopes",
    "sinks",
    "knockouts",
    "softcap",
    "causal",
    "__metadata__",
    "attnscope",
];

/// What stands for text that is no value: it is put in its place when all is written.
const MARK: &str = "\u{e000}raw\u{e000}";

/// Collects the texts and keys of a JSON document that are short.
pub(crate) fn words(bytes: &[u8], words: &mut Vec<String>) {
    const LONGEST: usize = 40;
    let Ok(document) = serde_json::from_slice::<Value>(bytes) else { return };
    let mut open = vec![&document];
    while let Some(value) = open.pop() {
        match value {
            Value::String(text) if text.len() <= LONGEST => words.push(text.clone()),
            Value::Array(list) => open.extend(list),
            Value::Object(map) => {
                words.extend(map.keys().filter(|key| key.len() <= LONGEST).cloned());
                open.extend(map.values());
            }
            _ => {}
        }
    }
}

/// A document with one value changed; none where the bytes are none.
pub(crate) fn spoil(file: &[u8], other: &[u8], words: &[String], random: &mut Random) -> Option<Vec<u8>> {
    let mut document: Value = serde_json::from_slice(file).ok()?;
    let other: Value = serde_json::from_slice(other).unwrap_or_default();
    let raw = change(&mut document, &other, words, random);
    let text = document.to_string();
    Some(match raw {
        Some(raw) => text.replacen(&format!("\"{MARK}\""), &raw, 1).into_bytes(),
        None => text.into_bytes(),
    })
}

/// Changes one value somewhere. What must be put in the place of [`MARK`] is handed back.
pub(crate) fn change(document: &mut Value, other: &Value, words: &[String], random: &mut Random) -> Option<String> {
    let place = at(document, random);
    match random.below(16) {
        0..=2 => *place = Value::Number(number(random)),
        3 => *place = simple(random),
        4 | 5 => *place = Value::String(random.pick(words).clone()),
        6..=8 => match place {
            Value::Object(map) => in_map(map, words, random),
            Value::Array(list) => in_list(list, random),
            Value::Number(old) => {
                let old = old.as_i64().unwrap_or(1);
                *place = (*random.pick(&[old.wrapping_add(1), old.wrapping_sub(1), -old, old.wrapping_mul(2)])).into();
            }
            Value::String(text) => *text = twisted(text, random),
            other => *other = simple(random),
        },
        9..=12 => {
            // What stands elsewhere, most of all under the same key.
            let mut other = other.clone();
            *place = at(&mut other, random).take();
        }
        13 => {
            let inner = place.take();
            *place = if random.once_in(2) {
                vec![inner].into()
            } else {
                Map::from_iter([(word(words, random), inner)]).into()
            };
        }
        14 => *place = long(random),
        _ => {
            *place = Value::String(MARK.to_owned());
            return Some(raw(random));
        }
    }
    None
}

/// Some value within a document, near its root more often than deep in a long list.
fn at<'a>(document: &'a mut Value, random: &mut Random) -> &'a mut Value {
    let mut place = document;
    loop {
        let inner = match place {
            Value::Object(map) => map.len(),
            Value::Array(list) => list.len(),
            _ => 0,
        };
        if inner == 0 || random.once_in(12) {
            return place;
        }
        let which = random.below(inner);
        place = match place {
            Value::Object(map) => map.values_mut().nth(which).expect("there are so many"),
            Value::Array(list) => &mut list[which],
            _ => unreachable!("nothing else has inner values"),
        };
    }
}

fn number(random: &mut Random) -> Number {
    match random.below(6) {
        0 => Number::from_f64(*random.pick(&[0.0, -0.0, 1e-308, 1e308, -1e308, 0.5, 1.5, 1e39, f64::MIN_POSITIVE]))
            .expect("they are finite"),
        1 => Number::from(random.edge() as i64),
        2 => Number::from(random.below(40)),
        _ => Number::from(random.edge()),
    }
}

fn simple(random: &mut Random) -> Value {
    match random.below(6) {
        0 => Value::Null,
        1 => true.into(),
        2 => false.into(),
        3 => "".into(),
        4 => Vec::<Value>::new().into(),
        _ => Map::new().into(),
    }
}

fn word(words: &[String], random: &mut Random) -> String {
    random.pick(words).clone()
}

fn in_map(map: &mut Map<String, Value>, words: &[String], random: &mut Random) {
    let Some(key) = map.keys().nth(random.below(map.len())).cloned() else { return };
    let value = map.remove(&key).unwrap_or_default();
    match random.below(3) {
        0 => {}
        1 => drop(map.insert(word(words, random), value)),
        _ => {
            // Under a new name as well.
            map.insert(word(words, random), value.clone());
            map.insert(key, value);
        }
    }
}

fn in_list(list: &mut Vec<Value>, random: &mut Random) {
    if list.is_empty() {
        return;
    }
    let (a, b) = (random.below(list.len()), random.below(list.len()));
    match random.below(5) {
        0 => drop(list.remove(a)),
        1 => list.insert(b, list[a].clone()),
        2 => list.swap(a, b),
        3 => list.truncate(a),
        _ => list.clear(),
    }
}

fn twisted(text: &str, random: &mut Random) -> String {
    let cut = text.char_indices().nth(random.below(text.chars().count())).map_or(0, |(at, _)| at);
    match random.below(4) {
        0 => text[..cut].to_owned(),
        1 => text[cut..].to_owned(),
        2 => format!("{}{}{}", &text[..cut], random.pick(&["\u{0}", "\u{e9}", " ", "\u{1f600}", "/"]), &text[cut..]),
        _ => text.repeat(2 + random.below(3)),
    }
}

fn long(random: &mut Random) -> Value {
    let len = 1 << random.below(13);
    match random.below(3) {
        0 => "a".repeat(len).into(),
        1 => vec![Value::from(random.below(3)); len].into(),
        _ => "\u{e9} ".repeat(len / 2).into(),
    }
}

fn raw(random: &mut Random) -> String {
    let deep = *random.pick(&[100, 127, 128, 200, 20_000]);
    match random.below(9) {
        0 => "[".repeat(deep) + &"]".repeat(deep),
        1 => "{\"a\":".repeat(deep) + "0" + &"}".repeat(deep),
        2 => "[".repeat(deep),
        3 => "9".repeat(400),
        4 => "1e999".to_owned(),
        5 => "-".to_owned(),
        6 => "NaN".to_owned(),
        7 => r#"{"type":"BPE","type":"BPE"}"#.to_owned(),
        _ => r#""\ud800""#.to_owned(),
    }
}
