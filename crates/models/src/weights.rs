//! Tensors by name, with the shape that the configuration promises, as f32.

use std::path::{Path, PathBuf};

use candle_core::Tensor;

use crate::error::{Error, Result, reason};

/// Where tensors come from.
pub(crate) trait TensorFile: Send {
    /// The shape of a tensor; none if it is not there.
    fn shape(&self, name: &str) -> Option<Vec<usize>>;
    /// The tensor as f32 on the CPU.
    fn read(&self, name: &str) -> candle_core::Result<Tensor>;
}

/// The tensors of one checkpoint.
pub(crate) struct Weights {
    path: PathBuf,
    file: Box<dyn TensorFile>,
}

impl Weights {
    pub(crate) fn new(path: &Path, file: impl TensorFile + 'static) -> Self {
        Self { path: path.to_owned(), file: Box::new(file) }
    }

    /// Whether there is a tensor of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.file.shape(name).is_some()
    }

    /// A tensor that must be there, have this shape, and hold nothing but finite numbers.
    pub(crate) fn get(&self, name: &str, shape: &[usize]) -> Result<Tensor> {
        let Some(found) = self.file.shape(name) else {
            return Err(self.fail(format!("tensor {name} is missing")));
        };
        if found != shape {
            return Err(self.fail(format!("tensor {name} is {found:?}, but the configuration says {shape:?}")));
        }
        let unread = |error| self.fail(format!("tensor {name} does not read: {}", reason(&error)));
        let tensor = self.file.read(name).map_err(unread)?;
        if !all_finite(&tensor.flatten_all()?)? {
            return Err(self.fail(format!("tensor {name} holds NaN or infinity: the checkpoint is damaged")));
        }
        Ok(tensor)
    }

    /// A tensor that nothing here reads must not be there: without it every number would be wrong, and no one told.
    pub(crate) fn refuse(&self, name: &str) -> Result<()> {
        match self.has(name) {
            true => Err(self.fail(format!("it has a tensor {name}, which is not supported yet"))),
            false => Ok(()),
        }
    }

    /// Likewise a tensor of an option that is off in the configuration.
    pub(crate) fn unspoken(&self, name: &str) -> Result<()> {
        match self.has(name) {
            true => Err(self.fail(format!("it has a tensor {name}, but its configuration says that there is none"))),
            false => Ok(()),
        }
    }

    /// There must be no tensor of a layer beyond those that the configuration counts.
    pub(crate) fn no_more_layers(&self, layers: usize, next: &str) -> Result<()> {
        match self.has(next) {
            true => Err(self.fail(format!("its configuration says {layers} layers, but there is a tensor {next}"))),
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
