use attnscope_inspect::{At, SiteKind, Trace};
use candle_core::{Device, Tensor};

use crate::error::{Error, Result};
use crate::families::{Output, doubles};
use crate::model::Model;

/// Keys whose values are projected at a time.
const KEYS: usize = 256;

impl Model {
    /// How long each key's value is behind a head's slice of the output projection, |v_j W_O|: what a weight of 1 on it
    /// would add to the stream. Of a norm that follows, and of the bias, nothing is in it. `trace` must be of this model.
    ///
    /// # Errors
    /// If the layer or head is not there, or the trace is of another model.
    pub fn value_lengths(&self, trace: &Trace, at: At) -> Result<Vec<f64>> {
        let values = trace.values(at)?;
        let output = self.output_of(at.site, at.layer)?;
        let site = trace.site(at.site, at.layer)?;
        let (dim, width) = (site.v_head_dim(), output.layer.dims2()?.1);
        if site.q_heads() * dim != width {
            return Err(Error::Text(format!("this trace is of another model than {}", self.name())));
        }
        let mut lengths = Vec::with_capacity(values.len());
        for keys in values.chunks(KEYS) {
            let rows = Tensor::from_vec(keys.concat(), (keys.len(), dim), &Device::Cpu)?;
            let moved = output.of_head(at.head, &rows)?;
            let hidden = moved.dim(1)?;
            lengths.extend(doubles(&moved)?.chunks(hidden).map(|row| row.iter().map(|x| x * x).sum::<f64>().sqrt()));
        }
        Ok(lengths)
    }

    /// Through what an attention's heads go back into the stream.
    pub(super) fn output_of(&self, kind: SiteKind, layer: usize) -> Result<Output<'_>> {
        let encoder = self.family.encoder();
        let output = match kind {
            SiteKind::SelfAttention => self.family.output(layer),
            SiteKind::Encoder => encoder.and_then(|encoder| encoder.output(layer)),
            SiteKind::Cross => encoder.and_then(|encoder| encoder.cross_output(layer)),
        };
        output.ok_or_else(|| Error::Text(format!("{} has no {kind} attention in a layer {layer}", self.name())))
    }
}
