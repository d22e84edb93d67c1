use std::ops::{Deref, Range};
use std::sync::Arc;

use bytemuck::Pod;
use memmap2::Mmap;

/// Numbers that are either here or in a mapped file; the reader cannot tell.
#[derive(Clone)]
pub struct Data<T>(Source<T>);

#[derive(Clone)]
enum Source<T> {
    Owned(Arc<Vec<T>>),
    Mapped { map: Arc<Mmap>, bytes: Range<usize> },
}

impl<T: Pod> Data<T> {
    /// A range of bytes of a mapped file; `None` if it lies outside, or is not a whole number of aligned elements.
    pub(crate) fn mapped(map: Arc<Mmap>, bytes: Range<usize>) -> Option<Self> {
        bytemuck::try_cast_slice::<u8, T>(map.get(bytes.clone())?).ok()?;
        Some(Self(Source::Mapped { map, bytes }))
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
