//! One run: the limits, each case between two measurements of its limits, the curve.

use attnscope_kernel::Isa;

use crate::curve::{self, Point};
use crate::machine::{Bandwidth, Limit, Peak, Sgemm};
use crate::measure::{Effort, Timing, measure};
use crate::report::Rate;
use crate::{Case, Error, Machine, Measured, Report, Work, cases};

/// Work in Gflop beyond which a quick run leaves a case out.
const QUICK_GFLOP: f64 = 60.0;

/// What to measure.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Less than a minute: the longest cases are left out, and the others take fewer samples.
    pub quick: bool,
    /// Those alone whose name holds one of these; all where there are none.
    pub only: Vec<String>,
}

/// Measures. `progress` is told (steps done, steps in all, what comes next); `stop` is asked between any two runs, and
/// ends it all by `true`.
///
/// # Errors
/// If nothing is called as asked, the kernel refuses, or the run was stopped.
pub fn run(options: &Options, progress: &dyn Fn(usize, usize, &str), stop: &dyn Fn() -> bool) -> Result<Report, Error> {
    let chosen = chosen(options)?;
    let lengths = if wanted(options, curve::NAME) { curve::lengths(options.quick) } else { &[] };
    let all = 1 + chosen.len() + lengths.len();
    let effort = effort(options.quick);

    progress(0, all, "this machine");
    let mut limits = Limits::new(stop)?;
    let mut found = Vec::new();
    for (index, case) in chosen.iter().enumerate() {
        progress(1 + index, all, case.name);
        found.push(measured(case, effort, &mut limits, stop)?);
    }
    let mut points: Vec<Point> = Vec::new();
    for n in lengths {
        progress(1 + chosen.len() + points.len(), all, &format!("{}, n {n}", curve::NAME));
        points.push(curve::point(*n, Effort { samples: effort.samples.min(5), ..effort }, stop)?);
    }
    progress(all, all, "done");
    Ok(Report { machine: limits.machine(), cases: found, curve: points })
}

fn effort(quick: bool) -> Effort {
    match quick {
        true => Effort { samples: 5, tries: 8, sample_s: 0.1, most_s: 2.0 },
        false => Effort { samples: 7, tries: 21, sample_s: 0.15, most_s: 30.0 },
    }
}

/// The cases of a run.
fn chosen(options: &Options) -> Result<Vec<Case>, Error> {
    let short = |case: &Case| match case.work {
        Work::Flops(flops) => flops < QUICK_GFLOP * 1e9,
        Work::Bytes(_) => true,
    };
    let chosen: Vec<Case> = cases().into_iter().filter(|case| wanted(options, case.name)).collect();
    if chosen.is_empty() && !wanted(options, curve::NAME) {
        let names = cases().iter().map(|case| case.name).chain([curve::NAME]).collect::<Vec<_>>().join(", ");
        return Err(Error::NoCase { only: options.only.join(", "), names });
    }
    // Who names a long case wants it, quick or not.
    let all = !options.quick || !options.only.is_empty();
    Ok(chosen.into_iter().filter(|case| all || short(case)).collect())
}

fn wanted(options: &Options, name: &str) -> bool {
    options.only.is_empty() || options.only.iter().any(|word| name.contains(word.as_str()))
}

/// A case between two measurements of its limits.
fn measured(case: &Case, effort: Effort, limits: &mut Limits, stop: &dyn Fn() -> bool) -> Result<Measured, Error> {
    let mut once = (case.prepare)(case.shape)?;
    let (timing, rate) = match case.work {
        Work::Flops(flops) => {
            let before = limits.compute(stop)?;
            let timing = measure(effort, stop, &mut || Ok(once()?))?;
            let after = limits.compute(stop)?;
            let gflops = flops / timing.median_s / 1e9;
            let [frac_peak, frac_sgemm] = [0, 1].map(|limit| gflops / mean(before[limit], after[limit]));
            (timing, Rate::Compute { gflops, frac_peak, frac_sgemm })
        }
        Work::Bytes(bytes) => {
            let before = limits.read(stop)?;
            let timing = measure(effort, stop, &mut || Ok(once()?))?;
            let after = limits.read(stop)?;
            let gbps = bytes / timing.median_s / 1e9;
            (timing, Rate::Read { gbps, frac_bandwidth: gbps / mean(before, after) })
        }
    };
    let Timing { median_s, spread, samples, noisy } = timing;
    let (case, threads) = (case.name, rayon::current_num_threads());
    Ok(Measured { case, threads, median_ms: median_s * 1e3, spread, samples, rate, noisy })
}

fn mean(a: f64, b: f64) -> f64 {
    (a + b) / 2.0
}

/// The machine's limits, and every rate that was found of each.
struct Limits {
    peak: Peak,
    sgemm: Sgemm,
    bandwidth: Bandwidth,
    peaks: Vec<f64>,
    sgemms: Vec<f64>,
    reads: Vec<f64>,
}

impl Limits {
    fn new(stop: &dyn Fn() -> bool) -> Result<Self, Error> {
        let mut limits = Self {
            peak: Peak::new(),
            sgemm: Sgemm::new(),
            bandwidth: Bandwidth::new(),
            peaks: Vec::new(),
            sgemms: Vec::new(),
            reads: Vec::new(),
        };
        let mut best = (0.0, 1);
        for streams in Bandwidth::STREAMS {
            limits.bandwidth.streams = streams;
            let rate = rate(&mut limits.bandwidth, stop)?;
            if rate > best.0 {
                best = (rate, streams);
            }
        }
        limits.bandwidth.streams = best.1;
        limits.compute(stop)?;
        limits.read(stop)?;
        Ok(limits)
    }

    /// The peak and the matrix product's rate now, in Gflop/s.
    fn compute(&mut self, stop: &dyn Fn() -> bool) -> Result<[f64; 2], Error> {
        let now = [rate(&mut self.peak, stop)?, rate(&mut self.sgemm, stop)?];
        self.peaks.push(now[0]);
        self.sgemms.push(now[1]);
        Ok(now)
    }

    /// The bandwidth now, in GB/s.
    fn read(&mut self, stop: &dyn Fn() -> bool) -> Result<f64, Error> {
        let now = rate(&mut self.bandwidth, stop)?;
        self.reads.push(now);
        Ok(now)
    }

    fn machine(&self) -> Machine {
        Machine {
            fma_peak_gflops: median(&self.peaks),
            sgemm_gflops: median(&self.sgemms),
            read_gbps: median(&self.reads),
            threads: rayon::current_num_threads(),
            isa: Isa::detect().name(),
        }
    }
}

/// 10^9 a second of one limit.
fn rate(limit: &mut dyn Limit, stop: &dyn Fn() -> bool) -> Result<f64, Error> {
    let effort = Effort { samples: 3, tries: 6, sample_s: 0.08, most_s: 2.0 };
    let work = limit.work();
    let timing = measure(effort, stop, &mut || {
        limit.once();
        Ok(())
    })?;
    Ok(work / timing.median_s / 1e9)
}

fn median(rates: &[f64]) -> f64 {
    let mut sorted = rates.to_vec();
    sorted.sort_by(f64::total_cmp);
    crate::measure::quantile(&sorted, 0.5)
}
