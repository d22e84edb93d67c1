use std::collections::HashSet;

use attnscope_kernel::Isa;
use serde::{Deserialize, Serialize};

use crate::{Error, Site, SiteKind, Token, TokenAt, tokens};

/// What made a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Model {
    /// Its name, as a person would say it.
    pub name: String,
    /// Its family, as `attnscope models` lists them; empty for the worked example.
    #[serde(default)]
    pub family: String,
    /// SHA-256 of its weights in hexadecimal, where known.
    #[serde(default)]
    pub sha256: Option<String>,
    /// What a reader must know of it, such as that it is hand-designed.
    #[serde(default)]
    pub note: String,
}

/// A text that was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Read {
    /// The text.
    pub text: String,
    /// Its tokens.
    pub tokens: Vec<Token>,
}

/// What a run of attention leaves behind: enough to bring back any weight, in O(n) memory a head.
#[derive(Clone, Debug)]
pub struct Trace {
    /// What made it.
    pub model: Model,
    /// The text that was read.
    pub text: String,
    /// Its tokens.
    pub tokens: Vec<Token>,
    /// What the encoder of an encoder-decoder read; none for every other model. `text` and `tokens` are then the decoder's.
    pub encoder: Option<Read>,
    /// Every attention of the run, layers in order.
    pub sites: Vec<Site>,
    /// The version of attnscope that made it.
    pub version: String,
    /// The instruction set it was made on.
    pub isa: String,
}

/// Which head of which attention.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct At {
    /// Which attention of the layer.
    pub site: SiteKind,
    /// The layer, from 0.
    pub layer: usize,
    /// The query head, from 0.
    pub head: usize,
}

impl Trace {
    /// A trace of a run that was made here and now.
    ///
    /// # Errors
    /// If the pieces of a site do not fit each other, or do not fit the tokens.
    pub fn new(model: Model, text: String, tokens: Vec<Token>, sites: Vec<Site>) -> Result<Self, Error> {
        let version = env!("CARGO_PKG_VERSION").to_owned();
        let isa = Isa::detect().name().to_owned();
        let trace = Self { model, text, tokens, encoder: None, sites, version, isa };
        trace.check()?;
        Ok(trace)
    }

    /// The same trace of an encoder-decoder, whose encoder read this.
    ///
    /// # Errors
    /// If its tokens are not as many as the keys of the `encoder` and `cross` sites.
    pub fn with_encoder(self, encoder: Read) -> Result<Self, Error> {
        let trace = Self { encoder: Some(encoder), ..self };
        trace.check()?;
        Ok(trace)
    }

    /// The same trace with these attentions, in the place of any that it has.
    ///
    /// # Errors
    /// If the pieces of a site do not fit each other, or do not fit the tokens.
    pub fn with_sites(self, sites: Vec<Site>) -> Result<Self, Error> {
        let trace = Self { sites, ..self };
        trace.check()?;
        Ok(trace)
    }

    /// The tokens that ask, one a row of a map.
    pub fn query_tokens(&self, kind: SiteKind) -> &[Token] {
        match (kind, &self.encoder) {
            (SiteKind::Encoder, Some(read)) => &read.tokens,
            _ => &self.tokens,
        }
    }

    /// The tokens that are asked, one a column of a map: for `cross`, those of another text than the queries.
    pub fn key_tokens(&self, kind: SiteKind) -> &[Token] {
        match (kind, &self.encoder) {
            (SiteKind::Encoder | SiteKind::Cross, Some(read)) => &read.tokens,
            _ => &self.tokens,
        }
    }

