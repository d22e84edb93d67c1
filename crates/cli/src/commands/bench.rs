use std::fmt::Write;

use anyhow::bail;
use attnscope_bench::{Machine, Measured, Options, Point, Rate, Report};

use crate::args::BenchArgs;
use crate::{files, output};

pub(crate) fn run(args: BenchArgs) -> anyhow::Result<()> {
    if let Some(path) = &args.svg {
        if path.extension().is_none_or(|ending| ending != "svg") {
            bail!("{}: the chart is an SVG; its name must end in .svg", path.display());
        }
        files::check(path)?;
    }
    let bar = output::progress("this machine");
    let progress = |done, all, what: &str| {
        bar.set_message(format!("{what:<32}"));
        output::advance(&bar, done, all);
    };
    let options = Options { quick: args.quick, only: args.only };
    let report = attnscope_bench::run(&options, &progress);
    bar.finish_and_clear();
    let report = report?;
    // The chart last: where it cannot be written, what was measured is there all the same.
    if args.json {
        output::json(&report)?
    } else {
        output::print(&text(&report)?)?
    }
    match &args.svg {
        Some(path) => files::write(path, attnscope_bench::chart(&report).as_bytes()),
        None => Ok(()),
    }
}

fn text(report: &Report) -> Result<String, std::fmt::Error> {
    let mut text = String::new();
    machine(&mut text, &report.machine)?;
    if !report.cases.is_empty() {
        let (case, ms, rate, limit, sgemm, spread) = ("case", "ms", "rate", "of limit", "of sgemm", "spread");
        writeln!(text, "\n{case:<34}{ms:>10}{rate:>18}{limit:>10}{sgemm:>10}{spread:>9}")?;
    }
    for case in &report.cases {
        writeln!(text, "{}", row(case))?;
    }
    if !report.curve.is_empty() {
        writeln!(text, "\n{:>8}{:>13}{:>12}{:>14}{:>12}", "n", "naive ms", "ours ms", "naive MB", "ours MB")?;
    }
    for Point { n, naive_ms, ours_ms, naive_bytes, ours_bytes, noisy } in &report.curve {
        let [naive, ours] = [naive_bytes, ours_bytes].map(|bytes| *bytes as f64 / 1e6);
        writeln!(text, "{n:>8}{naive_ms:>13.3}{ours_ms:>12.3}{naive:>14.3}{ours:>12.3}{}", mark(*noisy))?;
    }
    if !report.cases.is_empty() {
        writeln!(
            text,
            "\nof limit: of the multiply-adds, or of reading memory, as measured before and after the case"
        )?;
    }
    if report.noisy() {
        writeln!(text, "noisy: other processes were in the way; run it again on a quieter machine")?;
    }
    Ok(text)
}

fn machine(text: &mut String, machine: &Machine) -> std::fmt::Result {
    let threads = if machine.threads == 1 { "thread" } else { "threads" };
    writeln!(text, "{} {threads}, {}", machine.threads, machine.isa)?;
    for (what, rate, unit) in [
        ("multiply-adds on registers, f32", machine.fma_peak_gflops, "Gflop/s"),
        ("matrix product, f32", machine.sgemm_gflops, "Gflop/s"),
        ("reading memory", machine.read_gbps, "GB/s"),
    ] {
        writeln!(text, "{what:<34}{rate:>9.1} {unit}")?;
    }
    Ok(())
}

fn row(case: &Measured) -> String {
    let (rate, limit, sgemm) = match case.rate {
        Rate::Compute { gflops, frac_peak, frac_sgemm } => {
            (format!("{gflops:.1} Gflop/s"), frac_peak, format!("{frac_sgemm:.3}"))
        }
        Rate::Read { gbps, frac_bandwidth } => (format!("{gbps:.2} GB/s"), frac_bandwidth, String::new()),
    };
    let (name, ms, spread, noisy) = (case.case, case.median_ms, case.spread * 100.0, mark(case.noisy));
    format!("{name:<34}{ms:>10.3}{rate:>18}{limit:>10.3}{sgemm:>10}{spread:>8.1}%{noisy}")
}

fn mark(noisy: bool) -> &'static str {
    if noisy { "  noisy" } else { "" }
}
