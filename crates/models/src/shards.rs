//! The tensors of safetensors files, read one by one as f32.
//!
//! A file is mapped only to look at its header. Tensors are read straight into the memory in which they stay: pages of a
//! map that were copied from would count as memory of this process beside the copies, and a model take twice its size.

use std::collections::HashMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use candle_core::{Device, Tensor};
use half::slice::{HalfBitsSliceExt, HalfFloatSliceExt};
use half::{bf16, f16};
use memmap2::Mmap;
use safetensors::Dtype;
use safetensors::tensor::{SafeTensors, TensorInfo};

use crate::error::{Error, Result};
use crate::weights::TensorFile;

/// One or several files that hold a model's tensors.
pub(crate) struct Shards {
    files: Vec<File>,
    tensors: HashMap<String, Place>,
}

/// Where a tensor lies.
struct Place {
    file: usize,
    /// Its first byte.
    start: u64,
    info: TensorInfo,
}

impl Shards {
    /// Looks at the headers of files; a tensor is in one of them.
    pub(crate) fn open(paths: &[PathBuf]) -> Result<Self> {
        let (mut files, mut tensors) = (Vec::new(), HashMap::<String, Place>::new());
        for (file, path) in paths.iter().enumerate() {
            let (opened, header) = look(path)?;
            files.push(opened);
            for (name, place) in header {
                if let Some(other) = tensors.insert(name.clone(), Place { file, ..place }) {
                    let other = &paths[other.file].file_name().unwrap_or_default().display();
                    return Err(Error::file(path, format!("it has a tensor {name}, which {other} has, too")));
                }
            }
        }
        Ok(Self { files, tensors })
    }
}

/// Opens a file and reads its header, which is checked against the file's length.
fn look(path: &Path) -> Result<(File, Vec<(String, Place)>)> {
    let broken = |problem: String| Error::file(path, format!("the weights do not read; fetch them again ({problem})"));
    // Opening a pipe would wait for somebody to write.
    if !path.is_file() {
        return Err(broken("it is no file".to_owned()));
    }
    let file = File::open(path).map_err(|error| broken(error.to_string()))?;
    // SAFETY: the map is read-only and gone when this function ends. Another process that shortens the file before that
    // would end this one, as with any mapped file.
    let map = unsafe { Mmap::map(&file) }.map_err(|error| broken(error.to_string()))?;
    let (len, header) = SafeTensors::read_metadata(&map).map_err(|error| broken(error.to_string()))?;
    let place =
        |info: &TensorInfo| Place { file: 0, start: (8 + len + info.data_offsets.0) as u64, info: info.clone() };
    let places = header.tensors().into_iter().map(|(name, info)| (name, place(info))).collect();
    Ok((file, places))
}

impl TensorFile for Shards {
    fn shape(&self, name: &str) -> Option<Vec<usize>> {
        Some(self.tensors.get(name)?.info.shape.clone())
    }

    fn read(&self, name: &str) -> candle_core::Result<Tensor> {
        let Some(place) = self.tensors.get(name) else { candle_core::bail!("it is not there") };
        let mut file = &self.files[place.file];
        file.seek(SeekFrom::Start(place.start))?;
        let shape = &place.info.shape[..];
        // So many as the file has bytes for: its header was held against its length.
        let mut data = vec![0.0; shape.iter().product()];
        match place.info.dtype {
            Dtype::F32 => file.read_exact(bytemuck::cast_slice_mut(&mut data))?,
            Dtype::F16 => widen(file, &mut data, |halves: &[u16], x| {
                halves.reinterpret_cast::<f16>().convert_to_f32_slice(x);
            })?,
            Dtype::BF16 => widen(file, &mut data, |halves: &[u16], x| {
                halves.reinterpret_cast::<bf16>().convert_to_f32_slice(x);
            })?,
            Dtype::F64 => widen(file, &mut data, |wide: &[f64], x| {
                x.iter_mut().zip(wide).for_each(|(x, wide)| *x = *wide as f32);
            })?,
            other => candle_core::bail!("it is {other:?}, but weights must be F32, F16, BF16 or F64"),
        }
        Tensor::from_vec(data, shape, &Device::Cpu)
    }
}

/// Reads numbers of another width piece by piece, so that the file's own form is never there as a whole.
fn widen<T: bytemuck::Pod>(
    mut file: &File,
    data: &mut [f32],
    convert: impl Fn(&[T], &mut [f32]),
) -> std::io::Result<()> {
    const PIECE: usize = 1 << 15;
    let mut piece = vec![T::zeroed(); PIECE.min(data.len())];
    for part in data.chunks_mut(PIECE) {
        let piece = &mut piece[..part.len()];
        file.read_exact(bytemuck::cast_slice_mut(piece))?;
        convert(piece, part);
    }
    Ok(())
}
