//! A growing cache of keys and values, laid out for decoding.

mod aligned;
mod tiles;

use std::collections::VecDeque;
use std::ops::Range;

use aligned::Aligned;

use crate::alone::widened;
use crate::decode::{MAX_BLOCK, Source, TILE, decode};
use crate::error::{Error, argument};
use crate::forward::Shape;
use crate::params::Mask;
use crate::view::size;
use crate::{Element, Forward, Isa, Params, View};

/// Positions in a page.
const PAGE: usize = MAX_BLOCK;

/// Keys and values of the tokens read so far, stored as f32, f16 or bf16, that grows without moving what is there.
///
/// It consists of pages of 128 positions. A sliding cache keeps a number of positions and uses the pages of older ones
/// again; positions keep their numbers. All texts of a batch are equally long (use [`crate::KeyPadding`] where they are
/// not).
///
/// ```
/// use attnscope_kernel::{Isa, KvCache, Params, View, f16};
///
/// let (kv_heads, dim) = (2, 4);
/// let mut cache = KvCache::<f16>::new([1, kv_heads, dim, dim])?;
/// let params = Params { causal: true, ..Params::for_head_dim(dim) };
/// for token in 0..3 {
///     let x: Vec<f32> = (0..4 * dim).map(|i| ((token * 16 + i) as f32 * 0.37).sin()).collect();
///     let kv = View::new(&x[..kv_heads * dim], [1, 1, kv_heads, dim])?;
///     cache.append(kv, kv)?;
///     let q = View::new(&x, [1, 1, 4, dim])?;
///     let done = cache.decode(q, &params, Isa::detect())?;
///     assert_eq!((done.out.len(), done.lse.len()), (4 * dim, 4));
/// }
/// assert_eq!(cache.len(), 3);
/// # Ok::<(), attnscope_kernel::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct KvCache<T: Element = f32> {
    /// (batch, kv_heads, head_dim, v_head_dim).
    shape: [usize; 4],
    keep: Option<usize>,
    /// Whole pages that slid out of the front.
    dropped: usize,
    len: usize,
    pages: VecDeque<Page<T>>,
    spare: Vec<Page<T>>,
}

/// A page, head after head of batch after batch.
#[derive(Clone, Debug)]
struct Page<T: Element> {
    /// (batch, kv_heads, tiles, head_dim, [`TILE`]).
    keys: Aligned<T>,
    /// (batch, kv_heads, runs of at most [`tiles::COLUMNS`] columns, [`PAGE`], those columns).
    values: Aligned<T>,
}

impl<T: Element> KvCache<T> {
    /// An empty cache for (batch, kv_heads, head_dim, v_head_dim) that keeps everything.
    ///
    /// # Errors
    /// If a page of that shape would be too large to index.
    pub fn new(shape: [usize; 4]) -> Result<Self, Error> {
        let [batch, kv_heads, head_dim, v_dim] = shape;
        if size(&[batch, kv_heads, PAGE, head_dim.max(v_dim), size_of::<T>()]).is_none_or(|n| n > isize::MAX as usize) {
            return argument("shape", format!("{shape:?}"), "small enough to index");
        }
        Ok(Self { shape, keep: None, dropped: 0, len: 0, pages: VecDeque::new(), spare: Vec::new() })
    }

    /// An empty cache that keeps at least the last `keep` positions: with queries of `q_len` at a time and a window of
    /// `left`, left + q_len is enough.
    ///
    /// # Errors
    /// As [`KvCache::new`]; or if `keep` is 0.
    pub fn sliding(shape: [usize; 4], keep: usize) -> Result<Self, Error> {
        if keep == 0 {
            return argument("keep", keep, "at least 1");
        }
        Ok(Self { keep: Some(keep), ..Self::new(shape)? })
    }

    /// (batch, kv_heads, head_dim, v_head_dim).
    pub fn shape(&self) -> [usize; 4] {
        self.shape
    }

    /// How many positions were appended, those included that slid out.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether nothing was appended.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The positions that are there to be read.
    pub fn held(&self) -> Range<usize> {
        (self.dropped * PAGE).min(self.len)..self.len
    }

    /// What the pages take, in bytes.
    pub fn bytes(&self) -> usize {
        let page = |page: &Page<T>| size_of_val(&*page.keys) + size_of_val(&*page.values);
        self.pages.iter().chain(&self.spare).map(page).sum()
    }