    /// Checks that the pieces fit each other.
    ///
    /// # Errors
    /// Naming the piece that does not fit.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let mut seen = HashSet::new();
        for site in &self.sites {
            site.check()?;
            if !seen.insert((site.kind, site.layer)) {
                return Err(Error::Twice { kind: site.kind.name(), layer: site.layer });
            }
            // A trace of parts made by hand may have no encoder's tokens; nothing then holds its sites to any.
            let named = site.kind == SiteKind::SelfAttention || self.encoder.is_some();
            let got = (site.q_len(), site.kv_len());
            let want = (self.query_tokens(site.kind).len(), self.key_tokens(site.kind).len());
            if named && got != want {
                return Err(Error::Site {
                    site: format!("layer {} {}", site.layer, site.kind),
                    problem: attnscope_kernel::Error::Argument {
                        argument: "(q_len, kv_len)",
                        got: format!("{got:?}"),
                        want: match site.kind {
                            SiteKind::SelfAttention => format!("{}, the number of tokens", want.0),
                            _ => format!("{want:?}, the numbers of tokens"),
                        },
                    },
                });
            }
        }
        Ok(())
    }

    /// One attention of one layer.
    ///
    /// # Errors
    /// If there is no such layer (the error says which there are), or it lies in a file that was changed since.
    pub fn site(&self, kind: SiteKind, layer: usize) -> Result<&Site, Error> {
        let layers = || self.sites.iter().filter(|site| site.kind == kind).map(|site| site.layer);
        if let Some(site) = self.sites.iter().find(|site| site.kind == kind && site.layer == layer) {
            site.check_file()?;
            return Ok(site);
        }
        match (layers().min(), layers().max()) {
            (Some(first), Some(last)) => Err(Error::OutOfRange {
                what: "layer",
                got: layer,
                range: format!("there are layers {first} to {last}"),
            }),
            _ => Err(self.no_site(kind)),
        }
    }

    /// The error that it has no attention of a kind.
    pub fn no_site(&self, kind: SiteKind) -> Error {
        Error::NoSite { of: "this trace".to_owned(), kind: kind.name(), has: self.kinds() }
    }

    /// The kinds of attention that it has, by name, as they come.
    pub fn kinds(&self) -> Vec<&'static str> {
        let mut kinds: Vec<&str> = Vec::new();
        for site in &self.sites {
            if !kinds.contains(&site.kind.name()) {
                kinds.push(site.kind.name());
            }
        }
        kinds
    }

    /// The site of a head, which is known to have that head.
    pub(crate) fn head_site(&self, at: At) -> Result<&Site, Error> {
        let site = self.site(at.site, at.layer)?;
        check_head(at.head, site.q_heads())?;
        Ok(site)
    }

    /// The value vectors that a head mixes: one a key, (v_head_dim) each.
    ///
    /// # Errors
    /// If the layer or head is out of range.
    pub fn values(&self, at: At) -> Result<Vec<&[f32]>, Error> {
        let site = self.head_site(at)?;
        let kv_head = site.kv_head(at.head);
        Ok((0..site.kv_len()).map(|key| site.v.row(key, kv_head)).collect())
    }

    /// The query that a user means: an integer is always a position, anything else the text of a token that occurs once
    /// among those that ask.
    ///
    /// # Errors
    /// If there is none such, or several.
    pub fn find_query(&self, kind: SiteKind, name: &str) -> Result<usize, Error> {
        tokens::find(self.query_tokens(kind), "query", name)
    }

    /// The key that a user means; see [`Trace::find_query`].
    ///
    /// # Errors
    /// If there is none such, or several.
    pub fn find_key(&self, kind: SiteKind, name: &str) -> Result<usize, Error> {
        tokens::find(self.key_tokens(kind), "key", name)
    }

    /// The position that a user means, in the text that the model's last vectors are of; see [`Trace::find_query`].
    ///
    /// # Errors
    /// If there is none such, or several.
    pub fn find_position(&self, name: &str) -> Result<usize, Error> {
        tokens::find(self.query_tokens(SiteKind::SelfAttention), "position", name)
    }

    pub(crate) fn query_at(&self, kind: SiteKind, index: usize) -> TokenAt {
        token_at(self.query_tokens(kind), index)
    }

    pub(crate) fn key_at(&self, kind: SiteKind, index: usize) -> TokenAt {
        token_at(self.key_tokens(kind), index)
    }
}

fn token_at(tokens: &[Token], index: usize) -> TokenAt {
    TokenAt { index, token: tokens.get(index).map(|token| token.text.clone()).unwrap_or_default() }
}

fn check_head(head: usize, heads: usize) -> Result<(), Error> {
    if head < heads {
        return Ok(());
    }
    let range = format!("the layer has {heads} heads, 0 to {}", heads.saturating_sub(1));
    Err(Error::OutOfRange { what: "head", got: head, range })
}
