use std::fs::File;
use std::io;
use std::ops::{Deref, Range};
use std::sync::Arc;
use std::time::SystemTime;

use bytemuck::Pod;
use memmap2::Mmap;

/// A mapped file, and what it was when it was mapped.
pub(crate) struct Mapped {
    map: Mmap,
    file: File,
    len: u64,
    changed: Option<SystemTime>,
}

impl Mapped {
    /// Maps a file, all of it.
    pub(crate) fn new(file: File) -> io::Result<Self> {
        let about = file.metadata()?;
        // SAFETY: the map is read-only; nothing is written through it, and every byte that is read as a number is a valid
        // one. Another process that shortens the file in place while it is mapped would end this one, as with any mapped
        // file. Every question and every block of a long one asks `unchanged` first, which narrows the time in which that
        // can happen and does not close it.
        let map = unsafe { Mmap::map(&file) }?;
        Ok(Self { map, file, len: about.len(), changed: about.modified().ok() })
    }

    /// Whether the file is still what it was.
    fn unchanged(&self) -> bool {
        self.file.metadata().is_ok_and(|now| now.len() == self.len && now.modified().ok() == self.changed)
    }
}

impl Deref for Mapped {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.map
    }
}

/// Numbers that are either here or in a mapped file; the reader cannot tell.
#[derive(Clone)]
pub struct Data<T>(Source<T>);

#[derive(Clone)]
enum Source<T> {
    Owned(Arc<Vec<T>>),
    Mapped { map: Arc<Mapped>, bytes: Range<usize> },
}

impl<T: Pod> Data<T> {
    /// A range of bytes of a mapped file; `None` if it lies outside, or is not a whole number of aligned elements.
    pub(crate) fn mapped(map: Arc<Mapped>, bytes: Range<usize>) -> Option<Self> {
        bytemuck::try_cast_slice::<u8, T>(map.get(bytes.clone())?).ok()?;
        Some(Self(Source::Mapped { map, bytes }))
    }
}

impl<T> Data<T> {
    /// Whether they are still what was opened: numbers in a mapped file may have been changed by another process.
    pub(crate) fn unchanged(&self) -> bool {
        match &self.0 {
            Source::Owned(_) => true,
            Source::Mapped { map, .. } => map.unchanged(),
        }
    }
}

impl<T> From<Vec<T>> for Data<T> {
    fn from(data: Vec<T>) -> Self {
        Self(Source::Owned(Arc::new(data)))
    }
}

impl<T: Pod> Deref for Data<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match &self.0 {
            Source::Owned(data) => data,
            // The cast was tried when the map was taken in.
            Source::Mapped { map, bytes } => bytemuck::cast_slice(&map[bytes.clone()]),
        }
    }
}

impl<T: Pod + std::fmt::Debug> std::fmt::Debug for Data<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "[{} numbers]", self.len())
    }
}

/// A (len, heads, dim) tensor.
#[derive(Clone, Debug)]
pub struct Tensor {
    /// Its numbers, contiguous.
    pub data: Data<f32>,
    /// (len, heads, dim).
    pub shape: [usize; 3],
}

impl Tensor {
    /// Numbers with their shape; whether they fit is found out when they become part of a site.
    pub fn new(data: impl Into<Data<f32>>, shape: [usize; 3]) -> Self {
        Self { data: data.into(), shape }
    }

    /// The kernel's view of it, with a batch of 1.
    pub(crate) fn view(&self) -> Result<attnscope_kernel::View<'_>, attnscope_kernel::Error> {
        let [len, heads, dim] = self.shape;
        attnscope_kernel::View::new(&self.data, [1, len, heads, dim])
    }

    /// The vector at one position of one head, both known to be there.
    pub(crate) fn row(&self, position: usize, head: usize) -> &[f32] {
        let [_, heads, dim] = self.shape;
        &self.data[(position * heads + head) * dim..][..dim]
    }
}
