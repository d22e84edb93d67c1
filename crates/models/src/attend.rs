//! The one place where every family's attention passes through: cache, kernel, trace.

use std::borrow::Cow;
use std::sync::Arc;

use attnscope_candle::with_view;
use attnscope_inspect::{Site, SiteKind, Tensor as Kept};
use attnscope_kernel::{Isa, KeyPadding, Params, View, forward};
use candle_core::Tensor;
use rayon::prelude::*;

use crate::cache::Cache;
use crate::error::{Error, Result};
use crate::intervene::{Interventions, Reached, Sizes};
use crate::memory::Memory;
use crate::stitch::Stitch;
use crate::stream::Stream;

/// Which layers' attention a run keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// None: only logits are wanted.
    Nothing,
    /// One layer; the run ends after it.
    Only(usize),
    /// Every layer.
    All,
}

/// One pass of a text through a model: what it may reuse, what it keeps, and how it tells how far it is.
pub struct Run<'a> {
    /// Keys and values of earlier tokens; the tokens of this run are added.
    pub cache: Option<&'a mut Cache>,
    /// Which attention to keep.
    pub keep: Keep,
    /// Called after each layer with (layers done, layers in all); the run stops when it returns false. The thread that calls
    /// may be in the midst of other runs: it must not wait for one of them, nor for a lock that is held over a run.
    pub progress: &'a (dyn Fn(usize, usize) -> bool + Sync),
    /// What was kept.
    pub sites: Vec<Site>,
    /// Where the rows that are read go instead, to be put together with those of other runs on the same cache.
    pub stitch: Option<&'a mut Stitch>,
    /// What it does otherwise than its model would.
    pub interventions: &'a Interventions,
    /// Where it is noted which cuts of the interventions had anything to cut.
    pub reached: Option<&'a mut Reached>,
    /// Which sentence each token is of, from 0, for models that tell sentences apart; none where all are of the first.
    pub types: Option<Vec<u32>>,
    /// Which tokens are no padding; none where all are. Without a cache only.
    pub real: Option<Vec<bool>>,
    /// What the decoder of an encoder-decoder attends to beside its own text; if none, what its cache has.
    pub memory: Option<Arc<Memory>>,
    /// Where the vectors of every token before each layer, and after the last, are kept: (len, hidden) each.
    pub states: Option<&'a mut Vec<Tensor>>,
    /// A layer to begin at, and the vectors before it, (len, hidden), of an earlier run on the same tokens. Without a cache only.
    pub resume: Option<(usize, Tensor)>,
    /// Where what passes at one position is kept; nothing of a run that ends before it.
    pub stream: Option<&'a mut Stream>,
}

impl<'a> Run<'a> {
    /// A run that keeps `keep` and reuses nothing.
    pub fn keeping(keep: Keep) -> Self {
        Self {
            cache: None,
            keep,
            progress: &|_, _| true,
            sites: Vec::new(),
            stitch: None,
            interventions: Interventions::NONE,
            reached: None,
            types: None,
            real: None,
            memory: None,
            states: None,
            resume: None,
            stream: None,
        }
    }

    /// How many tokens came before this run.
    pub(crate) fn offset(&self) -> usize {
        self.cache.as_ref().map_or(0, |cache| cache.len())
    }

    /// The positions of the run's tokens in their text, where padding has none: it is counted as the token after it. As
    /// transformers' generation counts them.
    pub(crate) fn positions(&self, len: usize) -> Vec<u32> {
        let Some(real) = &self.real else { return (self.offset() as u32..).take(len).collect() };
        let counted = real.iter().scan(0, |before, real| {
            let position = *before;
            *before += u32::from(*real);
            Some(position)
        });
        counted.take(len).collect()
    }

    /// How many queries of an attention came in earlier runs; none in a run without a cache, which reads a whole text.
    fn before(&self, kind: SiteKind, layer: usize, len: usize) -> Option<usize> {
        let read = self.cache.as_ref()?.read(layer);
        // Across, a layer attends after it has taken this run's tokens into its cache.
        Some(if kind == SiteKind::Cross { read.saturating_sub(len) } else { read })
    }

