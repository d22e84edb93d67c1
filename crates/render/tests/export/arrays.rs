use std::collections::HashMap;
use std::io::{Cursor, Read};

use attnscope_inspect::Pick;
use attnscope_render::{Format, Place, Style, What};

use crate::support::{MAP, PLACE, everything, example, file, hostile};

/// A file of arrays, read back: (what numpy would say of its type and shape, its bytes) by name.
fn arrays(bytes: Vec<u8>) -> HashMap<String, (String, Vec<u8>)> {
    let mut zip = zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
    let mut arrays = HashMap::new();
    for index in 0..zip.len() {
        let mut entry = zip.by_index(index).unwrap();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        assert_eq!(&bytes[..8], b"\x93NUMPY\x01\x00");
        let start = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
        assert_eq!(start % 64, 0);
        let header = String::from_utf8(bytes[10..start].to_vec()).unwrap();
        let name = entry.name().unwrap().strip_suffix(".npy").unwrap().to_owned();
        arrays.insert(name, (header.trim_end().to_owned(), bytes[start..].to_vec()));
    }
    arrays
}

fn json(array: &(String, Vec<u8>)) -> serde_json::Value {
    let letters = array.1.chunks(4).map(|code| u32::from_le_bytes(code.try_into().unwrap()));
    serde_json::from_str(&letters.map(|code| char::from_u32(code).unwrap()).collect::<String>()).unwrap()
}

fn floats(array: &(String, Vec<u8>)) -> Vec<f32> {
    array.1.chunks(4).map(|number| f32::from_le_bytes(number.try_into().unwrap())).collect()
}

#[test]
fn a_map_has_its_weights_and_what_brings_them_back() {
    let trace = example(true);
    let arrays = arrays(file(&trace, &MAP, &Style::default(), Format::Npz));
    let header = |name: &str| arrays[name].0.as_str();
    assert_eq!(header("weights"), "{'descr': '<f4', 'fortran_order': False, 'shape': (10,10,), }");
    assert_eq!(header("mask"), "{'descr': '|u1', 'fortran_order': False, 'shape': (10,10,), }");
    assert_eq!(header("q"), "{'descr': '<f4', 'fortran_order': False, 'shape': (10,1,4,), }");
    assert_eq!(header("lse"), "{'descr': '<f8', 'fortran_order': False, 'shape': (1,10,), }");
    let (weights, mask) = (floats(&arrays["weights"]), &arrays["mask"].1);
    let tile = trace.picked_tile(PLACE.site, 0, PLACE.head, 0..10, 0..10).unwrap();
    for (at, cell) in tile.cells.iter().enumerate() {
        assert_eq!((weights[at], mask[at]), if *cell < 0.0 { (0.0, 1) } else { (*cell, 0) });
    }
    // exp(scale q.k - lse) is the weight, from nothing but the file.
    let (q, k) = (floats(&arrays["q"]), floats(&arrays["k"]));
    let scale = floats(&arrays["scale"])[0];
    let lse: Vec<f64> =
        arrays["lse"].1.chunks(8).map(|number| f64::from_le_bytes(number.try_into().unwrap())).collect();
    let dot: f32 = (0..4).map(|dim| q[6 * 4 + dim] * k[4 + dim]).sum();
    assert!((f64::from(scale * dot) - lse[6] - f64::from(weights[61]).ln()).abs() < 1e-6);
    assert_eq!(json(&arrays["tokens"])[1], "robot");
    assert_eq!(json(&arrays["about"])["head"], 0);
}

#[test]
fn texts_come_back_as_they_were() {
    let trace = hostile();
    let place = Place { head: Pick::Mean, ..PLACE };
    let what = What::Map { place, queries: Some(2..5), keys: Some(0..7) };
    let arrays = arrays(file(&trace, &what, &Style::default(), Format::Npz));
    for (token, back) in trace.tokens.iter().zip(json(&arrays["tokens"]).as_array().unwrap()) {
        assert_eq!(*back, token.text);
    }
    assert_eq!(json(&arrays["about"])["text"], trace.text);
    assert_eq!(json(&arrays["about"])["head"], "mean");
    assert_eq!(arrays["queries"].1[..8], 2_i64.to_le_bytes());
}

