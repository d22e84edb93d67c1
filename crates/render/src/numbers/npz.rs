//! Arrays for numpy: a zip of npy files, not compressed, as `numpy.savez` writes it. The zip is written by the crate
//! that candle already brings; the npy header is a few lines of our own (`npy.rs`).

use std::io::{Cursor, Write};
use std::ops::Range;

use attnscope_inspect::{Cell, Column, HeadStats, Pick, Row, Site, SiteKind, Tensor, Token, Trace};
use serde::Serialize;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::{Grid, npy};
use crate::{Error, Place};

/// A file in the making.
struct Npz(ZipWriter<Cursor<Vec<u8>>>);

impl Npz {
    fn new() -> Self {
        Self(ZipWriter::new(Cursor::new(Vec::new())))
    }

    fn put(&mut self, name: &str, array: &[u8]) -> Result<(), Error> {
        // No time of day: the same numbers give the same file.
        let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
        self.0.start_file(format!("{name}.npy"), stored)?;
        Ok(self.0.write_all(array)?)
    }

    /// A text that `json.loads(str(npz[name]))` reads.
    fn put_json(&mut self, name: &str, value: &impl Serialize) -> Result<(), Error> {
        self.put(name, &npy::text(&serde_json::to_string(value)?))
    }

    /// The tokens' texts, `key_tokens` apart where keys are of another text than queries, and what the file is of.
    fn put_source(&mut self, trace: &Trace, place: Option<Place>) -> Result<(), Error> {
        let texts = |tokens: &[Token]| tokens.iter().map(|token| token.text.clone()).collect::<Vec<_>>();
        let kind = place.map_or(SiteKind::SelfAttention, |place| place.site);
        self.put_json("tokens", &texts(trace.query_tokens(kind)))?;
        if kind == SiteKind::Cross {
            self.put_json("key_tokens", &texts(trace.key_tokens(kind)))?;
        }
        let about = About {
            model: &trace.model.name,
            note: &trace.model.note,
            text: &trace.text,
            layer: place.map(|place| place.layer),
            head: place.map(|place| place.head),
            site: place.map(|place| place.site.name()),
        };
        self.put_json("about", &about)
    }

    fn finish(self) -> Result<Vec<u8>, Error> {
        Ok(self.0.finish()?.into_inner())
    }
}

#[derive(Serialize)]
struct About<'a> {
    model: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    note: &'a str,
    text: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    layer: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    head: Option<Pick>,
    #[serde(skip_serializing_if = "Option::is_none")]
    site: Option<&'static str>,
}

/// A map: `weights` (queries, keys) f32, 0 where hidden; `mask` likewise u8, 0 visible, else why not: 1 future,
/// 2 outside_window, 3 padding, 4 other_segment, 5 knocked_out; `queries` and `keys`, the positions; `q` (queries,
/// heads, head_dim), `k` (keys, kv_heads, head_dim) and `lse` (heads, queries) of the head, or of all for a mean;
/// what else shapes the scores, see [`put_terms`]; `tokens` and `about` as JSON.
pub(crate) fn map_npz(grid: &Grid) -> Result<Vec<u8>, Error> {
    let mut file = Npz::new();
    let shape = [grid.queries.len(), grid.keys.len()];
    let weights: Vec<f32> = grid.cells().map(|cell| cell.unwrap_or(0.0) as f32).collect();
    let mask: Vec<u8> = grid.cells().map(|cell| cell.err().map_or(0, code)).collect();
    file.put("weights", &npy::array(&shape, &weights))?;
    file.put("mask", &npy::array(&shape, &mask))?;
    file.put("queries", &positions(grid.queries.clone()))?;
    file.put("keys", &positions(grid.keys.clone()))?;
    let site = grid.trace.site(grid.place.site, grid.place.layer)?;
    put_scores(&mut file, site, grid)?;
    file.put_source(grid.trace, Some(grid.place))?;
    file.finish()
}

/// What brings any of the weights back: exp(s - lse), where s = softcap(scale q.k) + ALiBi + relative bias + bias.
fn put_scores(file: &mut Npz, site: &Site, grid: &Grid) -> Result<(), Error> {
    let (heads, kv_heads) = match grid.place.head {
        Pick::Head(head) => (head..head + 1, site.kv_head(head)..site.kv_head(head) + 1),
        Pick::Mean => (0..site.q_heads(), 0..site.kv_heads()),
    };
    file.put("q", &part(&site.q, grid.queries.clone(), heads.clone()))?;
    file.put("k", &part(&site.k, grid.keys.clone(), kv_heads))?;
    let lse: Vec<f64> = heads
        .clone()
        .flat_map(|head| grid.queries.clone().map(move |query| site.lse[head * site.q_len() + query]))
        .collect();
    file.put("lse", &npy::array(&[heads.len(), grid.queries.len()], &lse))?;
    file.put("scale", &npy::array(&[], &[site.params.scale]))?;
    put_terms(file, site, grid, heads)
}

