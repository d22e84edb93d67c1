use serde::Serialize;

use crate::Point;

/// Everything that one run found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// The limits.
    pub machine: Machine,
    /// The cases beside them.
    pub cases: Vec<Measured>,
    /// The textbook form against ours, by length.
    pub curve: Vec<Point>,
}

impl Report {
    /// Whether any of its figures was disturbed by other processes.
    pub fn noisy(&self) -> bool {
        self.cases.iter().any(|case| case.noisy) || self.curve.iter().any(|point| point.noisy)
    }
}

/// What this machine does at best.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Machine {
    /// Multiply-adds on registers alone, f32, 10^9 operations a second: the median over the run.
    pub fma_peak_gflops: f64,
    /// The best matrix product in f32, likewise.
    pub sgemm_gflops: f64,
    /// Reading memory, 10^9 bytes a second: likewise.
    pub read_gbps: f64,
    /// Threads of the run.
    pub threads: usize,
    /// The instruction set.
    pub isa: &'static str,
}

/// What one case took.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measured {
    /// Its name.
    pub case: &'static str,
    /// Threads of the run.
    pub threads: usize,
    /// Milliseconds of one run, the median.
    pub median_ms: f64,
    /// (third quartile - first) / median of the samples.
    pub spread: f64,
    /// Samples that these are of.
    pub samples: usize,
    /// Useful operations, or bytes, against their limit.
    #[serde(flatten)]
    pub rate: Rate,
    /// Whether other processes were in the way too often for the figure to be trusted.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub noisy: bool,
}

/// A rate and what it is of the limits measured just before and after.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Rate {
    /// Of a case that computes.
    Compute {
        /// Useful operations, 10^9 a second.
        gflops: f64,
        /// Of the peak of multiply-adds.
        frac_peak: f64,
        /// Of the best matrix product.
        frac_sgemm: f64,
    },
    /// Of a case that reads.
    Read {
        /// 10^9 bytes a second.
        gbps: f64,
        /// Of the bandwidth of memory.
        frac_bandwidth: f64,
    },
}
