//! Matrices of weights, in f32 or as their file has them, and the layers that are made of them.

use std::borrow::Cow;
use std::sync::Arc;

use candle_core::quantized::{GgmlDType, QStorage, QTensor};
use candle_core::{Device, Module, Tensor};
use rayon::prelude::*;

use crate::matvec;
use crate::matvec::FEW;

/// A matrix, (out, inp).
#[derive(Clone, Debug)]
pub(crate) enum Matrix {
    /// In f32.
    Full(Tensor),
    /// In the quantised form of its file. Its products are of vectors that are rounded to 8 bits first, or, where candle has
    /// no vector code for them, of a few rows in f32 at a time.
    Quantised(Arc<QTensor>),
}

/// y = W x + b.
#[derive(Clone, Debug)]
pub(crate) struct Linear {
    weight: Matrix,
    bias: Option<Tensor>,
}

/// How many rows are looked at together.
const ROWS: usize = 256;
/// Numbers that one thread brings into f32 at a time, and how many times that is multiplied at once.
const PIECE: usize = 1 << 16;
const PIECES: usize = 16;

impl Matrix {
    /// (out, inp).
    pub(crate) fn dims2(&self) -> candle_core::Result<(usize, usize)> {
        match self {
            Self::Full(tensor) => tensor.dims2(),
            Self::Quantised(tensor) => tensor.shape().dims2(),
        }
    }

    /// (n, inp) -> (n, out).
    pub(crate) fn times(&self, x: &Tensor) -> candle_core::Result<Tensor> {
        match self {
            Self::Full(tensor) => matvec::times(x, tensor),
            Self::Quantised(tensor) => match tensor.dtype() {
                GgmlDType::Q4_1 | GgmlDType::Q5_0 | GgmlDType::Q5_1 => self.times_in_f32(x),
                // What candle's QMatMul does.
                _ => x.contiguous()?.apply_op1_no_bwd(tensor.as_ref()),
            },
        }
    }

    /// (n, inp) -> (n, out), a few rows after the other.
    fn times_in_f32(&self, x: &Tensor) -> candle_core::Result<Tensor> {
        let (out, inp) = self.dims2()?;
        let piece = (PIECE / inp.max(1)).max(1);
        let starts: Vec<usize> = (0..out).step_by(piece).collect();
        let rows = |start: &usize| {
            let ids: Vec<u32> = (*start..out.min(start + piece)).map(|row| row as u32).collect();
            self.rows(&ids)
        };
        let products: candle_core::Result<Vec<Tensor>> = if x.dim(0)? <= FEW {
            starts.par_iter().map(|start| matvec::times(x, &rows(start)?)).collect()
        } else {
            let several = |starts: &[usize]| {
                let rows: candle_core::Result<Vec<Tensor>> = starts.par_iter().map(rows).collect();
                x.matmul(&Tensor::cat(&rows?, 0)?.t()?)
            };
            starts.chunks(PIECES).map(several).collect()
        };
        Tensor::cat(&products?, 1)
    }

    /// A few rows in f32, (n, inp): of an embedding, the vectors of tokens.
    pub(crate) fn rows(&self, ids: &[u32]) -> candle_core::Result<Tensor> {
        let ids = Tensor::new(ids, &Device::Cpu)?;
        match self {
            Self::Full(tensor) => tensor.index_select(&ids, 0),
            Self::Quantised(tensor) => tensor.embedding(&ids),
        }
    }