/// The terms of the scores and the masks that are in use, each by the name of the parameter; what is off is left out.
///
/// `positions` (queries) is the key position p from which the distances j - p of ALiBi and of the relative bias count.
/// `softcap` c: c tanh(x / c). `alibi_slopes` (heads): -slope |p - j|. `relative_bias` (buckets, heads) with `buckets`,
/// `max_distance` and `bidirectional`: T5's. `bias` (1 or heads, queries, keys). `sinks` (heads): a score that takes part
/// in lse. `causal` is 0 or 1, `window` (left, right). `real_keys` (keys): 0 is padding. `segments_q` and `segments_kv`:
/// where packed texts begin, and the last ends. `knockouts` (n, 3): head, query and key of the trace, -1 for every one.
fn put_terms(file: &mut Npz, site: &Site, grid: &Grid, heads: Range<usize>) -> Result<(), Error> {
    let params = &site.params;
    let (queries, keys) = (grid.queries.clone(), grid.keys.clone());
    let whole = |x: usize| x as i64;
    let count = heads.len();
    let at: Vec<i64> = queries.clone().map(|query| site.key_position(query)).collect();
    file.put("positions", &npy::array(&[at.len()], &at))?;
    file.put("causal", &npy::array(&[], &[u8::from(params.causal)]))?;
    if let Some(window) = params.window {
        // A window without an end is as wide as there are numbers for it.
        let [left, right] = [window.left, window.right].map(|side| i64::try_from(side).unwrap_or(i64::MAX));
        file.put("window", &npy::array(&[2], &[left, right]))?;
    }
    if let Some(softcap) = params.softcap {
        file.put("softcap", &npy::array(&[], &[softcap]))?;
    }
    for (name, all) in [("alibi_slopes", &params.alibi_slopes), ("sinks", &params.sinks)] {
        if let Some(all) = all {
            file.put(name, &npy::array(&[count], &all[heads.clone()]))?;
        }
    }
    if let Some(relative) = &params.relative_bias {
        let (buckets, max_distance, bidirectional) = relative.buckets();
        let table: Vec<f32> =
            relative.table().chunks(site.q_heads()).flat_map(|bucket| bucket[heads.clone()].to_vec()).collect();
        file.put("relative_bias", &npy::array(&[buckets, count], &table))?;
        file.put("buckets", &npy::array(&[], &[whole(buckets)]))?;
        file.put("max_distance", &npy::array(&[], &[whole(max_distance)]))?;
        file.put("bidirectional", &npy::array(&[], &[u8::from(bidirectional)]))?;
    }
    if let Some(bias) = &params.bias {
        let [_, bias_heads, q_len, kv_len] = bias.shape();
        let of = if bias_heads == 1 { 0..1 } else { heads.clone() };
        let mut data = Vec::with_capacity(of.len() * queries.len() * keys.len());
        for head in of.clone() {
            for query in queries.clone() {
                let start = (head * q_len + query) * kv_len;
                data.extend_from_slice(&bias.data()[start + keys.start..start + keys.end]);
            }
        }
        file.put("bias", &npy::array(&[of.len(), queries.len(), keys.len()], &data))?;
    }
    if let Some(padding) = &params.key_padding {
        let real: Vec<u8> = padding.real()[keys].iter().map(|real| u8::from(*real)).collect();
        file.put("real_keys", &npy::array(&[real.len()], &real))?;
    }
    if let Some(segments) = &params.segments {
        let (q, kv) = segments.ends();
        for (name, ends) in [("segments_q", q), ("segments_kv", kv)] {
            let ends: Vec<i64> = ends.iter().copied().map(whole).collect();
            file.put(name, &npy::array(&[ends.len()], &ends))?;
        }
    }
    if !params.knockouts.is_empty() {
        let index = |index: Option<usize>| index.map_or(-1, whole);
        let rules: Vec<i64> =
            params.knockouts.iter().flat_map(|rule| [rule.head, rule.query, rule.key].map(index)).collect();
        file.put("knockouts", &npy::array(&[params.knockouts.len(), 3], &rules))?;
    }
    Ok(())
}

