//! Damage to safetensors files: their header is JSON, after its length in eight bytes, and a trace keeps JSON in that.

use serde_json::Value;

use super::{bytes, json};
use crate::random::Random;

/// A file with its header changed; none where it has none.
pub(crate) fn spoil(file: &[u8], other: &[u8], words: &[String], random: &mut Random) -> Option<Vec<u8>> {
    let (mut header, data) = split(file)?;
    let other = split(other).map_or(Value::Null, |(header, _)| header);
    match random.below(12) {
        0 => {
            let mut file = file.to_vec();
            bytes::replace(&mut file, 0, 8, random);
            return Some(file);
        }
        1 => {
            let data = bytes::spoil(data, &[0xFF; 16], random);
            return Some(join(&header.to_string(), &data));
        }
        2..=4 if numbers(&mut header, random) => {}
        5..=9 if within(&mut header, &other, words, random) => {}
        _ => {
            let text = json::spoil(header.to_string().as_bytes(), other.to_string().as_bytes(), words, random)?;
            return Some(join(&String::from_utf8_lossy(&text), data));
        }
    }
    Some(join(&header.to_string(), data))
}

fn split(file: &[u8]) -> Option<(Value, &[u8])> {
    let (len, rest) = file.split_first_chunk::<8>()?;
    let (header, data) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*len)).ok()?)?;
    Some((serde_json::from_slice(header).ok()?, data))
}

fn join(header: &str, data: &[u8]) -> Vec<u8> {
    // Numbers stand at multiples of eight.
    let header = format!("{header}{}", " ".repeat(header.len().wrapping_neg() % 8));
    [&(header.len() as u64).to_le_bytes(), header.as_bytes(), data].concat()
}

/// Moves a tensor, or gives it another shape or type.
fn numbers(header: &mut Value, random: &mut Random) -> bool {
    let Some(map) = header.as_object_mut() else { return false };
    let tensors = map.iter_mut().filter(|(name, tensor)| *name != "__metadata__" && tensor.is_object());
    let mut tensors: Vec<&mut Value> = tensors.map(|(_, tensor)| tensor).collect();
    if tensors.is_empty() {
        return false;
    }
    let which = random.below(tensors.len());
    let tensor = &mut *tensors[which];
    match random.below(6) {
        0 => {
            tensor["dtype"] =
                (*random.pick(&["F32", "F16", "BF16", "F64", "I32", "U8", "BOOL", "F8_E4M3", "F4"])).into()
        }
        1 => {
            // The same number of elements in another order of sizes.
            if let Some(shape) = tensor["shape"].as_array_mut() {
                match random.below(4) {
                    0 => shape.reverse(),
                    1 => shape.push(1.into()),
                    2 => shape.insert(0, 0.into()),
                    _ => shape.clear(),
                }
            }
        }
        2 => {
            let sizes: Vec<Value> = (0..random.below(5)).map(|_| random.edge().into()).collect();
            tensor["shape"] = sizes.into();
        }
        _ => {
            let key = *random.pick(&["shape", "data_offsets"]);
            let Some(list) = tensor[key].as_array_mut().filter(|list| !list.is_empty()) else { return false };
            let at = random.below(list.len());
            let old = list[at].as_u64().unwrap_or_default();
            let new = match random.below(4) {
                0 => old.wrapping_add(1),
                1 => old.wrapping_sub(1),
                2 => old.wrapping_add(*random.pick(&[2, 4, 8, 16])),
                _ => random.edge(),
            };
            list[at] = new.into();
        }
    }
    true
}

/// Changes the JSON that a trace keeps as a text.
fn within(header: &mut Value, other: &Value, words: &[String], random: &mut Random) -> bool {
    let read = |value: &Value| -> Option<Value> {
        serde_json::from_str(value.get("__metadata__")?.get("attnscope")?.as_str()?).ok()
    };
    let Some(inner) = read(header) else { return false };
    let other = read(other).unwrap_or_default();
    let Some(changed) = json::spoil(inner.to_string().as_bytes(), other.to_string().as_bytes(), words, random) else {
        return false;
    };
    // It was read from there.
    header["__metadata__"]["attnscope"] = String::from_utf8_lossy(&changed).into();
    true
}