    /// The whole in f32; nothing is copied that is so already.
    pub(crate) fn full(&self) -> candle_core::Result<Cow<'_, Tensor>> {
        match self {
            Self::Full(tensor) => Ok(Cow::Borrowed(tensor)),
            Self::Quantised(tensor) => tensor.dequantize(&Device::Cpu).map(Cow::Owned),
        }
    }

    /// Takes matrices apart that lie in one, one below the other.
    pub(crate) fn split<const N: usize>(&self, widths: [usize; N]) -> candle_core::Result<[Self; N]> {
        let mut start = 0;
        let mut parts = Vec::with_capacity(N);
        for width in widths {
            parts.push(match self {
                Self::Full(tensor) => Self::Full(tensor.narrow(0, start, width)?),
                Self::Quantised(tensor) => Self::Quantised(Arc::new(some_rows(tensor, start, width)?)),
            });
            start += width;
        }
        let parts = parts.try_into();
        Ok(parts.unwrap_or_else(|_| unreachable!("there is a part for each width")))
    }

    /// Whether every number of a quantised matrix is finite.
    pub(crate) fn all_finite(&self) -> candle_core::Result<bool> {
        let (rows, _) = self.dims2()?;
        let starts: Vec<usize> = (0..rows).step_by(ROWS).collect();
        let fine = starts.into_par_iter().map(|start| -> candle_core::Result<bool> {
            let ids: Vec<u32> = (start..rows.min(start + ROWS)).map(|row| row as u32).collect();
            let numbers = self.rows(&ids)?.flatten_all()?.to_vec1::<f32>()?;
            Ok(numbers.iter().all(|x| x.is_finite()))
        });
        fine.try_reduce(|| true, |a, b| Ok(a && b))
    }

    /// How far products of the quantised form are from those of its own numbers in f32, relative to their length: of a
    /// few rows with vectors of the kind that norms give.
    pub(crate) fn error(&self) -> candle_core::Result<f64> {
        let (rows, width) = self.dims2()?;
        let seen = rows.min(ROWS);
        let x = Tensor::from_vec(spread(2 * width), (2, width), &Device::Cpu)?;
        let ids: Vec<u32> = (0..seen as u32).collect();
        let exact = x.matmul(&self.rows(&ids)?.t()?)?;
        let off = (self.split([seen])?[0].times(&x)? - &exact)?;
        let length = |tensor: &Tensor| -> candle_core::Result<f64> {
            let numbers = tensor.flatten_all()?.to_vec1::<f32>()?;
            Ok(numbers.iter().map(|x| f64::from(*x) * f64::from(*x)).sum::<f64>().sqrt())
        };
        let exact = length(&exact)?;
        Ok(if exact == 0.0 { 0.0 } else { length(&off)? / exact })
    }
}

impl From<Tensor> for Matrix {
    fn from(tensor: Tensor) -> Self {
        Self::Full(tensor)
    }
}

/// Rows of a quantised matrix: each is whole blocks.
fn some_rows(tensor: &QTensor, start: usize, count: usize) -> candle_core::Result<QTensor> {
    let (rows, width) = tensor.shape().dims2()?;
    let bytes = tensor.data()?;
    let row = bytes.len() / rows.max(1);
    // Words of eight bytes are where the numbers of every kind can be.
    let mut words = vec![0u64; (count * row).div_ceil(8)];
    let some = &mut bytemuck::cast_slice_mut::<u64, u8>(&mut words)[..count * row];
    some.copy_from_slice(&bytes[start * row..][..count * row]);
    QTensor::new(QStorage::from_data(Cow::Borrowed(&*some), &Device::Cpu, tensor.dtype())?, (count, width))
}

/// Numbers around 0 with a spread of 1, the same in every run. (xorshift64*, Vigna 2016)
fn spread(count: usize) -> Vec<f32> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut unit = || {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        (state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 40) as f32 / (1u64 << 24) as f32
    };
    // The sum of twelve is near a normal distribution.
    (0..count).map(|_| (0..12).map(|_| unit()).sum::<f32>() - 6.0).collect()
}

impl Linear {
    /// Of (out, inp) and (out).
    pub(crate) fn new(weight: impl Into<Matrix>, bias: Option<Tensor>) -> Self {
        Self { weight: weight.into(), bias }
    }

    /// (out, inp).
    pub(crate) fn dims2(&self) -> candle_core::Result<(usize, usize)> {
        self.weight.dims2()
    }

    /// A few rows of the weight in f32, (n, inp).
    pub(crate) fn rows(&self, ids: &[u32]) -> candle_core::Result<Tensor> {
        self.weight.rows(ids)
    }

    /// (out, inp) in f32.
    pub(crate) fn weight(&self) -> candle_core::Result<Cow<'_, Tensor>> {
        self.weight.full()
    }

    /// (out).
    pub(crate) fn bias(&self) -> Option<&Tensor> {
        self.bias.as_ref()
    }

    /// Takes layers apart that lie in one matrix, one below the other.
    pub(crate) fn split<const N: usize>(&self, widths: [usize; N]) -> candle_core::Result<[Self; N]> {
        let mut start = 0;
        let mut biases = Vec::with_capacity(N);
        for width in widths {
            biases.push(self.bias.as_ref().map(|bias| bias.narrow(0, start, width)).transpose()?);
            start += width;
        }
        let mut biases = biases.into_iter();
        Ok(self.weight.split(widths)?.map(|weight| Self { weight, bias: biases.next().flatten() }))
    }
}

impl Module for Linear {
    /// (n, inp) -> (n, out).
    fn forward(&self, x: &Tensor) -> candle_core::Result<Tensor> {
        let y = self.weight.times(x)?;
        match &self.bias {
            Some(bias) => y.broadcast_add(bias),
            None => Ok(y),
        }
    }
}
