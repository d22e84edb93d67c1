//! Watches the blocks of one panel go by, for [`crate::observe`]. All sums are kept relative to the row's maximum so
//! far and shrink with it, as the softmax's own.

use std::ops::Range;

use fearless_simd::{Select, Simd, SimdMask};

use crate::observe::{Part, RowStats, larger};
use crate::params::Mask;
use crate::simd::{Lanes, exp::exp2, load};
use crate::tile::BLOCK_KV;
use crate::tile::rows::Rows;
use crate::tile::softmax::{Online, base};

/// Keys whose sum and maximum are kept apart: the narrowest column of a map.
const CHUNK: usize = 16;
const CHUNKS: usize = BLOCK_KV / CHUNK;
/// No key.
const NONE: u32 = u32::MAX;

/// What is known of a panel's rows so far. Scores in base 2.
pub(crate) struct Watch<'a, F, const N: usize> {
    /// Sum of e (s - max), e = exp2(s - max).
    weighted: [F; N],
    /// Sum of e |p - j|.
    distance: [F; N],
    /// The first key with the largest score, as bits; [`NONE`] while there is none.
    best: [F; N],
    /// (lanes): the key position at which each row stands.
    positions: Vec<i64>,
    /// The least and the largest of them.
    span: (i64, i64),
    /// How far each lies above the least.
    above: [F; N],
    /// (3 x lanes): the scores of the first key, the own and the previous one; -inf where not seen.
    named: Vec<f32>,
    /// Where a map is wanted.
    map: Option<(&'a Part, &'a mut Columns)>,
}

/// The columns of a map that a panel reaches, (columns x lanes) each.
#[derive(Default)]
pub(crate) struct Columns {
    /// Sum of exp2(s - base) of each column's keys.
    sum: Vec<f32>,
    /// The maximum that was subtracted.
    base: Vec<f32>,
    /// The largest score.
    max: Vec<f32>,
    /// The column that the last block was part of.
    last: Option<usize>,
}

impl<'a, F, const N: usize> Watch<'a, F, N> {
    /// For the rows of `range`, and the part of a map that they see.
    #[inline(always)]
    pub(crate) fn new<S: Simd>(
        simd: S,
        mask: &Mask,
        (rows, range): (Rows, Range<usize>),
        map: Option<(&'a Part, &'a mut Columns)>,
    ) -> Self
    where
        F: Lanes<S>,
    {
        let lanes = N * F::LEN;
        let mut positions: Vec<i64> = range.map(|row| mask.position(rows.at(row).0)).collect();
        // Lanes without a row stand where the last one does.
        positions.resize(lanes, positions.last().copied().unwrap_or(0));
        let low = positions.iter().copied().min().unwrap_or(0);
        let high = positions.iter().copied().max().unwrap_or(0);
        let above: Vec<f32> = positions.iter().map(|position| (position - low) as f32).collect();
        let map = map.map(|(part, columns)| {
            columns.clear(part.columns.len() * lanes);
            (part, columns)
        });
        Self {
            weighted: [F::splat(simd, 0.0); N],
            distance: [F::splat(simd, 0.0); N],
            best: [F::splat(simd, f32::from_bits(NONE)); N],
            span: (low, high),
            above: load(simd, &above),
            positions,
            named: vec![f32::NEG_INFINITY; 3 * lanes],
            map,
        }
    }

