use std::fmt;

use attnscope_kernel::{Isa, Mask, Params, Recall};
use serde::{Deserialize, Serialize};

use crate::{Data, Error, Tensor};

/// Which attention of a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SiteKind {
    /// The only one of a decoder or an encoder; in an encoder-decoder, the decoder's own.
    #[default]
    #[serde(rename = "self")]
    SelfAttention,
    /// The decoder's on the encoder's output.
    Cross,
    /// The encoder's, in an encoder-decoder.
    Encoder,
}

impl SiteKind {
    /// `self`, `cross` or `encoder`.
    pub fn name(self) -> &'static str {
        match self {
            Self::SelfAttention => "self",
            Self::Cross => "cross",
            Self::Encoder => "encoder",
        }
    }
}

impl fmt::Display for SiteKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One attention operation of a run: what its kernel read (q and k after rotary embedding) and what it left.
#[derive(Clone, Debug)]
pub struct Site {
    /// Which attention of the layer.
    pub kind: SiteKind,
    /// Its layer, from 0.
    pub layer: usize,
    /// What shapes its scores.
    pub params: Params,
    /// (q_len, q_heads, head_dim).
    pub q: Tensor,
    /// (kv_len, kv_heads, head_dim).
    pub k: Tensor,
    /// (kv_len, kv_heads, v_head_dim).
    pub v: Tensor,
    /// (q_len, q_heads, v_head_dim).
    pub out: Tensor,
    /// (q_heads, q_len), natural log.
    pub lse: Data<f64>,
}

impl Site {
    /// Checks that the pieces fit each other.
    ///
    /// # Errors
    /// Naming the piece that does not fit.
    pub fn check(&self) -> Result<(), Error> {
        self.try_check().map_err(|problem| Error::Site { site: format!("layer {} {}", self.layer, self.kind), problem })
    }

    fn try_check(&self) -> Result<(), attnscope_kernel::Error> {
        self.recall(Isa::portable())?;
        let (q, k, v, out) =
            (self.q.view()?.shape(), self.k.view()?.shape(), self.v.view()?.shape(), self.out.view()?.shape());
        // A size of 0 takes no bytes, so nothing would vouch for the other sizes of its tensor.
        for (argument, sizes) in [("q (len, heads, head_dim)", &q[1..]), ("v (len, heads, head_dim)", &v[1..])] {
            if sizes.contains(&0) {
                let (got, want) = (format!("{sizes:?}"), "at least 1 each".to_owned());
                return Err(attnscope_kernel::Error::Argument { argument, got, want });
            }
        }
        for (argument, got, want) in [
            ("v (len, heads)", [v[1], v[2]], [k[1], k[2]]),
            ("out (len, heads)", [out[1], out[2]], [q[1], q[2]]),
            ("out (heads, dim)", [out[2], out[3]], [q[2], v[3]]),
        ] {
            if got != want {
                let (got, want) = (format!("{got:?}"), format!("{want:?}"));
                return Err(attnscope_kernel::Error::Argument { argument, got, want });
            }
        }
        Ok(())
    }

    /// That the file it lies in, if it does, is still what was opened.
    ///
    /// # Errors
    /// If it was changed.
    pub(crate) fn check_file(&self) -> Result<(), Error> {
        if self.q.data.unchanged() { Ok(()) } else { Err(Error::Changed) }
    }

    /// The kernel's memory of this operation.
    pub(crate) fn recall(&self, isa: Isa) -> Result<Recall<'_>, attnscope_kernel::Error> {
        Recall::new(self.q.view()?, self.k.view()?, &self.lse, &self.params, isa)
    }

    /// Number of queries.
    pub fn q_len(&self) -> usize {
        self.q.shape[0]
    }

    /// Number of keys.
    pub fn kv_len(&self) -> usize {
        self.k.shape[0]
    }

    /// Number of query heads.
    pub fn q_heads(&self) -> usize {
        self.q.shape[1]
    }

    /// Number of key and value heads.
    pub fn kv_heads(&self) -> usize {
        self.k.shape[1]
    }

    /// Length of a query and a key.
    pub fn head_dim(&self) -> usize {
        self.q.shape[2]
    }

    /// Length of a value.
    pub fn v_head_dim(&self) -> usize {
        self.v.shape[2]
    }

    /// The kv head that a query head reads.
    pub fn kv_head(&self, head: usize) -> usize {
        head / (self.q_heads() / self.kv_heads()).max(1)
    }

    /// The weight that a head's sink takes of a row with this lse; none where the head has no sink.
    pub fn sink_weight(&self, head: usize, lse: f64) -> Option<f64> {
        self.params.sinks.as_ref().map(|sinks| (f64::from(sinks[head]) - lse).exp())
    }

    /// What the weights of a row and its sink sum to: 1, or 0 for a row that sees nothing and has no sink.
    pub(crate) fn due(&self, recall: &Recall, head: usize, query: usize) -> f64 {
        let nothing = self.params.sinks.is_none() && recall.mask().sees_nothing(0, head, query);
        if nothing { 0.0 } else { 1.0 }
    }

    /// The key position from which distances of a query are counted; negative where it would lie before the first key.
    pub fn key_position(&self, query: usize) -> i64 {
        Mask::new(&self.params, self.q_len(), self.kv_len()).position(query)
    }

    /// The key position at which a query stands; none where queries and keys are different texts, or it would lie
    /// before the first key.
    pub fn position(&self, query: usize) -> Option<usize> {
        match self.kind {
            SiteKind::Cross => None,
            _ => (self.kv_len() + query).checked_sub(self.q_len()),
        }
    }
}
