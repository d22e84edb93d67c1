//! Attention of many runs over one growing text, put together as if one run had read all of it.

use attnscope_inspect::{Site, SiteKind, Tensor as Kept};
use attnscope_kernel::{Forward, Params};
use candle_core::Tensor;

use crate::attend::{gather, kept};
use crate::cache::Cache;
use crate::error::Result;

/// The rows that runs on one cache have read, in order. O(n) memory: keys and values stay in the cache until the end.
#[derive(Default, Debug)]
pub struct Stitch {
    parts: Vec<Part>,
}

/// One attention of one layer.
#[derive(Debug)]
struct Part {
    kind: SiteKind,
    layer: usize,
    params: Params,
    /// (q_heads, head_dim, v_head_dim).
    dims: [usize; 3],
    /// (len, q_heads, head_dim), growing.
    q: Vec<f32>,
    /// (len, q_heads, v_head_dim), growing.
    out: Vec<f32>,
    /// Of each query head, (len), growing.
    lse: Vec<Vec<f64>>,
    /// Keys and values of another text, which is all there from the beginning.
    across: Option<(Kept, Kept)>,
}

impl Stitch {
    /// What one run leaves at one attention: its queries, (1, len, q_heads, head_dim), and what came out. `across` are
    /// keys and values of another text; without them they are the cache's.
    ///
    /// # Errors
    /// If the tensors do not read.
    pub(crate) fn add(
        &mut self,
        (kind, layer): (SiteKind, usize),
        params: &Params,
        q: &Tensor,
        across: Option<(&Tensor, &Tensor)>,
        done: &Forward,
    ) -> Result<()> {
        let (_, len, heads, head_dim) = q.dims4()?;
        let at = self.parts.iter().position(|part| (part.kind, part.layer) == (kind, layer));
        let at = match at {
            Some(at) => at,
            None => {
                self.parts.push(Part {
                    kind,
                    layer,
                    params: params.clone(),
                    dims: [heads, head_dim, done.out.len() / (len * heads).max(1)],
                    q: Vec::new(),
                    out: Vec::new(),
                    lse: vec![Vec::new(); heads],
                    across: across.map(|(k, v)| Ok::<_, crate::Error>((kept(k)?, kept(v)?))).transpose()?,
                });
                self.parts.len() - 1
            }
        };
        let part = &mut self.parts[at];
        part.q.extend(gather(q)?);
        part.out.extend(&done.out);
        for (all, lse) in part.lse.iter_mut().zip(done.lse.chunks(len.max(1))) {
            all.extend(lse);
        }
        Ok(())
    }

    /// Every attention, each as one operation over the whole text.
    ///
    /// # Errors
    /// If the cache no longer has all keys.
    pub(crate) fn finish(self, cache: &Cache) -> Result<Vec<Site>> {
        self.parts.into_iter().map(|part| part.finish(cache)).collect()
    }
}

impl Part {
    fn finish(self, cache: &Cache) -> Result<Site> {
        let [heads, head_dim, v_dim] = self.dims;
        let len = self.lse.first().map_or(0, Vec::len);
        let (k, v) = match self.across {
            Some(both) => both,
            None => cache.keys_and_values(self.layer).map_err(attnscope_inspect::Error::from)?,
        };
        Ok(Site {
            kind: self.kind,
            layer: self.layer,
            params: self.params,
            q: Kept::new(self.q, [len, heads, head_dim]),
            k,
            v,
            out: Kept::new(self.out, [len, heads, v_dim]),
            lse: self.lse.concat().into(),
        })
    }
}
