use std::hint::black_box;

use fearless_simd::{Level, Simd, SimdBase, dispatch};

use super::Limit;

/// Numbers in all: 512 MiB, beyond any cache.
const LEN: usize = 1 << 27;
/// Vectors that are read side by side from one place.
const WIDE: usize = 4;

/// How fast memory is read: the sum of far more numbers than any cache holds, each thread its share, in several
/// streams at once, because the hardware that fetches ahead follows each by itself.
pub(crate) struct Bandwidth {
    level: Level,
    numbers: Vec<f32>,
    /// Streams of a thread.
    pub(crate) streams: usize,
}

impl Bandwidth {
    /// Numbers of streams worth trying.
    pub(crate) const STREAMS: [usize; 4] = [1, 2, 4, 8];

    pub(crate) fn new() -> Self {
        Self { level: Level::new(), numbers: crate::inputs::normal(4, LEN), streams: 1 }
    }
}

impl Limit for Bandwidth {
    fn work(&self) -> f64 {
        size_of_val(self.numbers.as_slice()) as f64
    }

    fn once(&mut self) {
        let (level, numbers, streams) = (self.level, &self.numbers, self.streams);
        rayon::broadcast(|thread| {
            let share = |index| numbers.len() * index / thread.num_threads();
            let own = &numbers[share(thread.index())..share(thread.index() + 1)];
            black_box(dispatch!(level, simd => sum(simd, own, streams)))
        });
    }
}

#[inline(always)]
fn sum<S: Simd>(simd: S, numbers: &[f32], streams: usize) -> f32 {
    match streams {
        1 => stream_sum::<S, 1>(simd, numbers),
        2 => stream_sum::<S, 2>(simd, numbers),
        4 => stream_sum::<S, 4>(simd, numbers),
        _ => stream_sum::<S, 8>(simd, numbers),
    }
}

/// The numbers are cut into `STREAMS` runs, which are read in step.
#[inline(always)]
fn stream_sum<S: Simd, const STREAMS: usize>(simd: S, numbers: &[f32]) -> f32 {
    let (width, step) = (S::f32s::LEN, WIDE * S::f32s::LEN);
    let run = numbers.len() / STREAMS / step * step;
    let runs: [&[f32]; STREAMS] = std::array::from_fn(|stream| &numbers[stream * run..(stream + 1) * run]);
    let mut sums = [S::f32s::splat(simd, 0.0); WIDE];
    for first in (0..run).step_by(step) {
        for run in runs {
            let piece = &run[first..first + step];
            for (sum, vector) in sums.iter_mut().zip(piece.chunks_exact(width)) {
                *sum += S::f32s::from_slice(simd, vector);
            }
        }
    }
    sums.iter().flat_map(|sum| sum.as_slice()).sum::<f32>() + numbers[STREAMS * run..].iter().sum::<f32>()
}

#[cfg(test)]
mod tests {
    use fearless_simd::{Level, dispatch};

    use super::{Bandwidth, sum};

    #[test]
    fn every_number_is_read_once() {
        let numbers: Vec<f32> = (0..12_345).map(|i| (i % 7) as f32).collect();
        let want: f32 = numbers.iter().sum();
        for streams in Bandwidth::STREAMS {
            assert_eq!(dispatch!(Level::new(), simd => sum(simd, &numbers, streams)), want, "{streams}");
        }
    }
}