    /// Shown by a family the vectors of every token, (len, hidden), before each layer. Whether to pass that layer over, because
    /// the run begins at a later one: the vectors there are then put in the place of `x`.
    ///
    /// # Errors
    /// As [`Run::state`].
    pub(crate) fn skips(&mut self, layer: usize, x: &mut Tensor) -> Result<bool> {
        match &self.resume {
            Some((first, _)) if layer < *first => return Ok(true),
            Some((first, state)) if layer == *first => *x = state.clone(),
            _ => {}
        }
        self.state(x)?;
        Ok(false)
    }

    /// Shown by a family the vectors after the last layer.
    ///
    /// # Errors
    /// If they cannot be read.
    pub(crate) fn state(&mut self, x: &Tensor) -> Result<()> {
        if let Some(states) = &mut self.states {
            states.push(x.clone());
        }
        if let Some(stream) = &mut self.stream {
            let row = stream.row(x)?;
            stream.states.push(row);
        }
        Ok(())
    }

    /// Adds what a layer's feed-forward net made to the vectors of every token, (len, hidden) both.
    ///
    /// # Errors
    /// If they do not fit.
    pub(crate) fn fed(&mut self, x: Tensor, added: Tensor) -> Result<Tensor> {
        if let Some(stream) = &mut self.stream {
            let row = stream.row(&added)?;
            stream.fed.push(row);
        }
        Ok((x + added)?)
    }

    /// Told by a family after each of its layers; whether to go on to the next.
    ///
    /// # Errors
    /// [`Error::Stopped`], if whoever asked for the run no longer wants it.
    pub(crate) fn layer_done(&self, layer: usize, layers: usize) -> Result<bool> {
        self.passed(layer + 1, layers)?;
        Ok(self.keep != Keep::Only(layer))
    }

    /// The same of a model with two stacks of layers: how many of all of them are done.
    ///
    /// # Errors
    /// As [`Run::layer_done`].
    pub(crate) fn passed(&self, done: usize, all: usize) -> Result<()> {
        if (self.progress)(done, all) { Ok(()) } else { Err(Error::Stopped) }
    }

    /// What the encoder made of its text.
    ///
    /// # Errors
    /// If there was none.
    pub(crate) fn memory(&self) -> Result<Arc<Memory>> {
        let cached = || self.cache.as_ref().and_then(|cache| cache.memory.clone());
        self.memory.clone().or_else(cached).ok_or_else(|| {
            Error::Text("this model has an encoder, which must read a text before its decoder can".to_owned())
        })
    }

    /// The only attention of a layer, see [`Run::attend_at`].
    ///
    /// # Errors
    /// As there.
    pub(crate) fn attend(
        &mut self,
        layer: usize,
        q: &Tensor,
        k: &Tensor,
        v: &Tensor,
        params: &Params,
    ) -> Result<Tensor> {
        self.attend_at((SiteKind::SelfAttention, layer), q, k, v, params)
    }

