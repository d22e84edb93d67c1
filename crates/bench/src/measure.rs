//! Samples, and what they say together.

use std::time::Instant;

use crate::Error;
use crate::disturbance::Watch;

/// Others may use this share of the machine in a clean sample.
const CLEAN: f64 = 0.08;
/// With fewer clean samples than this, a figure is noisy.
const ENOUGH: usize = 3;

/// How much trouble to take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    /// Clean samples that are wanted.
    pub(crate) samples: usize,
    /// Samples at most, the disturbed ones included.
    pub(crate) tries: usize,
    /// Seconds that a sample lasts at least; short runs are repeated within it.
    pub(crate) sample_s: f64,
    /// Seconds after which no more than the fewest samples are taken.
    pub(crate) most_s: f64,
}

/// The time of one run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Timing {
    /// Seconds, the median.
    pub(crate) median_s: f64,
    /// (third quartile - first) / median.
    pub(crate) spread: f64,
    /// Samples that it is the median of.
    pub(crate) samples: usize,
    /// Whether other processes were in the way too often.
    pub(crate) noisy: bool,
}

/// Times `once`.
pub(crate) fn measure(effort: Effort, once: &mut dyn FnMut() -> Result<(), Error>) -> Result<Timing, Error> {
    let begun = Instant::now();
    // The first run finds nothing warm. The second says how often a sample has to repeat it, if it does at all.
    once()?;
    let mut one = begun.elapsed();
    if one.as_secs_f64() < effort.sample_s {
        let started = Instant::now();
        once()?;
        one = started.elapsed();
    }
    let repeats = (effort.sample_s / one.as_secs_f64().max(1e-7)).ceil().clamp(1.0, 1e6) as usize;
    let mut taken: Vec<Sample> = Vec::new();
    loop {
        let clean = taken.iter().filter(|sample| sample.others < CLEAN).count();
        let late = begun.elapsed().as_secs_f64() > effort.most_s && taken.len() >= ENOUGH;
        if clean >= effort.samples || taken.len() >= effort.tries || late {
            return Ok(summary(taken, effort.samples));
        }
        let (watch, started) = (Watch::start(), Instant::now());
        for _ in 0..repeats {
            once()?;
        }
        taken.push(Sample { seconds: started.elapsed().as_secs_f64() / repeats as f64, others: watch.others() });
    }
}

/// One stretch of runs.
#[derive(Clone, Copy, Debug)]
struct Sample {
    /// Of one run.
    seconds: f64,
    /// What other processes used of the machine.
    others: f64,
}

/// Clean samples alone; where they are too few, the `wanted` that were disturbed least.
fn summary(mut taken: Vec<Sample>, wanted: usize) -> Timing {
    taken.sort_by(|a, b| a.others.total_cmp(&b.others));
    let clean = taken.iter().filter(|sample| sample.others < CLEAN).count();
    let noisy = clean < ENOUGH;
    taken.truncate(if noisy { wanted } else { clean });
    let mut seconds: Vec<f64> = taken.iter().map(|sample| sample.seconds).collect();
    seconds.sort_by(f64::total_cmp);
    let median_s = quantile(&seconds, 0.5);
    let spread = (quantile(&seconds, 0.75) - quantile(&seconds, 0.25)) / median_s;
    Timing { median_s, spread, samples: seconds.len(), noisy }
}

/// Of sorted numbers, straight between two neighbours.
pub(crate) fn quantile(sorted: &[f64], share: f64) -> f64 {
    let at = share * sorted.len().saturating_sub(1) as f64;
    let (low, high) = (sorted[at.floor() as usize], sorted[at.ceil() as usize]);
    low + (high - low) * at.fract()
}

#[cfg(test)]
mod tests {
    use super::{Sample, quantile, summary};

    fn samples(of: &[(f64, f64)]) -> Vec<Sample> {
        of.iter().map(|&(seconds, others)| Sample { seconds, others }).collect()
    }

    #[test]
    fn quantiles_lie_between_their_neighbours() {
        assert_eq!(
            [0.0, 0.25, 0.5, 0.75, 1.0].map(|share| quantile(&[1.0, 2.0, 4.0, 8.0, 9.0], share)),
            [1.0, 2.0, 4.0, 8.0, 9.0]
        );
        assert_eq!(quantile(&[1.0, 2.0], 0.5), 1.5);
        assert_eq!(quantile(&[3.0], 0.75), 3.0);
    }

    #[test]
    fn disturbed_samples_are_left_out_unless_there_is_nothing_else() {
        let some = summary(samples(&[(9.0, 0.5), (1.0, 0.0), (2.0, 0.01), (3.0, 0.02)]), 5);
        assert_eq!((some.median_s, some.samples, some.noisy), (2.0, 3, false));
        assert_eq!(some.spread, 0.5);
        let none = summary(samples(&[(9.0, 0.9), (1.0, 0.2), (2.0, 0.1), (3.0, 0.3)]), 3);
        assert_eq!((none.median_s, none.samples, none.noisy), (2.0, 3, true));
    }
}
