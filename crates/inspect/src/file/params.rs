//! The parameters of a site, as a trace file's JSON has them. Those that are off are left out.

use attnscope_kernel::{Error, KeyPadding, Knockout, Params, RelativeBias, Segments, Window};
use serde::{Deserialize, Serialize};

use crate::{Site, SiteKind};

/// The parameters that shape one site's scores. One that this version does not know is refused, not passed over: the
/// weights would come out wrong. A bias lies beside the other tensors.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SiteHeader {
    pub(super) site: SiteKind,
    pub(super) layer: usize,
    scale: f32,
    causal: bool,
    window: Option<WindowHeader>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    softcap: Option<f32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    alibi_slopes: Option<Vec<f32>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    relative_bias: Option<RelativeBiasHeader>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sinks: Option<Vec<f32>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    segments: Option<SegmentsHeader>,
    /// One a key: whether it is a token and no padding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    real_keys: Option<Vec<bool>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    knockouts: Vec<KnockoutHeader>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WindowHeader {
    left: usize,
    right: usize,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RelativeBiasHeader {
    /// (buckets, q_heads).
    table: Vec<f32>,
    buckets: usize,
    max_distance: usize,
    bidirectional: bool,
}

/// Cumulative lengths.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SegmentsHeader {
    q: Vec<usize>,
    kv: Vec<usize>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KnockoutHeader {
    head: Option<usize>,
    query: Option<usize>,
    key: Option<usize>,
}

impl SiteHeader {
    pub(super) fn of(site: &Site) -> Self {
        let Params {
            scale,
            softcap,
            causal,
            window,
            segments,
            key_padding,
            bias: _,
            alibi_slopes,
            relative_bias,
            sinks,
            knockouts,
        } = &site.params;
        let relative_bias = relative_bias.as_ref().map(|bias| {
            let (buckets, max_distance, bidirectional) = bias.buckets();
            RelativeBiasHeader { table: bias.table().to_vec(), buckets, max_distance, bidirectional }
        });
        let segments = segments.as_ref().map(|segments| {
            let (q, kv) = segments.ends();
            SegmentsHeader { q: q.to_vec(), kv: kv.to_vec() }
        });
        let knockout = |rule: &Knockout| KnockoutHeader { head: rule.head, query: rule.query, key: rule.key };
        Self {
            site: site.kind,
            layer: site.layer,
            scale: *scale,
            causal: *causal,
            window: window.map(|window| WindowHeader { left: window.left, right: window.right }),
            softcap: *softcap,
            alibi_slopes: alibi_slopes.as_ref().map(|slopes| slopes.to_vec()),
            relative_bias,
            sinks: sinks.as_ref().map(|sinks| sinks.to_vec()),
            segments,
            real_keys: key_padding.as_ref().map(|padding| padding.real().to_vec()),
            knockouts: knockouts.iter().map(knockout).collect(),
        }
    }

    /// The parameters but for the bias.
    pub(super) fn params(&self) -> Result<Params, Error> {
        let table = |bias: &RelativeBiasHeader| {
            RelativeBias::new(bias.table.clone(), bias.buckets, bias.max_distance, bias.bidirectional)
        };
        let segments = |segments: &SegmentsHeader| Segments::new(segments.q.clone(), segments.kv.clone());
        let knockout = |rule: &KnockoutHeader| Knockout { head: rule.head, query: rule.query, key: rule.key };
        Ok(Params {
            scale: self.scale,
            softcap: self.softcap,
            causal: self.causal,
            window: self.window.as_ref().map(|window| Window { left: window.left, right: window.right }),
            segments: self.segments.as_ref().map(segments).transpose()?,
            key_padding: self.real_keys.as_ref().map(|real| KeyPadding::new(real.clone())),
            bias: None,
            alibi_slopes: self.alibi_slopes.as_ref().map(|slopes| slopes.clone().into()),
            relative_bias: self.relative_bias.as_ref().map(table).transpose()?,
            sinks: self.sinks.as_ref().map(|sinks| sinks.clone().into()),
            knockouts: self.knockouts.iter().map(knockout).collect(),
        })
    }
}