    /// One attention of one layer. `q` is (1, len, q_heads, head_dim), `k` and `v` (1, len, kv_heads, head_dim); the
    /// answer is (len, q_heads * v_head_dim).
    ///
    /// # Errors
    /// If the shapes do not fit each other.
    pub(crate) fn attend_at(
        &mut self,
        (kind, layer): (SiteKind, usize),
        q: &Tensor,
        k: &Tensor,
        v: &Tensor,
        params: &Params,
    ) -> Result<Tensor> {
        let (_, len, q_heads, _) = q.dims4()?;
        let (_, own_len, _, v_dim) = v.dims4()?;
        let memory = if kind == SiteKind::Cross { Some(self.memory()?) } else { None };
        let real = memory.as_ref().map_or(&self.real, |memory| memory.real()).as_ref();
        let before = self.before(kind, layer, len);
        let (here, own) = (self.interventions.here(kind, layer), self.real.as_deref());
        let isa = Isa::detect();
        // What a decoder's text leaves is kept for the tokens to come; what an encoder makes of its text, in the memory.
        let mut cache = self.cache.as_mut().filter(|_| kind == SiteKind::SelfAttention);
        let kv_len = own_len + cache.as_ref().map_or(0, |cache| cache.read(layer));
        let sizes = Sizes { len, kv_len, heads: q_heads, before };
        let mut params = Cow::Borrowed(params);
        if let Some(real) = real {
            params.to_mut().key_padding = Some(KeyPadding::new(real.as_slice()));
        }
        if let Some(reached) = &mut self.reached {
            self.interventions.reach((kind, layer), &params, sizes, reached);
        }
        for cut in here.cuts(sizes)? {
            params.to_mut().knockouts.push(cut);
        }
        let done = with_view(q, |q| {
            with_view(k, |k| {
                with_view(v, |v| match &mut cache {
                    Some(cache) => cache.attend(layer, (q, k, v), &params, isa),
                    None => forward(q, k, v, &params, isa),
                })
            })
        })???;
        let mut done = done.map_err(attnscope_inspect::Error::from)?;
        let all = |cache: &Option<&mut &mut Cache>| match cache {
            Some(cache) => Ok(cache.keys_and_values(layer).map_err(attnscope_inspect::Error::from)?),
            None => Ok::<_, Error>((kept(k)?, kept(v)?)),
        };
        if here.has_patterns() {
            let (_, values) = all(&cache)?;
            let shape = [1, values.shape[0], values.shape[1], values.shape[2]];
            let values = View::new(&values.data, shape).map_err(attnscope_inspect::Error::from)?;
            here.patch(&mut done.out, values, &params, sizes)?;
        }
        if let Some(stitch) = &mut self.stitch {
            let across = if kind == SiteKind::Cross { Some((k, v)) } else { None };
            stitch.add((kind, layer), &params, q, across, &done)?;
        } else if self.keep == Keep::All || self.keep == Keep::Only(layer) {
            let (k, v) = all(&cache)?;
            let site = Site {
                kind,
                layer,
                params: params.into_owned(),
                q: kept(q)?,
                k,
                v,
                out: Kept::new(copied(&done.out), [len, q_heads, v_dim]),
                lse: done.lse.into(),
            };
            self.sites.push(here.patched(site, sizes));
        }
        here.average(&mut done.out, own, sizes)?;
        Ok(Tensor::from_vec(done.out, (len, q_heads * v_dim), q.device())?)
    }
}

/// A (1, len, heads, dim) tensor as a trace keeps it.
pub(crate) fn kept(tensor: &Tensor) -> Result<Kept> {
    let (_, len, heads, dim) = tensor.dims4()?;
    Ok(Kept::new(gather(tensor)?, [len, heads, dim]))
}

/// The numbers of a (1, len, heads, dim) tensor, contiguous. All cores: what is kept of a long text is as much as memory can be
/// written in a good part of the time that a layer takes.
pub(crate) fn gather(tensor: &Tensor) -> Result<Vec<f32>> {
    Ok(with_view(tensor, |view: View| {
        let [_, len, heads, dim] = view.shape();
        let mut data = vec![0.0; len * heads * dim];
        data.par_chunks_mut((heads * dim).max(1)).with_min_len(64).enumerate().for_each(|(position, data)| {
            for (head, row) in data.chunks_mut(dim.max(1)).enumerate() {
                row.copy_from_slice(view.row(0, position, head));
            }
        });
        data
    })?)
}

/// A copy, likewise.
fn copied(numbers: &[f32]) -> Vec<f32> {
    const PIECE: usize = 1 << 15;
    let mut data = vec![0.0; numbers.len()];
    data.par_chunks_mut(PIECE).zip(numbers.par_chunks(PIECE)).for_each(|(to, from)| to.copy_from_slice(from));
    data
}