    /// Adds keys (batch, n, kv_heads, head_dim) and values (batch, n, kv_heads, v_head_dim), rounded to the cache's type,
    /// ties to even.
    ///
    /// # Errors
    /// If the shapes do not fit each other or the cache, which is then as it was.
    pub fn append<U: Element>(&mut self, k: View<U>, v: View<U>) -> Result<(), Error> {
        let [batch, kv_heads, head_dim, v_dim] = self.shape;
        for (name, got, want) in [
            ("k batch", k.batch(), batch),
            ("k heads", k.heads(), kv_heads),
            ("k head_dim", k.dim(), head_dim),
            ("v batch", v.batch(), batch),
            ("v heads", v.heads(), kv_heads),
            ("v head_dim", v.dim(), v_dim),
        ] {
            if got != want {
                return argument(name, got, format!("{want}, as in the cache"));
            }
        }
        if v.len() != k.len() {
            return argument("v len", v.len(), format!("{}, as in k", k.len()));
        }
        let (mut key, mut value) = (vec![T::zero(); head_dim], vec![T::zero(); v_dim]);
        for row in 0..k.len() {
            let (page, slot) = (self.len / PAGE - self.dropped, self.len % PAGE);
            if page == self.pages.len() {
                let fresh = self.page();
                self.pages.push_back(fresh);
            }
            let page = &mut self.pages[page];
            for at in 0..batch * kv_heads {
                T::narrow(&widened(k.row(at / kv_heads, row, at % kv_heads)), &mut key);
                T::narrow(&widened(v.row(at / kv_heads, row, at % kv_heads)), &mut value);
                let tile = at * PAGE + slot / TILE * TILE;
                let places = page.keys[tile * head_dim..].iter_mut().skip(slot % TILE).step_by(TILE);
                for (place, key) in places.zip(&key) {
                    *place = *key;
                }
                let values = &mut page.values[at * PAGE * v_dim..(at + 1) * PAGE * v_dim];
                for (place, columns) in tiles::columns(v_dim, slot).zip(value.chunks(tiles::COLUMNS)) {
                    values[place].copy_from_slice(columns);
                }
            }
            self.len += 1;
            self.slide();
        }
        Ok(())
    }

    /// Forgets all but the first `len` positions, as after a rejected block of speculative tokens.
    ///
    /// # Errors
    /// If there are not so many, or so few are left that they slid out.
    pub fn truncate(&mut self, len: usize) -> Result<(), Error> {
        let held = self.held();
        if len < held.start || len > held.end {
            return argument("len", len, format!("{} to {}, the positions that are held", held.start, held.end));
        }
        self.len = len;
        let pages = len.div_ceil(PAGE).saturating_sub(self.dropped);
        self.spare.extend(self.pages.drain(pages..));
        Ok(())
    }

    /// The keys of some positions as (batch, n, kv_heads, head_dim) in f32: the very numbers that scores are made of, so
    /// that a [`crate::Recall`] of them gives back what entered the sums.
    ///
    /// # Errors
    /// If a position is not held.
    pub fn keys(&self, positions: Range<usize>) -> Result<Vec<f32>, Error> {
        self.rows(positions, |batch, position, head| self.key(batch, position, head))
    }

    /// The values of some positions as (batch, n, kv_heads, v_head_dim) in f32.
    ///
    /// # Errors
    /// If a position is not held.
    pub fn values(&self, positions: Range<usize>) -> Result<Vec<f32>, Error> {
        self.rows(positions, |batch, position, head| self.value(batch, position, head))
    }

    /// Attention of `q`, (batch, q_len, q_heads, head_dim), over the cache: the last query stands at the last position,
    /// whose key has been appended before. As [`crate::forward`] over keys and values of all positions; to `params`
    /// they are kv_len, those that slid out included.
    ///
    /// # Errors
    /// If the shapes do not fit each other or the parameters, or a query would see a position that slid out.
    pub fn decode<Q: Element>(&self, q: View<Q>, params: &Params, isa: Isa) -> Result<Forward, Error> {
        let [batch, kv_heads, head_dim, v_dim] = self.shape;
        let shape = Shape::of_shapes(q.shape(), [batch, self.len, kv_heads, head_dim])?;
        params.check(&shape)?;
        let Some(out_len) = size(&[batch, shape.q_len, shape.q_heads, v_dim]) else {
            return argument("q shape", format!("{:?}", q.shape()), "small enough to index");
        };
        let reach =
            if shape.q_len == 0 { 0..0 } else { Mask::new(params, shape.q_len, self.len).reach(0..shape.q_len) };
        let held = self.held();
        if !reach.is_empty() && reach.start < held.start {
            let want = format!("{} or later: what is before slid out", held.start);
            return argument("the first key that a query sees", reach.start, want);
        }
        let mut out = vec![0.0; out_len];
        let lse = decode(q, self, shape, params, isa, &mut out);
        Ok(Forward { out, lse })
    }

    /// Gives up pages that hold nothing of what is kept.
    fn slide(&mut self) {
        let Some(keep) = self.keep else { return };
        while self.len.saturating_sub(keep) >= (self.dropped + 1) * PAGE {
            self.spare.extend(self.pages.pop_front());
            self.dropped += 1;
        }
    }

    fn page(&mut self) -> Page<T> {
        let [batch, kv_heads, head_dim, v_dim] = self.shape;
        self.spare.pop().unwrap_or_else(|| Page {
            keys: Aligned::new(batch * kv_heads * PAGE * head_dim),
            values: Aligned::new(batch * kv_heads * PAGE * v_dim),
        })
    }

    /// Rows of some positions.
    fn rows(&self, positions: Range<usize>, row: impl Fn(usize, usize, usize) -> Vec<f32>) -> Result<Vec<f32>, Error> {
        let held = self.held();
        if positions.start > positions.end || positions.start < held.start || positions.end > held.end {
            return argument("positions", format!("{positions:?}"), format!("a range within {held:?}"));
        }
        let [batch, kv_heads, ..] = self.shape;
        let mut rows = Vec::new();
        for batch in 0..batch {
            for position in positions.clone() {
                for head in 0..kv_heads {
                    rows.extend(row(batch, position, head));
                }
            }
        }
        Ok(rows)
    }
}
