use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use attnscope_bench::{Measured, Options, Point, Rate, Report};
use attnscope_render::fit;

use crate::args::BenchArgs;
use crate::output;

pub(crate) fn run(args: BenchArgs) -> anyhow::Result<()> {
    let stop = Arc::new(AtomicBool::new(false));
    let stopping = stop.clone();
    // One run of a case can take seconds; who does not want to wait for its end says so twice.
    ctrlc::set_handler(move || {
        if stopping.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    })?;
    let bar = output::progress("this machine");
    let progress = |done, all, what: &str| {
        bar.set_message(fit(what, 32));
        output::advance(&bar, done, all);
    };
    let options = Options { quick: args.quick, only: args.only };
    let report = attnscope_bench::run(&options, &progress, &|| stop.load(Ordering::Relaxed))?;
    bar.finish_and_clear();
    if args.json {
        return output::json(&report);
    }
    output::print(&text(&report)?)
}

fn text(report: &Report) -> Result<String, std::fmt::Error> {
    let mut text = String::new();
    let machine = &report.machine;
    let threads = if machine.threads == 1 { "thread" } else { "threads" };
    writeln!(text, "{} {threads}, {}", machine.threads, machine.isa)?;
    for (what, rate, unit) in [
        ("multiply-adds on registers, f32", machine.fma_peak_gflops, "Gflop/s"),
        ("matrix product, f32", machine.sgemm_gflops, "Gflop/s"),
        ("reading memory", machine.read_gbps, "GB/s"),
    ] {
        writeln!(text, "{what:<34}{rate:>9.1} {unit}")?;
    }
    if !report.cases.is_empty() {
        writeln!(text, "\n{:<34}{:>10}{:>18}{:>9}{:>10}{:>9}", "case", "ms", "rate", "of peak", "of sgemm", "spread")?;
    }
    for case in &report.cases {
        writeln!(text, "{}", row(case))?;
    }
    if !report.curve.is_empty() {
        writeln!(text, "\n{:>8}{:>13}{:>12}{:>14}{:>12}", "n", "naive ms", "ours ms", "naive MB", "ours MB")?;
    }
    for Point { n, naive_ms, ours_ms, naive_bytes, ours_bytes } in &report.curve {
        let [naive, ours] = [naive_bytes, ours_bytes].map(|bytes| *bytes as f64 / 1e6);
        writeln!(text, "{n:>8}{naive_ms:>13.3}{ours_ms:>12.3}{naive:>14.3}{ours:>12.3}")?;
    }
    Ok(text)
}

fn row(case: &Measured) -> String {
    let (rate, first, second) = match case.rate {
        Rate::Compute { gflops, frac_peak, frac_sgemm } => {
            (format!("{gflops:.1} Gflop/s"), format!("{frac_peak:.3}"), format!("{frac_sgemm:.3}"))
        }
        Rate::Read { gbps, frac_bandwidth } => {
            (format!("{gbps:.2} GB/s"), format!("{frac_bandwidth:.3}"), String::new())
        }
    };
    let noisy = if case.noisy { "  noisy" } else { "" };
    let (name, ms, spread) = (case.case, case.median_ms, case.spread * 100.0);
    format!("{name:<34}{ms:>10.3}{rate:>18}{first:>9}{second:>10}{spread:>8.1}%{noisy}")
}
