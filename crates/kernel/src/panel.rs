//! The tile loop. It reads like the paper (Dao 2023, FlashAttention-2, algorithm 1): for a panel of queries walk the
//! visible blocks of keys; scores, online softmax, accumulate; finish into out and lse.

use std::ops::Range;

use fearless_simd::{Simd, SimdBase, dispatch};

use crate::alone::{alone, widened};
use crate::heads::{Heads, RUN, runs};
use crate::observe::{Part, RowStats};
use crate::outputs::Outputs;
use crate::params::{Block, Mask, Span};
use crate::simd::{Lanes, ln::ln};
use crate::tile::BLOCK_KV;
use crate::tile::accumulate::{accumulate, accumulate_some};
use crate::tile::adjust::adjust;
use crate::tile::edges::shared;
use crate::tile::hide::hide;
use crate::tile::pack::{factor, pack, unpack};
use crate::tile::rows::Rows;
use crate::tile::scores::{scores, some_scores};
use crate::tile::softmax::Online;
use crate::tile::soon::{Soon, soon};
use crate::tile::watch::{Columns, Watch};
use crate::{Element, Isa, Params, View};

/// One panel's share of the work, with the places for what it finds.
pub(crate) struct Task<'a> {
    pub(crate) batch: usize,
    pub(crate) rows: Rows,
    pub(crate) range: Range<usize>,
    /// The keys that some row of it may see.
    pub(crate) reach: Range<usize>,
    pub(crate) lse: &'a mut [f64],
    /// Empty where no statistics are wanted.
    pub(crate) stats: &'a mut [RowStats],
    /// Where a map is wanted: the part of it that the panel sees, and where to leave that.
    pub(crate) map: Option<(&'a Part, &'a mut [f32])>,
    /// Whether memory was asked for its queries.
    pub(crate) asked: bool,
}

/// What every panel reads.
pub(crate) struct Operands<'a, T> {
    pub(crate) q: View<'a, T>,
    pub(crate) k: View<'a, T>,
    pub(crate) v: View<'a, T>,
    pub(crate) heads: &'a Heads<'a, T>,
    pub(crate) params: &'a Params,
    pub(crate) mask: Mask<'a>,
}

impl<T> Clone for Operands<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Operands<'_, T> {}

/// A thread's working memory, used for one panel after another.
pub(crate) struct Scratch {
    /// (head_dim x lanes): the queries.
    panel: Vec<f32>,
    /// ([`BLOCK_KV`] x lanes).
    scores: Vec<f32>,
    /// (v_head_dim x lanes).
    acc: Vec<f32>,
    /// (lanes x v_head_dim): the panel's output.
    out: Vec<f32>,
    /// (2 x lanes).
    bounds: Vec<f32>,
    /// What is needed at its end, and after it.
    pub(crate) soon: Soon,
    /// Of a map, where one is wanted.
    columns: Columns,
}

impl Scratch {
    pub(crate) fn new(lanes: usize, head_dim: usize, v_dim: usize) -> Self {
        Self {
            panel: vec![0.0; head_dim * lanes],
            scores: vec![0.0; BLOCK_KV * lanes],
            acc: vec![0.0; v_dim * lanes],
            out: vec![0.0; v_dim * lanes],
            bounds: vec![0.0; 2 * lanes],
            soon: Soon::default(),
            columns: Columns::default(),
        }
    }

    /// Its size in bytes.
    pub(crate) fn bytes(lanes: usize, head_dim: usize, v_dim: usize) -> usize {
        (head_dim + BLOCK_KV + 2 * v_dim + 2) * lanes * size_of::<f32>()
    }
}

/// Rows in a panel on this instruction set.
pub(crate) fn panel_rows(isa: Isa) -> usize {
    #[inline(always)]
    fn rows<S: Simd>(_: S) -> usize {
        let width = <S::f32s as SimdBase<S>>::LEN;
        width * 2
    }
    dispatch!(isa.0, simd => rows(simd))
}