    /// [`Online::block`], watched. Blocks begin at multiples of [`BLOCK_KV`].
    #[inline(always)]
    pub(crate) fn block<S: Simd>(
        &mut self,
        simd: S,
        online: &mut Online<F, N>,
        first_key: usize,
        scores: &mut [f32],
    ) -> [F; N]
    where
        F: Lanes<S>,
    {
        let lanes = N * F::LEN;
        self.name(first_key, lanes, scores);
        let mut chunk_max = [[F::splat(simd, f32::NEG_INFINITY); N]; CHUNKS];
        for (scores, max) in scores.chunks(CHUNK * lanes).zip(&mut chunk_max) {
            for scores in scores.chunks_exact(lanes) {
                let scores: [F; N] = load(simd, scores);
                for r in 0..N {
                    max[r] = max[r].max(scores[r]);
                }
            }
        }
        let before = online.row_max;
        let mut max = before;
        for chunk in &chunk_max {
            for r in 0..N {
                max[r] = max[r].max(chunk[r]);
            }
        }
        for r in 0..N {
            if max[r].simd_gt(before[r]).any_true() {
                self.place(simd, first_key, r, (before[r], max[r]), &chunk_max, scores);
            }
        }

        let base = base(simd, max);
        let mut shrink = base;
        for r in 0..N {
            shrink[r] = exp2(simd, before[r] - base[r]);
        }
        // exp2 is 0 long before: what is hidden adds 0 * least, not 0 * -inf.
        let least = F::splat(simd, -200.0);
        let mut chunk_sum = [[F::splat(simd, 0.0); N]; CHUNKS];
        let (mut weighted, mut moment) = ([F::splat(simd, 0.0); N], [F::splat(simd, 0.0); N]);
        let mut end = 0.0;
        for (scores, sum) in scores.chunks_mut(CHUNK * lanes).zip(&mut chunk_sum) {
            // Every key's part once for itself and once for each key of the chunk after it: additions alone.
            let mut stairs = [F::splat(simd, 0.0); N];
            end += (scores.len() / lanes) as f32;
            for scores in scores.chunks_exact_mut(lanes) {
                for (r, scores) in scores.chunks_exact_mut(F::LEN).enumerate() {
                    let below = F::from_slice(simd, scores) - base[r];
                    let prob = exp2(simd, below);
                    prob.store_slice(scores);
                    sum[r] += prob;
                    stairs[r] += sum[r];
                    weighted[r] = prob.mul_add(below.max(least), weighted[r]);
                }
            }
            for r in 0..N {
                moment[r] += sum[r].mul_add(F::splat(simd, end), F::splat(simd, 0.0) - stairs[r]);
            }
        }
        let mut sums = [F::splat(simd, 0.0); N];
        for chunk in &chunk_sum {
            for r in 0..N {
                sums[r] += chunk[r];
            }
        }
        let distance = self.block_distance(simd, first_key, scores, sums, moment);
        for r in 0..N {
            let unseen = before[r].simd_eq(F::splat(simd, f32::NEG_INFINITY));
            let fell = unseen.select(F::splat(simd, 0.0), before[r] - base[r]);
            self.weighted[r] = online.row_sum[r].mul_add(fell, self.weighted[r]).mul_add(shrink[r], weighted[r]);
            self.distance[r] = self.distance[r].mul_add(shrink[r], distance[r]);
            online.row_sum[r] = online.row_sum[r].mul_add(shrink[r], sums[r]);
        }
        online.row_max = max;
        if let Some((part, columns)) = &mut self.map {
            let keys = first_key..first_key + scores.len() / lanes;
            columns.block(simd, part, keys, (&chunk_sum, &chunk_max), base, shrink);
        }
        shrink
    }

    /// Notes which key holds the new maximum of the lanes of one vector in which it grew: one of a chunk that has it.
    #[inline(always)]
    fn place<S: Simd>(
        &mut self,
        simd: S,
        first_key: usize,
        r: usize,
        (before, max): (F, F),
        chunk_max: &[[F; N]; CHUNKS],
        scores: &[f32],
    ) where
        F: Lanes<S>,
    {
        let lanes = N * F::LEN;
        let grew = max.simd_gt(before);
        let mut best = self.best[r];
        // From the last on, so that the first of equals stays.
        for (chunk, scores) in scores.chunks(CHUNK * lanes).enumerate().rev() {
            if !(grew & chunk_max[chunk][r].simd_eq(max)).any_true() {
                continue;
            }
            let mut at = (first_key + chunk * CHUNK + scores.len() / lanes) as u32;
            for scores in scores.chunks_exact(lanes).rev() {
                at -= 1;
                let score = F::from_slice(simd, &scores[r * F::LEN..(r + 1) * F::LEN]);
                best = score.simd_eq(max).select(F::splat(simd, f32::from_bits(at)), best);
            }
        }
        self.best[r] = grew.select(best, self.best[r]);
    }

    /// Takes note of the scores that have a name, before they become probabilities.
    #[inline(always)]
    fn name(&mut self, first_key: usize, lanes: usize, scores: &[f32]) {
        let (firsts, others) = self.named.split_at_mut(lanes);
        if first_key == 0 {
            firsts.copy_from_slice(&scores[..lanes]);
        }
        let keys = first_key as i64..(first_key + scores.len() / lanes) as i64;
        let reached = |position: i64| position >= keys.start && position <= keys.end;
        if self.span.1 < keys.start || self.span.0 > keys.end {
            return;
        }
        let (own, previous) = others.split_at_mut(lanes);
        for (lane, position) in self.positions.iter().enumerate() {
            if !reached(*position) {
                continue;
            }
            let score = |key: i64| scores[(key - keys.start) as usize * lanes + lane];
            if keys.contains(position) {
                own[lane] = score(*position);
            }
            if keys.contains(&(position - 1)) {
                previous[lane] = score(position - 1);
            }
        }
    }

