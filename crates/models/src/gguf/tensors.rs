//! The tensors of a GGUF file, under the names that a folder gives them.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use candle_core::quantized::{GgmlDType, QStorage, QTensor};
use candle_core::{Device, Tensor};
use memmap2::Mmap;

use super::header::Header;
use super::kinds;
use super::names::{FACTORS, Names, Stored};
use crate::error::{Error, Result};
use crate::weights::{Form, TensorFile};

/// Every tensor, checked to lie within the file and to be stored in a way that is read.
pub(crate) struct Tensors {
    map: Arc<Mmap>,
    tensors: BTreeMap<String, Stretch>,
}

/// Where a tensor is.
struct Stretch {
    kind: GgmlDType,
    shape: Vec<usize>,
    bytes: Range<usize>,
}

impl Tensors {
    pub(super) fn new(path: &Path, map: &Arc<Mmap>, header: &Header) -> Result<Self> {
        let mut tensors = BTreeMap::new();
        for (name, place) in &header.tensors {
            let kind =
                kinds::read(place.code).map_err(|problem| Error::file(path, format!("tensor {name} {problem}")))?;
            let broken = |problem: String| {
                Error::file(path, format!("is damaged or cut short; fetch it again (tensor {name} {problem})"))
            };
            let block = kind.block_size();
            if !place.shape.last().copied().unwrap_or(1).is_multiple_of(block) {
                let row = place.shape.last().copied().unwrap_or(1);
                return Err(broken(format!("has rows of {row} numbers, which do not fill blocks of {block}")));
            }
            let elements = place.shape.iter().try_fold(1usize, |product, &n| product.checked_mul(n));
            let len = elements.and_then(|elements| (elements / block).checked_mul(kind.type_size()));
            let start = usize::try_from(place.offset).ok().and_then(|offset| header.data.checked_add(offset));
            let end = start.zip(len).and_then(|(start, len)| start.checked_add(len));
            let (Some(start), Some(end)) = (start, end.filter(|end| *end <= map.len())) else {
                return Err(broken(format!("would end beyond the {} bytes of the file", map.len())));
            };
            // What is read in place must be where its numbers can be.
            if !start.is_multiple_of(8) {
                return Err(broken(format!("begins at byte {start}, which is no multiple of 8")));
            }
            tensors.insert(name.clone(), Stretch { kind, shape: place.shape.clone(), bytes: start..end });
        }
        // Two that share their bytes are no two tensors, and many would take memory that no file stands for.
        let taken = tensors.values().try_fold(0usize, |sum, tensor: &Stretch| sum.checked_add(tensor.bytes.len()));
        match taken.is_some_and(|taken| taken <= map.len()) {
            true => Ok(Self { map: map.clone(), tensors }),
            false => Err(Error::file(path, "is damaged; fetch it again (its tensors take more bytes than it has)")),
        }
    }

    /// How many numbers there are in all.
    pub(super) fn numbers(&self) -> usize {
        self.tensors.values().map(|tensor| tensor.shape.iter().product::<usize>()).sum()
    }