fn doubles(array: &(String, Vec<u8>)) -> Vec<f64> {
    array.1.chunks(8).map(|number| f64::from_le_bytes(number.try_into().unwrap())).collect()
}

fn wholes(array: &(String, Vec<u8>)) -> Vec<i64> {
    array.1.chunks(8).map(|number| i64::from_le_bytes(number.try_into().unwrap())).collect()
}

/// From nothing but the file, with every term that a score may have.
#[test]
fn every_term_is_there_to_bring_the_weights_back() {
    let trace = everything();
    for (queries, keys) in [(0..10, 0..10), (4..9, 1..8)] {
        let what = What::Map { place: PLACE, queries: Some(queries.clone()), keys: Some(keys.clone()) };
        let arrays = arrays(file(&trace, &what, &Style::default(), Format::Npz));
        let f = |name: &str| floats(&arrays[name]);
        let (weights, mask, lse) = (f("weights"), &arrays["mask"].1, doubles(&arrays["lse"]));
        let (q, k, scale, cap, slope) = (f("q"), f("k"), f("scale")[0], f("softcap")[0], f("alibi_slopes")[0]);
        let (table, bias, positions) = (f("relative_bias"), f("bias"), wholes(&arrays["positions"]));
        let of = [wholes(&arrays["buckets"])[0], wholes(&arrays["max_distance"])[0]].map(|x| x as usize);
        assert_eq!((of, arrays["bidirectional"].1[0], arrays["causal"].1[0]), ([8, 32], 1, 1));
        let relative = attnscope_kernel::RelativeBias::new(table.clone(), of[0], of[1], true).unwrap();
        let mut seen = 0;
        for at in 0..weights.len() {
            let (i, j) = (at / keys.len(), at % keys.len());
            if mask[at] != 0 {
                continue;
            }
            let dot: f32 = (0..4).map(|dim| q[i * 4 + dim] * k[j * 4 + dim]).sum();
            let ahead = (keys.start + j) as i64 - positions[i];
            let score = cap * (scale * dot / cap).tanh() - slope * ahead.unsigned_abs() as f32
                + table[relative.bucket(ahead)]
                + bias[at];
            assert!(((f64::from(score) - lse[i]).exp() - f64::from(weights[at])).abs() < 1e-5, "{i} {j}");
            seen += 1;
        }
        assert!(seen > 4);
        assert_eq!(f("sinks"), [0.5]);
        assert_eq!(wholes(&arrays["segments_q"]), [0, 3, 10]);
        assert_eq!(wholes(&arrays["segments_kv"]), [0, 3, 10]);
        assert_eq!(wholes(&arrays["knockouts"]), [0, 8, 7, -1, -1, 5]);
        assert_eq!(wholes(&arrays["window"]), [6, 0]);
        assert_eq!(arrays["real_keys"].1, keys.map(|key| u8::from(key != 4)).collect::<Vec<_>>());
    }
    // What is not in use is not there.
    let plain = arrays(file(&example(true), &MAP, &Style::default(), Format::Npz));
    for name in ["softcap", "alibi_slopes", "relative_bias", "bias", "sinks", "window", "segments_q", "knockouts"] {
        assert!(!plain.contains_key(name), "{name}");
    }
}

#[test]
fn a_row_has_its_sum_and_its_sink() {
    let row = |trace: &attnscope_inspect::Trace| {
        let what = What::Row { place: PLACE, query: 9 };
        arrays(file(trace, &what, &Style::default(), Format::Npz))
    };
    let with = row(&everything());
    assert!((doubles(&with["row_sum"])[0] + doubles(&with["sink"])[0] - 1.0).abs() < 1e-6);
    assert!(!row(&example(true)).contains_key("sink"));
}
