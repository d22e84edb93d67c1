//! Every quantisation: computed in f32, and as it is.

use attnscope_models::{Cache, Choice, Form, Keep, Model, Run};
use candle_core::quantized::gguf_file::Value;
use candle_core::quantized::{GgmlDType, QTensor};
use candle_core::{Device, Tensor};
use tempfile::TempDir;

use crate::checkpoints::{Tiny, apart, largest, trace};
use crate::tiny::{FFN, Gguf, HIDDEN, KV_HEADS, Q_HEADS, Seeded, VOCAB};
use crate::writer::gguf_of;

const QUANTISED: [GgmlDType; 10] = [
    GgmlDType::Q4_0,
    GgmlDType::Q4_1,
    GgmlDType::Q5_0,
    GgmlDType::Q5_1,
    GgmlDType::Q8_0,
    GgmlDType::Q2K,
    GgmlDType::Q3K,
    GgmlDType::Q4K,
    GgmlDType::Q5K,
    GgmlDType::Q6K,
];

/// Rows that fill the blocks of every quantisation.
const WIDE: usize = 256;

/// A Llama whose rows are so wide.
fn wide() -> Gguf {
    let mut gguf = Gguf::llama();
    let mut seeded = Seeded::new(23);
    let head_dim = WIDE / Q_HEADS;
    for tensor in gguf.tensors.values_mut().filter(|tensor| tensor.rank() == 2) {
        let widened = |size: usize| match size {
            VOCAB => VOCAB,
            HIDDEN | FFN => WIDE,
            other => other / (HIDDEN / Q_HEADS) * head_dim,
        };
        let shape: Vec<usize> = tensor.dims().iter().map(|size| widened(*size)).collect();
        let numbers: Vec<f32> =
            (0..shape.iter().product()).map(|_| (seeded.below(2001) as f32 - 1000.0) / 10_000.0).collect();
        *tensor = Tensor::from_vec(numbers, shape, &Device::Cpu).unwrap();
    }
    for tensor in gguf.tensors.values_mut().filter(|tensor| tensor.rank() == 1) {
        *tensor = Tensor::ones(WIDE, candle_core::DType::F32, &Device::Cpu).unwrap();
    }
    for (key, size) in [("embedding_length", WIDE), ("feed_forward_length", WIDE)] {
        gguf.set(&format!("llama.{key}"), Value::U32(size as u32));
    }
    assert_eq!(gguf.tensors["blk.0.attn_k.weight"].dims(), [KV_HEADS * head_dim, WIDE]);
    gguf
}

fn open(gguf: &Gguf, choice: Choice) -> Model {
    let folder = TempDir::new().unwrap();
    Model::open_with(&gguf.write(folder.path()), choice).unwrap()
}

fn hidden(model: &Model, ids: &[u32]) -> Vec<f32> {
    let hidden = model.hidden(ids, &mut Run::keeping(Keep::Nothing)).unwrap();
    hidden.flatten_all().unwrap().to_vec1().unwrap()
}

const IDS: [u32; 9] = [5, 80, 17, 200, 3, 256, 257, 90, 41];

/// f32 is exact: as if the file held the numbers that its blocks stand for.
#[test]
fn every_quantisation_is_read_to_the_last_bit() {
    for dtype in QUANTISED.into_iter().chain([GgmlDType::F16, GgmlDType::BF16]) {
        let mut stored = wide();
        stored.dtype = dtype;
        let mut unfolded = wide();
        for tensor in unfolded.tensors.values_mut().filter(|tensor| tensor.rank() == 2) {
            *tensor = QTensor::quantize(tensor, dtype).unwrap().dequantize(&Device::Cpu).unwrap();
        }
        let model = open(&stored, Choice::Auto);
        assert_eq!(hidden(&model, &IDS), hidden(&open(&unfolded, Choice::F32), &IDS), "{dtype:?}");
        assert_ne!(hidden(&model, &IDS), hidden(&open(&wide(), Choice::F32), &IDS), "{dtype:?}");
        // Few as they are, they are computed in f32 unasked.
        let form = model.kept().map(|kept| kept.form);
        assert_eq!(form, QUANTISED.contains(&dtype).then_some(Form::F32), "{dtype:?}");
    }
}

