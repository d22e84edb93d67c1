//! One run: the limits, each case between two measurements of its limits, the curve.

use std::time::Instant;

use crate::curve::{self, Point};
use crate::limits::Limits;
use crate::measure::{Effort, Timing, measure};
use crate::report::Rate;
use crate::{Case, Error, Measured, Report, Work, cases};

/// A quick run leaves out what would take so many seconds at half the peak.
const LONG_S: f64 = 1.2;
/// Seconds that a quick run tries to keep within.
const QUICK_S: f64 = 50.0;

/// What to measure.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Less than a minute: the longest cases are left out, and the others take fewer samples.
    pub quick: bool,
    /// Those alone whose name holds one of these, or is one of these; all where there are none.
    pub only: Vec<String>,
}

/// Measures. `progress` is told (steps done, steps in all, what comes next).
///
/// # Errors
/// If nothing is called as asked, or the kernel refuses.
pub fn run(options: &Options, progress: &dyn Fn(usize, usize, &str)) -> Result<Report, Error> {
    let mut chosen = chosen(options)?;
    let lengths = if wanted(options, curve::NAME) { curve::lengths(options.quick) } else { &[] };
    let begun = Instant::now();
    progress(0, 1 + chosen.len() + lengths.len(), "this machine");
    let mut limits = Limits::new(limit_effort(options.quick))?;
    // Who names a long case wants it, quick or not.
    if options.quick && options.only.is_empty() {
        chosen.retain(|case| !long(case, limits.last_peak()));
    }
    let all = 1 + chosen.len() + lengths.len();
    let mut found: Vec<Measured> = Vec::new();
    for case in &chosen {
        let done = 1 + found.len();
        progress(done, all, case.name);
        found.push(measured(case, effort(options.quick, begun, all - done), &mut limits)?);
    }
    let mut points: Vec<Point> = Vec::new();
    for n in lengths {
        let done = 1 + found.len() + points.len();
        progress(done, all, &format!("{}, n {n}", curve::NAME));
        let effort = Effort { samples: 5, tries: 7, ..effort(options.quick, begun, all - done) };
        points.push(curve::point(*n, effort)?);
    }
    progress(all, all, "done");
    Ok(Report { machine: limits.machine(), cases: found, curve: points })
}

/// The effort for the next of the steps that are left.
fn effort(quick: bool, begun: Instant, left: usize) -> Effort {
    if !quick {
        return Effort { samples: 7, tries: 21, sample_s: 0.15, most_s: 30.0 };
    }
    // What is left of the time, less about as much for the limits as for the case itself.
    let share = (QUICK_S - begun.elapsed().as_secs_f64()) / left.max(1) as f64;
    Effort { samples: 5, tries: 7, sample_s: 0.1, most_s: (share / 2.0).clamp(0.3, 1.5) }
}

/// As much as shows a drift, and takes no longer than the cases.
fn limit_effort(quick: bool) -> Effort {
    match quick {
        true => Effort { samples: 3, tries: 4, sample_s: 0.06, most_s: 0.5 },
        false => Effort { samples: 5, tries: 9, sample_s: 0.1, most_s: 3.0 },
    }
}

/// Whether a case takes long where the peak, in Gflop/s, is this.
fn long(case: &Case, peak: f64) -> bool {
    matches!(case.work, Work::Flops(flops) if flops / 1e9 > LONG_S * peak / 2.0)
}

/// The cases of a run.
fn chosen(options: &Options) -> Result<Vec<Case>, Error> {
    let chosen: Vec<Case> = cases().into_iter().filter(|case| wanted(options, case.name)).collect();
    if chosen.is_empty() && !wanted(options, curve::NAME) {
        let names = cases().iter().map(|case| case.name).chain([curve::NAME]).collect::<Vec<_>>().join(", ");
        return Err(Error::NoCase { only: options.only.join(", "), names });
    }
    Ok(chosen)
}

/// Whether a case is asked for. The whole name of one means that one alone, though others may go on after it.
fn wanted(options: &Options, name: &str) -> bool {
    let whole = |word: &str| cases().iter().any(|case| case.name == word);
    let means = |word: &String| if whole(word) { name == word } else { name.contains(word.as_str()) };
    options.only.is_empty() || options.only.iter().any(means)
}

/// A case between two measurements of its limits.
fn measured(case: &Case, effort: Effort, limits: &mut Limits) -> Result<Measured, Error> {
    let mut once = (case.prepare)(case.shape)?;
    let mut time = || measure(effort, &mut || Ok(once()?));
    let (timing, rate, noisy) = match case.work {
        Work::Flops(flops) => {
            let ([peak, sgemm], timing) = (limits.before_compute()?, time()?);
            let [peak_after, sgemm_after] = limits.compute()?;
            let gflops = flops / timing.median_s / 1e9;
            let (peak, sgemm) = (peak.with(peak_after), sgemm.with(sgemm_after));
            let rate = Rate::Compute { gflops, frac_peak: gflops / peak.rate, frac_sgemm: gflops / sgemm.rate };
            (timing, rate, peak.noisy || sgemm.noisy)
        }
        Work::Bytes(bytes) => {
            let (before, timing) = (limits.before_read()?, time()?);
            let limit = before.with(limits.read()?);
            let gbps = bytes / timing.median_s / 1e9;
            (timing, Rate::Read { gbps, frac_bandwidth: gbps / limit.rate }, limit.noisy)
        }
    };
    let Timing { median_s, spread, samples, .. } = timing;
    let noisy = noisy || timing.noisy;
    let (case, threads) = (case.name, rayon::current_num_threads());
    Ok(Measured { case, threads, median_ms: median_s * 1e3, spread, samples, rate, noisy })
}

#[cfg(test)]
mod tests {
    use super::{Options, chosen};

    #[test]
    fn a_word_means_all_that_hold_it_and_a_whole_name_itself() {
        let names = |only: &[&str]| -> Vec<&str> {
            let only = only.iter().map(|word| (*word).to_owned()).collect();
            chosen(&Options { quick: false, only }).unwrap().iter().map(|case| case.name).collect()
        };
        let (forward, both) = ("f32 h12 d64 n2048 causal", "f32 h12 d64 n2048 causal fwd+bwd");
        assert_eq!(names(&[forward]), [forward]);
        assert_eq!(names(&["h12 d64 n2048 causal"]), [forward, both]);
        assert_eq!(names(&["fwd+bwd", forward]), [forward, both]);
        assert!(chosen(&Options { quick: false, only: vec!["nothing".to_owned()] }).is_err());
    }
}
