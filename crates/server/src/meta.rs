use attnscope_inspect::{Model, Site, SiteKind, Token};
use serde::Serialize;

use crate::entry::Kind;
use crate::shelf::Kept;

/// A trace without its numbers.
#[derive(Debug, Serialize)]
pub(crate) struct Meta<'a> {
    id: &'a str,
    source: &'a str,
    text: &'a str,
    kind: Kind,
    model: About<'a>,
    note: &'a str,
    tokens: Vec<Shown<'a>>,
    /// What each half of an encoder-decoder read; none for other models. `text` is then the encoder's, the one that was
    /// asked for, and `tokens` the decoder's, those of the site `self`.
    #[serde(skip_serializing_if = "Option::is_none")]
    encoder: Option<Half<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    decoder: Option<Half<'a>>,
    sites: Vec<Sizes>,
    isa: &'a str,
    version: &'a str,
    seconds: f64,
    worked: bool,
}

#[derive(Debug, Serialize)]
struct Half<'a> {
    text: &'a str,
    tokens: Vec<Shown<'a>>,
}

#[derive(Debug, Serialize)]
struct About<'a> {
    name: &'a str,
    family: &'a str,
    sha256: Option<&'a str>,
}

#[derive(Debug, Serialize)]
struct Shown<'a> {
    id: Option<u32>,
    text: &'a str,
    special: bool,
    /// [i, n]: the i-th, from 1, of the n tokens that make the characters in `text`.
    #[serde(skip_serializing_if = "Option::is_none")]
    part: Option<[u32; 2]>,
}

#[derive(Debug, Serialize)]
struct Sizes {
    site: SiteKind,
    layer: usize,
    q_heads: usize,
    kv_heads: usize,
    head_dim: usize,
    v_head_dim: usize,
    q_len: usize,
    kv_len: usize,
    causal: bool,
    window: Option<Window>,
    scale: f32,
    /// c of c tanh(s / c); null where scores are not capped.
    softcap: Option<f32>,
}

#[derive(Debug, Serialize)]
struct Window {
    left: usize,
    right: usize,
}

impl<'a> Meta<'a> {
    pub(crate) fn of(kept: &'a Kept) -> Self {
        let trace = &kept.trace;
        let Model { name, family, sha256, note } = &trace.model;
        Self {
            id: &kept.id,
            source: &kept.wish.source,
            text: trace.encoder.as_ref().map_or(&trace.text, |read| &read.text),
            kind: kept.kind,
            model: About { name, family, sha256: sha256.as_deref() },
            note,
            tokens: shown(&trace.tokens),
            encoder: trace.encoder.as_ref().map(|read| Half { text: &read.text, tokens: shown(&read.tokens) }),
            decoder: trace.encoder.as_ref().map(|_| Half { text: &trace.text, tokens: shown(&trace.tokens) }),
            sites: trace.sites.iter().map(Sizes::of).collect(),
            isa: &trace.isa,
            version: &trace.version,
            seconds: kept.seconds,
            worked: kept.kind == Kind::Example,
        }
    }
}

fn shown(tokens: &[Token]) -> Vec<Shown<'_>> {
    tokens.iter().map(Shown::of).collect()
}

impl<'a> Shown<'a> {
    fn of(token: &'a Token) -> Self {
        let part = token.part.map(|(index, count)| [index + 1, count]);
        Self { id: token.id, text: &token.text, special: token.special, part }
    }
}

impl Sizes {
    fn of(site: &Site) -> Self {
        Self {
            site: site.kind,
            layer: site.layer,
            q_heads: site.q_heads(),
            kv_heads: site.kv_heads(),
            head_dim: site.head_dim(),
            v_head_dim: site.v_head_dim(),
            q_len: site.q_len(),
            kv_len: site.kv_len(),
            causal: site.params.causal,
            window: site.params.window.map(|window| Window { left: window.left, right: window.right }),
            scale: site.params.scale,
            softcap: site.params.softcap,
        }
    }
}
