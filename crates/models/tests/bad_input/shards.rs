//! Weights in one file or several, of the wrong type, twice, or no file at all.

use std::collections::HashMap;
use std::path::Path;

use attnscope_models::{Keep, Model, Prompt};
use candle_core::{DType, Device, Tensor};
use tempfile::TempDir;

use crate::refused;
use crate::tiny::{Folder, Tensors};

/// Writes a tiny Llama whose tensors lie in several files, and their index.
fn write(folder: &Path, parts: &[Tensors]) {
    Folder { tensors: Tensors::new(), ..Folder::llama() }.write(folder);
    let mut index = HashMap::new();
    for (number, part) in parts.iter().enumerate() {
        let file = format!("part-{number}.safetensors");
        let tensors: HashMap<String, Tensor> = part.clone().into_iter().collect();
        candle_core::safetensors::save(&tensors, folder.join(&file)).unwrap();
        index.extend(tensors.into_keys().map(|name| (name, file.clone())));
    }
    let index = serde_json::json!({"weight_map": index});
    std::fs::write(folder.join("model.safetensors.index.json"), index.to_string()).unwrap();
}

/// The tensors of the tiny Llama in two halves, the second with something changed.
fn halves(spoil: impl FnOnce(&mut Tensors)) -> [Tensors; 2] {
    let mut first = Folder::llama().tensors;
    let mut second = first.split_off("model.layers.1");
    spoil(&mut second);
    [first, second]
}

const NAME: &str = "model.layers.1.mlp.up_proj.weight";

fn spoiled(spoil: impl FnOnce(&mut Tensors), parts: &[&str]) {
    let folder = TempDir::new().unwrap();
    write(folder.path(), &halves(spoil));
    refused(folder.path(), parts);
}

fn traced(folder: &Path) -> Vec<f32> {
    let trace = Model::open(folder).unwrap().trace(&Prompt::Ids(vec![1, 2, 3]), Keep::All, &|_, _| true).unwrap();
    trace.sites.iter().flat_map(|site| site.out.data.to_vec()).collect()
}

#[test]
fn parts_are_one_model() {
    let (whole, parts) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    Folder::llama().write(whole.path());
    write(parts.path(), &halves(|_| {}));
    assert_eq!(traced(whole.path()), traced(parts.path()));
}

/// Numbers that every type holds exactly, so that all models are the same.
#[test]
fn every_float_type_is_read() {
    let rounded = Folder::llama().tensors.into_iter().map(|(name, tensor)| {
        (name, tensor.to_dtype(DType::BF16).unwrap().to_dtype(DType::F32).unwrap().affine(1.0, 0.0).unwrap())
    });
    let rounded: Tensors = rounded.collect();
    let of = |dtype: DType| -> Vec<f32> {
        let folder = TempDir::new().unwrap();
        let tensors = rounded.iter().map(|(name, tensor)| (name.clone(), tensor.to_dtype(dtype).unwrap())).collect();
        Folder { tensors, ..Folder::llama() }.write(folder.path());
        traced(folder.path())
    };
    let single = of(DType::F32);
    assert!(single.iter().any(|x| *x != 0.0));
    for dtype in [DType::BF16, DType::F64] {
        assert_eq!(of(dtype), single, "{dtype:?}");
    }
    // A half has more digits and a smaller range: of these numbers, the smallest ones move.
    for (half, single) in of(DType::F16).iter().zip(&single) {
        assert!((half - single).abs() < 1e-5, "{half} {single}");
    }
}

#[test]
fn a_tensor_of_another_type_is_named_with_its_type() {
    for (dtype, name) in [(DType::I64, "I64"), (DType::U8, "U8"), (DType::U32, "U32")] {
        let change = |tensors: &mut Tensors| {
            let tensor = tensors.get_mut(NAME).unwrap();
            *tensor = tensor.to_dtype(dtype).unwrap();
        };
        spoiled(change, &[NAME, &format!("it is {name}"), "F32, F16, BF16 or F64"]);
    }
}

#[test]
fn a_tensor_of_another_shape_is_named_with_both() {
    let change = |tensors: &mut Tensors| {
        let tensor = tensors.get_mut(NAME).unwrap();
        *tensor = tensor.t().unwrap().contiguous().unwrap();
    };
    spoiled(change, &[NAME, "is [32, 64]", "the configuration says [64, 32]"]);
}

#[test]
fn a_tensor_that_its_part_does_not_have_is_named() {
    spoiled(|tensors| drop(tensors.remove(NAME)), &[NAME, "is missing"]);
}

#[test]
fn a_tensor_in_two_parts_is_named_with_both() {
    let twice =
        |tensors: &mut Tensors| drop(tensors.insert("model.embed_tokens.weight".to_owned(), tensors[NAME].clone()));
    spoiled(twice, &["part-1.safetensors", "model.embed_tokens.weight", "part-0.safetensors has, too"]);
}

/// What is not finite in a narrow type is found as well.
#[test]
fn nan_is_found_in_every_type() {
    for dtype in [DType::F16, DType::BF16, DType::F64] {
        let change = |tensors: &mut Tensors| {
            let tensor = tensors.get_mut(NAME).unwrap();
            let mut data = tensor.flatten_all().unwrap().to_vec1::<f32>().unwrap();
            *data.last_mut().unwrap() = f32::NAN;
            let spoiled = Tensor::from_vec(data, tensor.shape(), &Device::Cpu).unwrap();
            *tensor = spoiled.to_dtype(dtype).unwrap();
        };
        spoiled(change, &[NAME, "NaN or infinity"]);
    }
}

/// Reading from a pipe would wait for somebody to write.
#[cfg(unix)]
#[test]
fn pipes_are_no_part_of_a_model() {
    for name in ["config.json", "tokenizer.json", "model.safetensors"] {
        let folder = TempDir::new().unwrap();
        Folder::llama().write(folder.path());
        let path = folder.path().join(name);
        std::fs::remove_file(&path).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        refused(folder.path(), &[name, "no file"]);
    }
}