/// Some positions and heads of a tensor.
fn part(tensor: &Tensor, positions: Range<usize>, heads: Range<usize>) -> Vec<u8> {
    let [_, all_heads, dim] = tensor.shape;
    let shape = [positions.len(), heads.len(), dim];
    let mut data = Vec::with_capacity(shape.iter().product());
    for position in positions {
        let start = position * all_heads;
        data.extend_from_slice(&tensor.data[(start + heads.start) * dim..(start + heads.end) * dim]);
    }
    npy::array(&shape, &data)
}

/// A row: `weights`, `mask` and `scores` by key; their sum `row_sum`, and beside it `sink`, what the head's sink takes,
/// where it has one.
pub(crate) fn row_npz(trace: &Trace, place: Place, row: &Row) -> Result<Vec<u8>, Error> {
    let mut file = Npz::new();
    let keys = [row.weights.len()];
    let mask: Vec<u8> = row.mask.iter().map(|reason| reason.map_or(0, code)).collect();
    file.put("weights", &npy::array(&keys, &row.weights))?;
    file.put("mask", &npy::array(&keys, &mask))?;
    if let Some(scores) = &row.scores {
        file.put("scores", &npy::array(&keys, scores))?;
    }
    file.put("row_sum", &npy::array(&[], &[row.row_sum]))?;
    if let Some(sink) = row.sink {
        file.put("sink", &npy::array(&[], &[sink]))?;
    }
    file.put("query", &npy::array(&[], &[row.query.index as i64]))?;
    file.put_source(trace, Some(place))?;
    file.finish()
}

/// A column: `weights` and `mask` by query.
pub(crate) fn column_npz(trace: &Trace, place: Place, column: &Column) -> Result<Vec<u8>, Error> {
    let mut file = Npz::new();
    let queries = [column.weights.len()];
    let mask: Vec<u8> = column.mask.iter().map(|reason| reason.map_or(0, code)).collect();
    file.put("weights", &npy::array(&queries, &column.weights))?;
    file.put("mask", &npy::array(&queries, &mask))?;
    file.put("key", &npy::array(&[], &[column.key.index as i64]))?;
    file.put_source(trace, Some(place))?;
    file.finish()
}

/// A cell: its vectors, and its numbers as JSON.
pub(crate) fn cell_npz(trace: &Trace, cell: &Cell) -> Result<Vec<u8>, Error> {
    let mut file = Npz::new();
    for (name, vector) in [("q", &cell.q), ("k", &cell.k), ("v", &cell.v), ("out", &cell.out)] {
        file.put(name, &npy::array(&[vector.len()], vector))?;
    }
    file.put("products", &npy::array(&[cell.products.len()], &cell.products))?;
    file.put("weight", &npy::array(&[], &[cell.weight]))?;
    file.put_json("cell", cell)?;
    file.put_source(trace, Some(Place { site: cell.site, layer: cell.layer, head: Pick::Head(cell.head) }))?;
    file.finish()
}

/// One number of a head.
type Statistic = fn(&HeadStats) -> Option<f64>;

/// The heads: an array a statistic, an element a head; NaN where there is none.
pub(crate) fn heads_npz(trace: &Trace, heads: &[HeadStats]) -> Result<Vec<u8>, Error> {
    let mut file = Npz::new();
    let positions = |index: fn(&HeadStats) -> usize| heads.iter().map(|head| index(head) as i64).collect::<Vec<_>>();
    for (name, index) in [("layer", positions(|head| head.layer)), ("head", positions(|head| head.head))] {
        file.put(name, &npy::array(&[heads.len()], &index))?;
    }
    let statistics: [(&str, Statistic); 7] = [
        ("entropy", |head| Some(head.entropy)),
        ("first", |head| Some(head.first)),
        ("self", |head| head.own),
        ("previous", |head| head.previous),
        ("distance", |head| head.distance),
        ("row_sum_error", |head| Some(head.proof.row_sum_error)),
        ("output_error", |head| Some(head.proof.output_error)),
    ];
    for (name, statistic) in statistics {
        let numbers: Vec<f64> = heads.iter().map(|head| statistic(head).unwrap_or(f64::NAN)).collect();
        file.put(name, &npy::array(&[heads.len()], &numbers))?;
    }
    file.put_json("site", &heads.iter().map(|head| head.site).collect::<Vec<_>>())?;
    file.put_source(trace, None)?;
    file.finish()
}

fn positions(range: Range<usize>) -> Vec<u8> {
    npy::array(&[range.len()], &range.map(|index| index as i64).collect::<Vec<_>>())
}

/// The reason's place in the order of a map's codes, from 1.
fn code(reason: &str) -> u8 {
    match reason {
        "future" => 1,
        "outside_window" => 2,
        "padding" => 3,
        "other_segment" => 4,
        "knocked_out" => 5,
        _ => 255,
    }
}