/// Picks the panel that suits the registers: two vectors across and eight keys down where there are 32 wide ones, two
/// and four where there are 16.
#[inline(always)]
pub(crate) fn panel_of<S: Simd, T: Element, O: Element>(
    simd: S,
    operands: Operands<T>,
    outputs: &Outputs<O>,
    task: Task,
    scratch: &mut Scratch,
) {
    simd.vectorize(
        #[inline(always)]
        || match <S::f32s as SimdBase<S>>::LEN {
            16 => panel::<S, T, O, S::f32s, 2, 2, 8>(simd, operands, outputs, task, scratch),
            8 => panel::<S, T, O, S::f32s, 2, 1, 4>(simd, operands, outputs, task, scratch),
            _ => panel::<S, T, O, S::f32s, 2, 1, 4>(simd, operands, outputs, task, scratch),
        },
    );
}

#[inline(always)]
fn panel<S: Simd, T: Element, O: Element, F: Lanes<S>, const N: usize, const Q: usize, const D: usize>(
    simd: S,
    operands: Operands<T>,
    outputs: &Outputs<O>,
    task: Task,
    scratch: &mut Scratch,
) {
    let Operands { q, k, v, heads, params, mask } = operands;
    let Task { batch, rows, range, reach, lse, stats, map, asked } = task;
    let Scratch { panel, scores: block_scores, acc, out, bounds, soon: later, columns } = scratch;
    let lanes = N * F::LEN;
    let v_dim = v.dim();
    let queries = range.clone().map(|row| {
        let (query, head) = rows.at(row);
        q.row(batch, query, head)
    });
    if !asked {
        for row in range.clone() {
            let (query, head) = rows.at(row);
            soon(simd, q.place(batch, query, head), q.dim());
        }
    }
    pack(simd, queries, factor(params.scale), lanes, panel);

    let mut online = Online::<F, N>::new(simd);
    let mut begun = false;
    let span = Span { batch, heads: rows.heads(), queries: rows.queries(range.clone()) };
    let watched = !stats.is_empty() || map.is_some();
    let (part, seen) = map.unzip();
    let mut watch =
        watched.then(|| Watch::<F, N>::new(simd, &mask, (rows, range.clone()), part.map(|part| (part, columns))));
    // Keys lie in fours; a map's columns begin where blocks do.
    let align = if watched { BLOCK_KV } else { 4 };
    let within = heads.within(rows.kv_head);
    later.spread(reach.len().div_ceil(BLOCK_KV), BLOCK_KV / (4 * Q) + v_dim / D);
    for run in runs(&reach) {
        let piece = heads.get(batch, rows.kv_head, run);
        let keys = reach.start.max(run * RUN) / align * align..reach.end.min((run + 1) * RUN);
        for at in keys.start / BLOCK_KV..keys.end.div_ceil(BLOCK_KV) {
            let block = keys.start.max(at * BLOCK_KV)..keys.end.min((at + 1) * BLOCK_KV);
            let visibility = mask.block(&span, block.clone());
            if visibility == Block::Skip {
                continue;
            }
            // Lanes that are passed over hold what they held; they see nothing here, so it is hidden below.
            let both = match visibility {
                Block::Partial if N == 2 => shared(&mask, (rows, range.clone()), F::LEN, block.clone()),
                _ => block.clone(),
            };
            let single = [block.start..both.start, both.end..block.end];
            let in_piece = |keys: &Range<usize>| keys.start - run * RUN..keys.end - run * RUN;
            let in_block = |keys: &Range<usize>| (keys.start - block.start) * lanes..(keys.end - block.start) * lanes;
            let lines = later.lines((reach.end - block.start).div_ceil(BLOCK_KV));
            let fours = |keys: &Range<usize>| in_block(&(keys.start..keys.end.next_multiple_of(4)));
            let out = &mut block_scores[fours(&both)];
            scores::<S, F, N, Q>(simd, panel, piece.keys(within, in_piece(&both)), out, || later.some(simd, lines));
            for (from, keys) in single.iter().enumerate().filter(|(_, keys)| !keys.is_empty()) {
                let out = &mut block_scores[fours(keys)];
                some_scores::<S, F, N, 1, Q>(simd, panel, from, piece.keys(within, in_piece(keys)), out, || ());
            }
            let scored = &mut block_scores[..block.len() * lanes];
            if params.adjusts() {
                adjust::<S, F>(simd, (params, &mask), (batch, rows, range.clone()), block.clone(), lanes, scored);
            }
            if visibility == Block::Partial {
                hide::<S, F, N>(simd, &mask, (rows, range.clone(), &span), block.clone(), bounds, scored);
            }
            let shrink = match &mut watch {
                Some(watch) => watch.block(simd, &mut online, block.start, scored),
                None => online.block(simd, scored),
            };
            accumulate::<S, F, N, D>(
                simd,
                &scored[in_block(&both)],
                piece.values(within, in_piece(&both)),
                begun.then_some(shrink),
                acc,
                || later.some(simd, lines),
            );
            begun = true;
            for (from, keys) in single.iter().enumerate().filter(|(_, keys)| !keys.is_empty()) {
                let (probs, one) = (&scored[in_block(keys)], Some([F::splat(simd, 1.0)]));
                accumulate_some::<S, F, N, 1, D>(
                    simd,
                    from,
                    probs,
                    piece.values(within, in_piece(keys)),
                    one,
                    acc,
                    || (),
                );
            }
        }
        heads.done(batch, rows.kv_head, run, piece);
    }

    if !begun {
        acc.fill(0.0);
    }
    let (maxima, norms) = bounds.split_at_mut(lanes);
    for r in 0..N {
        online.row_max[r].store_slice(&mut maxima[r * F::LEN..(r + 1) * F::LEN]);
        online.row_sum[r].store_slice(&mut norms[r * F::LEN..(r + 1) * F::LEN]);
    }
    match &params.sinks {
        None => finish(maxima, norms, lse),
        Some(sinks) => {
            for (lane, lse) in lse.iter_mut().enumerate() {
                (norms[lane], *lse) = finish_sink(maxima[lane], norms[lane], sinks[rows.at(range.start + lane).1]);
            }
        }
    }
    if let Some(watch) = watch {
        watch.rows(simd, &online, lse, stats);
        if let Some(seen) = seen {
            watch.leave(simd, (rows, range.clone()), lse, seen);
        }
    }
    for (first, four) in (0..range.len()).step_by(4).zip(out.chunks_exact_mut((4 * v_dim).max(1))) {
        let factors = std::array::from_fn(|lane| norms[first + lane]);
        unpack(simd, acc, lanes, first, factors, four);
    }
    for (lane, row) in (0..range.len()).zip(out.chunks_exact_mut(v_dim.max(1))) {
        if norms[lane] == 0.0 {
            row.fill(0.0);
        }
        if !finite(row) {
            let (query, head) = rows.at(range.start + lane);
            let q_row = widened(q.row(batch, query, head));
            let (key, value) =
                (|key| widened(k.row(batch, key, rows.kv_head)), |key| widened(v.row(batch, key, rows.kv_head)));
            alone((params, &mask), (batch, head, query), &q_row, key, value, row);
        }
    }
    outputs.write(simd, batch, range.map(|row| rows.at(row)), out);
}

