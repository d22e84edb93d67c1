//! Keys and values of the tokens read so far, in the kernel's own cache.

use std::sync::Arc;

use attnscope_inspect::Tensor as Kept;
use attnscope_kernel::{Error, Forward, Isa, KvCache, Params, View, forward};

use crate::memory::Memory;

/// Query rows of a kv head that walk over the cache as it lies; for more, keys and values are laid out once for all of them.
const FEW: usize = 32;

/// Keys and values of the tokens read so far, layer by layer.
#[derive(Clone, Debug, Default)]
pub struct Cache {
    /// None for a layer that has read nothing.
    layers: Vec<Option<KvCache>>,
    /// What the decoder of an encoder-decoder attends to beside its own text.
    pub(crate) memory: Option<Arc<Memory>>,
    /// Whether layers with windows forget what no later token will see.
    slides: bool,
}

impl Cache {
    /// The cache of a decoder that has read nothing yet, and attends to what its encoder made of a text.
    pub fn after(memory: Arc<Memory>) -> Self {
        Self { memory: Some(memory), ..Self::default() }
    }

    /// The same cache, in which layers with windows forget what no later token will see, where these come one by one. It
    /// keeps no keys for a trace, and takes back no run.
    pub(crate) fn forgetting(self) -> Self {
        Self { slides: true, ..self }
    }

    /// How many tokens it holds.
    pub fn len(&self) -> usize {
        self.read(0)
    }

    /// How many tokens one of its layers has read.
    pub(crate) fn read(&self, layer: usize) -> usize {
        self.layer(layer).map_or(0, KvCache::len)
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What keys and values take, in bytes.
    pub fn bytes(&self) -> usize {
        self.layers.iter().flatten().map(KvCache::bytes).sum()
    }

    /// The keys, then the values, of one layer's first `len` tokens, as bits: to see whether they have changed.
    pub fn bits(&self, layer: usize, len: usize) -> Vec<u32> {
        let Some(cached) = self.layer(layer) else { return Vec::new() };
        let first = 0..len.min(cached.len());
        let parts = [cached.keys(first.clone()), cached.values(first)];
        parts.into_iter().flatten().flatten().map(f32::to_bits).collect()
    }

    /// Forgets all but the first `len` tokens: those of a run that ended early stand in some layers only.
    pub(crate) fn truncate(&mut self, len: usize) {
        for layer in &mut self.layers {
            // Of one that forgets, they may be gone.
            if let Some(cached) = layer.as_mut().filter(|cached| cached.len() > len)
                && cached.truncate(len).is_err()
            {
                *layer = None;
            }
        }
    }

    /// Adds a layer's keys and values, (1, len, kv_heads, head_dim) and (..., v_head_dim), and lets the queries that
    /// stand at the last of them attend to all that there are.
    ///
    /// # Errors
    /// If the shapes do not fit each other or what is there.
    pub(crate) fn attend(
        &mut self,
        layer: usize,
        (q, k, v): (View, View, View),
        params: &Params,
        isa: Isa,
    ) -> Result<Forward, Error> {
        let [_, len, q_heads, _] = q.shape();
        let [_, _, kv_heads, head_dim] = k.shape();
        if self.layers.len() <= layer {
            self.layers.resize(layer + 1, None);
        }
        let shape = [1, kv_heads, head_dim, v.shape()[3]];
        let empty = || match params.window.filter(|_| self.slides) {
            Some(window) => KvCache::sliding(shape, window.left.saturating_add(1)),
            None => KvCache::new(shape),
        };
        let place = &mut self.layers[layer];
        let cached = match place {
            Some(cached) => cached,
            None => place.insert(empty()?),
        };
        cached.append(k, v)?;
        if cached.len() == k.shape()[1] {
            return forward(q, k, v, params, isa);
        }
        if q_heads / kv_heads.max(1) * len <= FEW {
            return cached.decode(q, params, isa);
        }
        let (keys, values) = (cached.keys(0..cached.len())?, cached.values(0..cached.len())?);
        let all = |data, dim| View::new(data, [1, cached.len(), kv_heads, dim]);
        forward(q, all(&keys, head_dim)?, all(&values, v.shape()[3])?, params, isa)
    }

    /// The keys and the values of a layer, (len, kv_heads, head_dim) and (..., v_head_dim), as a trace keeps them.
    ///
    /// # Errors
    /// If they are no longer there.
    pub(crate) fn keys_and_values(&self, layer: usize) -> Result<(Kept, Kept), Error> {
        let Some(cached) = self.layer(layer) else {
            return Ok((Kept::new(Vec::new(), [0; 3]), Kept::new(Vec::new(), [0; 3])));
        };
        let [_, kv_heads, head_dim, v_dim] = cached.shape();
        let (len, all) = (cached.len(), 0..cached.len());
        let kept = |data, dim| Kept::new(data, [len, kv_heads, dim]);
        Ok((kept(cached.keys(all.clone())?, head_dim), kept(cached.values(all)?, v_dim)))
    }

    fn layer(&self, layer: usize) -> Option<&KvCache> {
        self.layers.get(layer)?.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use attnscope_kernel::{Isa, Params, View, Window};

    use super::Cache;

    /// What token after token leaves in two caches is the same; the one that forgets stays as large as its window.
    #[test]
    fn what_no_later_token_sees_is_forgotten() {
        let (dim, isa) = (4, Isa::detect());
        let params = Params { causal: true, window: Some(Window { left: 19, right: 0 }), ..Params::for_head_dim(dim) };
        let (mut all, mut some) = (Cache::default(), Cache::default().forgetting());
        let mut largest = 0;
        for token in 0..700 {
            let x: Vec<f32> = (0..2 * dim).map(|i| ((token * 8 + i) as f32 * 0.37).sin()).collect();
            let kv = View::new(&x[..dim], [1, 1, 1, dim]).unwrap();
            let q = View::new(&x, [1, 1, 2, dim]).unwrap();
            let done = [&mut all, &mut some].map(|cache| cache.attend(0, (q, kv, kv), &params, isa).unwrap());
            for (a, b) in done[0].out.iter().zip(&done[1].out) {
                assert!((a - b).abs() < 1e-6, "{token}");
            }
            largest = largest.max(some.bytes());
        }
        assert_eq!((all.len(), some.len()), (700, 700));
        assert!(largest * 2 < all.bytes(), "{largest} of {}", all.bytes());
    }
}