#[test]
fn computed_as_they_are_weights_give_nearly_the_same_and_the_error_is_said() {
    for dtype in QUANTISED {
        let mut gguf = wide();
        gguf.dtype = dtype;
        let (exact, quick) = (open(&gguf, Choice::F32), open(&gguf, Choice::Quantised));
        let kept = quick.kept().unwrap();
        let worst = kept.worst().unwrap();
        assert_eq!((kept.form, kept.errors.len()), (Form::Quantised, 15), "{dtype:?}");
        let rounded = !matches!(dtype, GgmlDType::Q4_1 | GgmlDType::Q5_0 | GgmlDType::Q5_1);
        // Rounding a vector to 8 bits leaves well under a hundredth of it; what goes through f32 is off by sums in another
        // order.
        let errors = if rounded { 1e-5..2e-2 } else { 0.0..1e-6 };
        assert!(errors.contains(&worst), "{dtype:?}: {worst}");
        let said = kept.to_string();
        assert!(said.contains(kept.quantisations[0]) && said.contains("15 matrices"), "{said}");
        let (a, b) = (hidden(&exact, &IDS), hidden(&quick, &IDS));
        let off = apart(&a, &b) / f64::from(largest(&a));
        eprintln!("{dtype:?}: products off by {worst:.1e}, hidden states by {off:.1e} of the largest");
        let errors = if rounded { 1e-6..0.05 } else { 0.0..1e-5 };
        assert!(errors.contains(&off), "{dtype:?}: {off}");
        // Few vectors go another way than many.
        let few = IDS.len() - 3..IDS.len();
        let mut cache = Cache::default();
        quick.hidden(&IDS[..few.start], &mut Run { cache: Some(&mut cache), ..Run::keeping(Keep::Nothing) }).unwrap();
        let run = &mut Run { cache: Some(&mut cache), ..Run::keeping(Keep::Nothing) };
        let last: Vec<f32> = quick.hidden(&IDS[few.clone()], run).unwrap().flatten_all().unwrap().to_vec1().unwrap();
        let off = apart(&b[few.start * b.len() / IDS.len()..], &last) / f64::from(largest(&b));
        assert!(off < 1e-5, "{dtype:?}, few after many: {off}");
        for head in trace(&quick, &IDS).heads(None).unwrap() {
            assert!(head.proof.row_sum_error < 1e-5 && head.proof.output_error < 1e-5, "{head:?}");
        }
    }
}

/// Rows that turn, matrices that are fused or lie the other way round: none of them may be mixed up in the quantised form.
#[test]
fn every_family_computes_in_the_quantised_form() {
    for name in ["gpt2-lm", "llama-llama3", "qwen2-windows", "qwen3-plain", "gemma2-lm", "gemma3-lm", "phi3-window"] {
        let tiny = Tiny::named(name);
        let mut gguf = gguf_of(&tiny.path);
        gguf.dtype = GgmlDType::Q8_0;
        let (exact, quick) = (open(&gguf, Choice::F32), open(&gguf, Choice::Quantised));
        let ids = &tiny.case.ids[..12];
        let (a, b) = (hidden(&exact, ids), hidden(&quick, ids));
        let length = |numbers: &[f32]| numbers.iter().map(|x| f64::from(x * x)).sum::<f64>().sqrt();
        let off: Vec<f32> = a.iter().zip(&b).map(|(a, b)| a - b).collect();
        let off = length(&off) / length(&a);
        eprintln!("{name}: hidden states off by {off:.1e}");
        assert!(off > 1e-5 && off < 0.1, "{name}: {off}");
    }
}

#[test]
fn what_is_not_quantised_cannot_be_computed_so() {
    let folder = TempDir::new().unwrap();
    for path in [wide().write(folder.path()), Tiny::named("llama-base").path] {
        let Err(error) = Model::open_with(&path, Choice::Quantised) else { panic!("opened") };
        assert!(error.to_string().contains("not quantised; leave out --weights"), "{error}");
        assert!(Model::open_with(&path, Choice::F32).unwrap().kept().is_none());
    }
}

#[test]
fn nan_is_found_in_quantised_blocks_too() {
    let mut gguf = wide();
    gguf.dtype = GgmlDType::Q8_0;
    let name = "blk.1.ffn_up.weight";
    let stored = QTensor::quantize(&gguf.tensors[name], gguf.dtype).unwrap();
    let (blocks, mut file) = (stored.data().unwrap().into_owned(), gguf.bytes());
    let at = file.windows(64).position(|window| window == &blocks[..64]).unwrap();
    // The scale of a block is its first two bytes: infinity, then NaN.
    for scale in [0x7C00u16, 0x7E00] {
        file[at..at + 2].copy_from_slice(&scale.to_le_bytes());
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("nan.gguf");
        std::fs::write(&path, &file).unwrap();
        for choice in [Choice::F32, Choice::Quantised] {
            let Err(error) = Model::open_with(&path, choice) else { panic!("opened") };
            assert!(error.to_string().contains(&format!("tensor {name} holds NaN or infinity")), "{error}");
        }
    }
}