    /// Sum over the block of e |p - j|.
    #[inline(always)]
    fn block_distance<S: Simd>(&self, simd: S, first_key: usize, probs: &[f32], sums: [F; N], moment: [F; N]) -> [F; N]
    where
        F: Lanes<S>,
    {
        let lanes = N * F::LEN;
        let (low, high) = (self.span.0 - first_key as i64, self.span.1 - first_key as i64);
        let (before, after) = (low >= (probs.len() / lanes) as i64 - 1, high <= 0);
        let mut ahead = self.above;
        for ahead in &mut ahead {
            *ahead += F::splat(simd, low as f32);
        }
        let mut distance = [F::splat(simd, 0.0); N];
        for r in 0..N {
            distance[r] = ahead[r] * sums[r] - moment[r];
            if after {
                distance[r] = F::splat(simd, 0.0) - distance[r];
            }
        }
        if before || after {
            return distance;
        }
        let mut distance = [F::splat(simd, 0.0); N];
        let mut at = 0.0;
        for probs in probs.chunks_exact(lanes) {
            let key = F::splat(simd, at);
            at += 1.0;
            let probs: [F; N] = load(simd, probs);
            for r in 0..N {
                distance[r] = probs[r].mul_add((ahead[r] - key).abs(), distance[r]);
            }
        }
        distance
    }

    /// The statistics of each row of the panel, from its lse (natural log).
    #[inline(always)]
    pub(crate) fn rows<S: Simd>(&self, simd: S, online: &Online<F, N>, lse: &[f64], stats: &mut [RowStats])
    where
        F: Lanes<S>,
    {
        let lanes = N * F::LEN;
        let base2 = base2(lse, lanes);
        let lse2: [F; N] = load(simd, &base2);
        let mut named: [[F; N]; 3] =
            [load(simd, &self.named), load(simd, &self.named[lanes..]), load(simd, &self.named[2 * lanes..])];
        let (mut entropy, mut distance, mut max) = (self.weighted, self.distance, online.row_max);
        for r in 0..N {
            // What a row's sums are divided by, and how far its lse lies above its maximum.
            let below = online.row_max[r] - lse2[r];
            let norm = exp2(simd, below);
            max[r] = norm;
            distance[r] *= norm;
            // H = lse row_sum - sum of A s = -(below row_sum + weighted) / Z, in nats.
            let sum = below.max(F::splat(simd, -200.0)).mul_add(online.row_sum[r], entropy[r]);
            entropy[r] = sum * norm * F::splat(simd, -std::f32::consts::LN_2);
            for named in &mut named {
                named[r] = exp2(simd, named[r] - lse2[r]);
            }
        }
        let lane = |vectors: &[F; N], lane: usize| vectors[lane / F::LEN].as_slice()[lane % F::LEN];
        for (at, stats) in stats.iter_mut().enumerate() {
            let max_key = Some(lane(&self.best, at).to_bits()).filter(|key| *key != NONE);
            if lse[at] == f64::NEG_INFINITY || max_key.is_none() && lane(&online.row_sum, at) == 0.0 {
                *stats = RowStats::default();
                continue;
            }
            let entropy = lane(&entropy, at);
            *stats = RowStats {
                // Rounding may leave it a hair below 0; a NaN stays one.
                entropy: if entropy < 0.0 { 0.0 } else { entropy },
                max: lane(&max, at),
                max_key,
                first: lane(&named[0], at),
                own: lane(&named[1], at),
                previous: lane(&named[2], at),
                distance: lane(&distance, at),
            };
        }
    }