    /// The quantisations of matrices, by how many numbers each has; none where no matrix is quantised.
    pub(super) fn quantisations(&self) -> Vec<&'static str> {
        let mut counted: BTreeMap<&'static str, usize> = BTreeMap::new();
        for tensor in self.tensors.values().filter(|tensor| kinds::quantised(tensor.kind)) {
            *counted.entry(kinds::name(tensor.kind)).or_default() += tensor.shape.iter().product::<usize>();
        }
        let mut names: Vec<_> = counted.into_iter().collect();
        names.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        names.into_iter().map(|(name, _)| name).collect()
    }

    /// A list of numbers, by its name here.
    pub(super) fn vector(&self, name: &str) -> candle_core::Result<Vec<f32>> {
        match self.tensors.get(name) {
            Some(tensor) => self.quantised(tensor, None)?.dequantize(&Device::Cpu)?.flatten_all()?.to_vec1(),
            None => Ok(Vec::new()),
        }
    }

    /// A tensor as it is stored; with the rows of so many heads put into the order in which halves turn together.
    fn quantised(&self, tensor: &Stretch, heads: Option<usize>) -> candle_core::Result<QTensor> {
        let bytes = &self.map[tensor.bytes.clone()];
        let rows = tensor.shape.first().copied().unwrap_or(1);
        let pairs = |heads: &usize| !bytes.is_empty() && *heads > 0 && rows.is_multiple_of(heads.saturating_mul(2));
        let Some(heads) = heads.filter(pairs) else {
            let storage = QStorage::from_data(Cow::Borrowed(bytes), &Device::Cpu, tensor.kind)?;
            return QTensor::new(storage, tensor.shape.clone());
        };
        if tensor.shape.len() == 1 && kinds::quantised(tensor.kind) {
            candle_core::bail!("rows that turn are one number long, but stored in blocks");
        }
        let (width, dim) = (bytes.len() / rows, rows / heads);
        // Words of eight bytes are where the numbers of every kind can be.
        let mut words = vec![0u64; bytes.len().div_ceil(8)];
        let ordered = &mut bytemuck::cast_slice_mut::<u64, u8>(&mut words)[..bytes.len()];
        for (row, place) in ordered.chunks_exact_mut(width).enumerate() {
            let (head, within) = (row / dim, row % dim);
            let from = head * dim + 2 * (within % (dim / 2)) + within / (dim / 2);
            place.copy_from_slice(&bytes[from * width..][..width]);
        }
        let storage = QStorage::from_data(Cow::Borrowed(&*ordered), &Device::Cpu, tensor.kind)?;
        QTensor::new(storage, tensor.shape.clone())
    }
}

/// The tensors as a family asks for them.
pub(super) struct Named {
    pub(super) tensors: Tensors,
    pub(super) names: &'static Names,
    /// Query heads, and heads of keys.
    pub(super) heads: (usize, usize),
    pub(super) form: Form,
}

impl Named {
    fn find(&self, name: &str) -> Option<(&Stretch, Stored)> {
        let (here, stored) = self.names.here(name)?;
        Some((self.tensors.tensors.get(&here)?, stored))
    }

    fn load(&self, tensor: &Stretch, stored: Stored) -> candle_core::Result<QTensor> {
        let heads = match stored {
            Stored::InterleavedQueries => Some(self.heads.0),
            Stored::InterleavedKeys => Some(self.heads.1),
            _ => None,
        };
        self.tensors.quantised(tensor, heads)
    }
}

impl TensorFile for Named {
    fn shape(&self, name: &str) -> Option<Vec<usize>> {
        let (tensor, stored) = self.find(name)?;
        let mut shape = tensor.shape.clone();
        if stored == Stored::Turned {
            shape.reverse();
        }
        Some(shape)
    }

    fn called(&self, name: &str) -> String {
        self.names.here(name).map_or_else(|| name.to_owned(), |(here, _)| here)
    }

    fn read(&self, name: &str) -> candle_core::Result<Tensor> {
        let Some((tensor, stored)) = self.find(name) else { candle_core::bail!("there is no tensor {name}") };
        let numbers = self.load(tensor, stored)?.dequantize(&Device::Cpu)?;
        match stored {
            // Exact, but for weights below a half, which lose the last few bits.
            Stored::Whole => numbers - 1.0,
            Stored::Turned if numbers.rank() == 2 => numbers.t()?.contiguous(),
            _ => Ok(numbers),
        }
    }

    fn quantised(&self, name: &str) -> candle_core::Result<Option<QTensor>> {
        let found = self.find(name).filter(|(tensor, _)| tensor.shape.len() == 2 && kinds::quantised(tensor.kind));
        match found.filter(|_| self.form == Form::Quantised) {
            Some((tensor, stored)) => self.load(tensor, stored).map(Some),
            None => Ok(None),
        }
    }

    fn names(&self) -> Vec<String> {
        // Rotary factors were read with the header.
        self.tensors.tensors.keys().filter(|name| !FACTORS.contains(&name.as_str())).cloned().collect()
    }

    fn form(&self) -> Option<(Form, Vec<&'static str>)> {
        let quantisations = self.tensors.quantisations();
        (!quantisations.is_empty()).then_some((self.form, quantisations))
    }
}
