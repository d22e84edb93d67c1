//! The machine's limits over a run: measured again and again, because clocks drift.

use attnscope_kernel::Isa;

use crate::machine::{Bandwidth, Limit, Peak, Sgemm};
use crate::measure::{Effort, measure, quantile};
use crate::{Error, Machine};

/// The limits, and every rate that was found of each.
pub(crate) struct Limits {
    effort: Effort,
    peak: Peak,
    sgemm: Sgemm,
    bandwidth: Bandwidth,
    peaks: Vec<f64>,
    sgemms: Vec<f64>,
    reads: Vec<f64>,
    /// What was measured last: the end of one case is the beginning of the next.
    last: Last,
}

/// A limit at one time, 10^9 a second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Found {
    pub(crate) rate: f64,
    pub(crate) noisy: bool,
}

impl Found {
    /// Between this and a later one.
    pub(crate) fn with(self, other: Self) -> Self {
        Self { rate: (self.rate + other.rate) / 2.0, noisy: self.noisy || other.noisy }
    }
}

#[derive(Clone, Copy, Debug)]
enum Last {
    Compute([Found; 2]),
    Read(Found),
}

impl Limits {
    /// Measures each once, with an effort that is the same from then on.
    pub(crate) fn new(effort: Effort) -> Result<Self, Error> {
        let (mut peak, mut sgemm, mut bandwidth) = (Peak::new(), Sgemm::new(), Bandwidth::new());
        let compute = [found(&mut peak, effort)?, found(&mut sgemm, effort)?];
        let mut best = (0.0, 1);
        for streams in Bandwidth::STREAMS {
            bandwidth.streams = streams;
            let found = found(&mut bandwidth, effort)?;
            if found.rate > best.0 {
                best = (found.rate, streams);
            }
        }
        bandwidth.streams = best.1;
        let [peaks, sgemms] = compute.map(|found| vec![found.rate]);
        let last = Last::Compute(compute);
        Ok(Self { effort, peak, sgemm, bandwidth, peaks, sgemms, reads: vec![best.0], last })
    }

    /// The peak and the matrix product's rate now.
    pub(crate) fn compute(&mut self) -> Result<[Found; 2], Error> {
        let now = [found(&mut self.peak, self.effort)?, found(&mut self.sgemm, self.effort)?];
        self.peaks.push(now[0].rate);
        self.sgemms.push(now[1].rate);
        self.last = Last::Compute(now);
        Ok(now)
    }

    /// How fast memory is read now.
    pub(crate) fn read(&mut self) -> Result<Found, Error> {
        let now = found(&mut self.bandwidth, self.effort)?;
        self.reads.push(now.rate);
        self.last = Last::Read(now);
        Ok(now)
    }

    /// As [`Limits::compute`], but not again if that has just been measured.
    pub(crate) fn before_compute(&mut self) -> Result<[Found; 2], Error> {
        if let Last::Compute(now) = self.last { Ok(now) } else { self.compute() }
    }

    /// As [`Limits::read`], likewise.
    pub(crate) fn before_read(&mut self) -> Result<Found, Error> {
        if let Last::Read(now) = self.last { Ok(now) } else { self.read() }
    }

    /// The peak as it was found last, in Gflop/s.
    pub(crate) fn last_peak(&self) -> f64 {
        self.peaks.last().copied().unwrap_or(f64::INFINITY)
    }

    /// The median of each over the run.
    pub(crate) fn machine(&self) -> Machine {
        let [peak, sgemm, read] = [&self.peaks, &self.sgemms, &self.reads].map(|rates| {
            let mut sorted = rates.clone();
            sorted.sort_by(f64::total_cmp);
            quantile(&sorted, 0.5)
        });
        Machine {
            fma_peak_gflops: peak,
            sgemm_gflops: sgemm,
            read_gbps: read,
            threads: rayon::current_num_threads(),
            isa: Isa::detect().name(),
        }
    }
}

/// The rate of one limit.
fn found(limit: &mut dyn Limit, effort: Effort) -> Result<Found, Error> {
    let work = limit.work();
    let timing = measure(effort, &mut || {
        limit.once();
        Ok(())
    })?;
    Ok(Found { rate: work / timing.median_s / 1e9, noisy: timing.noisy })
}