/// Whether all numbers of a row are.
#[inline(always)]
fn finite(row: &[f32]) -> bool {
    // Of the bits, because a maximum of whole numbers is vector code.
    row.iter().fold(0, |most: u32, x| most.max(x.abs().to_bits())) < f32::INFINITY.to_bits()
}

/// Turns the sums of exp2(score - row_max) of some rows into what to multiply their outputs by, and gives their lse: 0 and
/// -inf for a row that saw nothing.
#[inline(always)]
fn finish(row_max: &[f32], row_sum: &mut [f32], lse: &mut [f64]) {
    for ((max, sum), lse) in row_max.iter().zip(row_sum).zip(lse) {
        let nothing = *sum == 0.0;
        let found = f64::from(*max) * std::f64::consts::LN_2 + ln(f64::from(*sum));
        *lse = if nothing { f64::NEG_INFINITY } else { found };
        *sum = if nothing { 0.0 } else { 1.0 / *sum };
    }
}

/// The same of one row with a sink, which is one more score of the row with nothing to mix.
fn finish_sink(row_max: f32, row_sum: f32, sink: f32) -> (f32, f64) {
    let sink = f64::from(sink);
    if row_sum == 0.0 {
        return (0.0, sink);
    }
    let natural = f64::from(row_max) * std::f64::consts::LN_2;
    let max = natural.max(sink);
    let lse = max + (f64::from(row_sum) * (natural - max).exp() + (sink - max).exp()).ln();
    ((natural - lse).exp() as f32, lse)
}
