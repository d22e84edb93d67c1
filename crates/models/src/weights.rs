//! Tensors by name, with the shape that the configuration promises, as f32 or in the quantised form of their file.

mod form;

use std::cell::RefCell;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use candle_core::Tensor;
use candle_core::quantized::QTensor;

use crate::error::{Error, Result, reason};
use crate::linear::Matrix;

pub use form::{Choice, Form, Kept};

/// Where tensors come from.
pub(crate) trait TensorFile: Send {
    /// The shape of a tensor; none if it is not there.
    fn shape(&self, name: &str) -> Option<Vec<usize>>;
    /// The tensor as f32 on the CPU.
    fn read(&self, name: &str) -> candle_core::Result<Tensor>;
    /// What the file itself calls it.
    fn called(&self, name: &str) -> String {
        name.to_owned()
    }
    /// A matrix, (out, inp), whose products are to be computed in its quantised form; none of others.
    fn quantised(&self, _name: &str) -> candle_core::Result<Option<QTensor>> {
        Ok(None)
    }
    /// Its own names of all tensors that must be read; none of containers that may hold more than is known here.
    fn names(&self) -> Vec<String> {
        Vec::new()
    }
    /// In which form weights are computed with, and what they are quantised as; none of files that know no quantisation.
    fn form(&self) -> Option<(Form, Vec<&'static str>)> {
        None
    }
}

/// The tensors of one checkpoint.
pub(crate) struct Weights {
    path: PathBuf,
    file: Box<dyn TensorFile>,
    /// How far products of each quantised matrix that was read are from those in f32.
    errors: RefCell<Vec<f64>>,
    /// The file's own names of what was read.
    read: RefCell<HashSet<String>>,
}

impl Weights {
    pub(crate) fn new(path: &Path, file: impl TensorFile + 'static) -> Self {
        Self { path: path.to_owned(), file: Box::new(file), errors: RefCell::default(), read: RefCell::default() }
    }

    /// Whether there is a tensor of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.file.shape(name).is_some()
    }

    /// A tensor that must be there, have this shape, and hold nothing but finite numbers.
    pub(crate) fn get(&self, name: &str, shape: &[usize]) -> Result<Tensor> {
        self.check(name, shape)?;
        let tensor = self.file.read(name).map_err(|error| self.unread(name, &error))?;
        match all_finite(&tensor.flatten_all()?)? {
            true => Ok(tensor),
            false => Err(self.not_finite(name)),
        }
    }

    /// Likewise a matrix, (out, inp), to multiply with or to take rows of.
    pub(crate) fn matrix(&self, name: &str, [out, inp]: [usize; 2]) -> Result<Matrix> {
        self.check(name, &[out, inp])?;
        match self.quantised(name)? {
            Some(matrix) => Ok(matrix),
            None => Ok(Matrix::Full(self.get(name, &[out, inp])?)),
        }
    }

    /// A matrix, (out, inp), that a folder holds the other way round.
    pub(crate) fn turned(&self, name: &str, [inp, out]: [usize; 2]) -> Result<Matrix> {
        self.check(name, &[inp, out])?;
        match self.quantised(name)? {
            Some(matrix) => Ok(matrix),
            None => Ok(Matrix::Full(self.get(name, &[inp, out])?.t()?.contiguous()?)),
        }
    }

    fn quantised(&self, name: &str) -> Result<Option<Matrix>> {
        let read = self.file.quantised(name).map_err(|error| self.unread(name, &error))?;
        let Some(matrix) = read.map(|tensor| Matrix::Quantised(Arc::new(tensor))) else { return Ok(None) };
        if !matrix.all_finite()? {
            return Err(self.not_finite(name));
        }
        self.errors.borrow_mut().push(matrix.error()?);
        Ok(Some(matrix))
    }

    /// How the weights that were read are kept; none of files that know no quantisation.
    pub(crate) fn kept(&self) -> Option<Kept> {
        let (form, quantisations) = self.file.form()?;
        Some(Kept { form, quantisations, errors: self.errors.borrow().clone() })
    }

    fn check(&self, name: &str, shape: &[usize]) -> Result<()> {
        let called = self.file.called(name);
        match self.file.shape(name) {
            None => Err(self.fail(format!("tensor {called} is missing"))),
            Some(found) if found != shape => {
                Err(self.fail(format!("tensor {called} is {found:?}, but the configuration says {shape:?}")))
            }
            Some(_) => {
                self.read.borrow_mut().insert(called);
                Ok(())
            }
        }
    }

    /// Every tensor must have been read: what is passed over would be missing in every number.
    pub(crate) fn all_read(&self) -> Result<()> {
        let read = self.read.borrow();
        match self.file.names().into_iter().find(|name| !read.contains(name)) {
            Some(name) => Err(self.fail(format!("it has a tensor {name}, which is not supported yet"))),
            None => Ok(()),
        }
    }

    fn unread(&self, name: &str, error: &candle_core::Error) -> Error {
        self.fail(format!("tensor {} does not read: {}", self.file.called(name), reason(error)))
    }

    fn not_finite(&self, name: &str) -> Error {
        let name = self.file.called(name);
        self.fail(format!("tensor {name} holds NaN or infinity: the checkpoint is damaged"))
    }

    /// A tensor that nothing here reads must not be there: without it every number would be wrong, and no one told.
    pub(crate) fn refuse(&self, name: &str) -> Result<()> {
        match self.has(name) {
            true => Err(self.fail(format!("it has a tensor {}, which is not supported yet", self.file.called(name)))),
            false => Ok(()),
        }
    }

    /// Likewise a tensor of an option that is off in the configuration.
    pub(crate) fn unspoken(&self, name: &str) -> Result<()> {
        match self.has(name) {
            true => {
                let name = self.file.called(name);
                Err(self.fail(format!("it has a tensor {name}, but its configuration says that there is none")))
            }
            false => Ok(()),
        }
    }

    /// There must be no tensor of a layer beyond those that the configuration counts.
    pub(crate) fn no_more_layers(&self, layers: usize, next: &str) -> Result<()> {
        match self.has(next) {
            true => {
                let next = self.file.called(next);
                Err(self.fail(format!("its configuration says {layers} layers, but there is a tensor {next}")))
            }
            false => Ok(()),
        }
    }

    /// A problem with this checkpoint.
    pub(crate) fn fail(&self, problem: String) -> Error {
        Error::file(&self.path, problem)
    }
}

fn all_finite(tensor: &Tensor) -> candle_core::Result<bool> {
    let (storage, layout) = tensor.storage_and_layout();
    let candle_core::Storage::Cpu(candle_core::CpuStorage::F32(data)) = &*storage else {
        candle_core::bail!("weights are read as f32 on the CPU");
    };
    let data = &data[layout.start_offset()..][..layout.shape().elem_count()];
    Ok(data.chunks(1 << 16).all(|chunk| chunk.iter().fold(true, |fine, x| fine & x.is_finite())))
}
