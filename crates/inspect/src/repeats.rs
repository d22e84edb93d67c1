use std::collections::HashMap;

use attnscope_kernel::Isa;
use rayon::prelude::*;
use serde::Serialize;

use crate::{Error, Site, SiteKind, Token, Trace, Wanted};

/// What a head does with tokens that occur again. Means are over the queries that see something.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Repeats {
    /// Which attention of the layer.
    pub site: SiteKind,
    /// The layer, from 0.
    pub layer: usize,
    /// The query head, from 0.
    pub head: usize,
    /// Mean weight on the token before the query's own, from the second query on; null where no query that sees something
    /// has one before it.
    pub previous: Option<f64>,
    /// Mean weight on earlier occurrences of the query's token, over the queries whose token has some; null where no token
    /// occurs twice.
    pub duplicate: Option<f64>,
    /// Mean weight on the tokens that followed those occurrences, the query's own left aside, over the queries for which
    /// there are some; null where there are none. (Olsson et al. 2022)
    pub induction: Option<f64>,
}

/// For each position of a text, where its token has occurred before.
struct Occurrences {
    /// Of each token the positions at which it stands, in order.
    positions: Vec<Vec<usize>>,
    /// For each position its token, and how many of that token's positions lie before it.
    places: Vec<(usize, usize)>,
}

impl Occurrences {
    fn of(tokens: &[Token]) -> Self {
        let mut known = HashMap::new();
        let (mut positions, mut places) = (Vec::<Vec<usize>>::new(), Vec::with_capacity(tokens.len()));
        for (position, token) in tokens.iter().enumerate() {
            // Where there is a vocabulary its numbers decide: two tokens may read the same.
            let name = (token.id, if token.id.is_none() { token.text.as_str() } else { "" });
            let of = *known.entry(name).or_insert(positions.len());
            positions.resize(positions.len().max(of + 1), Vec::new());
            places.push((of, positions[of].len()));
            positions[of].push(position);
        }
        Self { positions, places }
    }

    /// Earlier positions of the token at a position, in order.
    fn before(&self, position: usize) -> &[usize] {
        let (of, count) = self.places[position];
        &self.positions[of][..count]
    }
}

impl Trace {
    /// How much each head of every layer, or of one, attends to what came before a token when it occurred last, for
    /// attentions of a text on itself. For as long as it is wanted.
    ///
    /// # Errors
    /// If there is no such layer, none of its attentions is of a text on itself, or the answer is wanted no longer.
    pub fn repeats(&self, layer: Option<usize>, wanted: Wanted) -> Result<Vec<Repeats>, Error> {
        let itself = |site: &&Site| {
            let named = self.key_tokens(site.kind).len() == site.kv_len() && site.q_len() == site.kv_len();
            site.kind != SiteKind::Cross && named && layer.is_none_or(|layer| site.layer == layer)
        };
        let sites: Vec<&Site> = self.sites.iter().filter(itself).collect();
        if sites.is_empty() {
            self.site(SiteKind::SelfAttention, layer.unwrap_or(0))?;
            return Err(Error::Undefined("there is no attention of a whole text on itself".to_owned()));
        }
        let occurrences =
            [SiteKind::SelfAttention, SiteKind::Encoder].map(|kind| Occurrences::of(self.key_tokens(kind)));
        let heads: Vec<(&Site, usize)> =
            sites.iter().flat_map(|site| (0..site.q_heads()).map(move |head| (*site, head))).collect();
        let [own, encoder] = &occurrences;
        let one = |(site, head): (&Site, usize)| {
            repeats(site, head, if site.kind == SiteKind::Encoder { encoder } else { own }, wanted)
        };
        heads.into_par_iter().map(one).collect()
    }
}

fn repeats(site: &Site, head: usize, occurrences: &Occurrences, wanted: Wanted) -> Result<Repeats, Error> {
    let recall = site.recall(Isa::detect())?;
    let (mut previous, mut duplicate, mut induction) = (Mean::default(), Mean::default(), Mean::default());
    for query in 1..site.q_len() {
        if recall.mask().sees_nothing(0, head, query) {
            continue;
        }
        if query % 32 == 1 {
            wanted.check()?;
            site.check_file()?;
        }
        let earlier = occurrences.before(query);
        let start = earlier.first().copied().unwrap_or(query - 1);
        let tile = recall.tile(0, head, query..query + 1, start..query)?;
        let weight = |key: usize| tile.weights[key - start];
        previous.add(weight(query - 1));
        if !earlier.is_empty() {
            duplicate.add(earlier.iter().map(|key| weight(*key)).sum());
        }
        let mut followed = earlier.iter().map(|key| key + 1).filter(|key| *key < query).peekable();
        if followed.peek().is_some() {
            induction.add(followed.map(weight).sum());
        }
    }
    let Site { kind, layer, .. } = *site;
    Ok(Repeats {
        site: kind,
        layer,
        head,
        previous: previous.value(),
        duplicate: duplicate.value(),
        induction: induction.value(),
    })
}

#[derive(Default)]
struct Mean {
    sum: f64,
    count: usize,
}

impl Mean {
    fn add(&mut self, x: f64) {
        self.sum += x;
        self.count += 1;
    }

    fn value(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / self.count as f64)
    }
}