    /// Leaves what the panel saw of the map.
    #[inline(always)]
    pub(crate) fn leave<S: Simd>(self, simd: S, (rows, range): (Rows, Range<usize>), lse: &[f64], seen: &mut [f32])
    where
        F: Lanes<S>,
    {
        let Some((part, columns)) = self.map else { return };
        if part.columns.is_empty() {
            return;
        }
        let lanes = N * F::LEN;
        let base2 = base2(lse, lanes);
        let lse2: [F; N] = load(simd, &base2);
        let Columns { sum: sums, base, max, .. } = columns;
        let numbers = sums.chunks_exact_mut(lanes).zip(base.chunks_exact(lanes)).zip(max.chunks_exact_mut(lanes));
        for ((sum, base), max) in numbers {
            for r in 0..N {
                let at = r * F::LEN..(r + 1) * F::LEN;
                let factor = exp2(simd, F::from_slice(simd, &base[at.clone()]) - lse2[r]);
                (F::from_slice(simd, &sum[at.clone()]) * factor).store_slice(&mut sum[at.clone()]);
                exp2(simd, F::from_slice(simd, &max[at.clone()]) - lse2[r]).store_slice(&mut max[at]);
            }
        }
        // Lanes side by side that belong to one row of the map are added up together.
        seen.fill(0.0);
        let mut lane = 0;
        while lane < range.len() {
            let at = |lane: usize| {
                let (query, head) = rows.at(range.start + lane);
                (head - rows.heads().start, query / part.side)
            };
            let (head, row) = at(lane);
            let run = lane..(lane + 1..range.len()).find(|lane| at(*lane) != (head, row)).unwrap_or(range.len());
            lane = run.end;
            let (to_sums, to_maxima) = part.row(seen, head, row);
            for (to, from) in to_sums.iter_mut().zip(sums.chunks_exact(lanes)) {
                *to += sum(&from[run.clone()]);
            }
            for (to, from) in to_maxima.iter_mut().zip(max.chunks_exact(lanes)) {
                *to = largest(&from[run.clone()], *to);
            }
        }
    }
}

impl Columns {
    /// So many numbers each, of nothing seen.
    fn clear(&mut self, len: usize) {
        for (numbers, nothing) in [(&mut self.sum, 0.0), (&mut self.base, 0.0), (&mut self.max, f32::NEG_INFINITY)] {
            numbers.clear();
            numbers.resize(len, nothing);
        }
        self.last = None;
    }

    #[inline(always)]
    fn block<S: Simd, F: Lanes<S>, const N: usize>(
        &mut self,
        simd: S,
        part: &Part,
        keys: Range<usize>,
        (sums, maxs): (&[[F; N]; CHUNKS], &[[F; N]; CHUNKS]),
        base: [F; N],
        shrink: [F; N],
    ) {
        let lanes = N * F::LEN;
        for (chunk, first) in keys.step_by(CHUNK).enumerate() {
            let column = first / part.side;
            let at = (column - part.columns.start) * lanes;
            for r in 0..N {
                let at = at + r * F::LEN..at + (r + 1) * F::LEN;
                let (mut sum, mut max) = (sums[chunk][r], maxs[chunk][r]);
                if self.last == Some(column) {
                    // More of the same column: what was there shrinks once a block.
                    let before = F::from_slice(simd, &self.sum[at.clone()]);
                    let shrink = if chunk == 0 { shrink[r] } else { F::splat(simd, 1.0) };
                    sum = before.mul_add(shrink, sum);
                    max = max.max(F::from_slice(simd, &self.max[at.clone()]));
                }
                sum.store_slice(&mut self.sum[at.clone()]);
                max.store_slice(&mut self.max[at.clone()]);
                base[r].store_slice(&mut self.base[at]);
            }
            self.last = Some(column);
        }
    }
}

/// The sum of some weights: four at a time, so that it is vector code.
#[inline(always)]
fn sum(weights: &[f32]) -> f32 {
    let (fours, rest) = weights.as_chunks::<4>();
    let mut sums = [0.0; 4];
    for four in fours {
        for (sum, weight) in sums.iter_mut().zip(four) {
            *sum += weight;
        }
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest.iter().sum::<f32>()
}

/// The largest of some weights and of `most`.
#[inline(always)]
fn largest(weights: &[f32], most: f32) -> f32 {
    weights.iter().fold(most, |most, weight| larger(most, *weight))
}

/// Each lane's lse in base 2. A row that sees nothing, or a lane without a row, gets infinity: its weights are 0.
fn base2(lse: &[f64], lanes: usize) -> Vec<f32> {
    let mut base2 = vec![f32::INFINITY; lanes];
    for (to, lse) in base2.iter_mut().zip(lse) {
        if *lse != f64::NEG_INFINITY {
            *to = (lse * std::f64::consts::LOG2_E) as f32;
        }
    }
    base2
}
