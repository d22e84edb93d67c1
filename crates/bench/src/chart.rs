//! The report as a picture: ratios by length, and what naive and ours take.

mod panel;
mod scale;

use crate::report::Rate;
use crate::{Machine, Measured, Report};
use panel::{Line, Panel, Point, WIDTH};
use scale::{Unit, YScale};

/// Colours of a light page and of a dark one; the viewer's own setting says which.
const STYLE: &str = include_str!("chart/style.css");
/// Room of the words above the panels.
const HEAD: f64 = 56.0;
/// Panels side by side.
const COLUMNS: usize = 2;

/// The report as one self-contained SVG document, light or dark as its viewer is. What was not measured has no panel.
pub fn chart(report: &Report) -> String {
    let panels: Vec<Panel> = panels(report).into_iter().filter(|panel| !panel.lines.is_empty()).collect();
    let rows: Vec<&[Panel]> = panels.chunks(COLUMNS).collect();
    let tall = |row: &[Panel]| row.iter().map(Panel::height).fold(0.0, f64::max);
    let width = WIDTH * COLUMNS as f64;
    let height = HEAD + rows.iter().map(|row| tall(row)).sum::<f64>();
    let (title, note) = words(report);
    let mut svg = format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img" aria-labelledby="bench-title">
<title id="bench-title">{title}</title>
<style>{STYLE}</style>
<rect class="page" width="{width}" height="{height}"/>
<text class="soft" x="24" y="26">{title}</text>
<text class="soft" x="24" y="43">{note}</text>
"#
    );
    let mut y = HEAD;
    for row in rows {
        for (column, panel) in row.iter().enumerate() {
            panel.draw(&mut svg, (WIDTH * column as f64, y));
        }
        y += tall(row);
    }
    svg.push_str("</svg>\n");
    svg
}

/// What the picture is of, and what its marks mean.
fn words(report: &Report) -> (String, &'static str) {
    let Machine { fma_peak_gflops, sgemm_gflops, read_gbps, threads, isa } = report.machine;
    let threads = if threads == 1 { "1 thread".to_owned() } else { format!("{threads} threads") };
    let title = format!(
        "attnscope bench on {threads}, {isa}: multiply-adds {fma_peak_gflops:.1} Gflop/s, matrix product {sgemm_gflops:.1} Gflop/s, memory {read_gbps:.1} GB/s"
    );
    (title, if report.noisy() { "Hollow: noisy, other processes were in the way." } else { "" })
}

fn panels(report: &Report) -> [Panel; 4] {
    let of = |ratio: fn(Rate) -> Option<f64>| families(&report.cases, ratio);
    let peak = of(|rate| match rate {
        Rate::Compute { frac_peak, .. } => Some(frac_peak),
        Rate::Read { .. } => None,
    });
    let memory = of(|rate| match rate {
        Rate::Read { frac_bandwidth, .. } => Some(frac_bandwidth),
        Rate::Compute { .. } => None,
    });
    let curve = |name: &str, value: &dyn Fn(&crate::Point) -> f64| Line {
        name: name.to_owned(),
        points: report
            .curve
            .iter()
            .map(|point| Point { length: point.n, value: value(point), noisy: point.noisy })
            .collect(),
    };
    let time = [curve("naive", &|point| point.naive_ms / 1e3), curve("ours", &|point| point.ours_ms / 1e3)];
    let bytes = [curve("naive", &|point| point.naive_bytes as f64), curve("ours", &|point| point.ours_bytes as f64)];
    let drawn = |lines: [Line; 2]| lines.into_iter().filter(|line| !line.points.is_empty()).collect();
    [
        Panel { title: "Prefill: of the peak, by tokens", scale: YScale::Ratio, lines: peak },
        Panel { title: "Decode: of reading memory, by keys", scale: YScale::Ratio, lines: memory },
        Panel { title: "Time of one head, by tokens", scale: YScale::Log(Unit::Seconds), lines: drawn(time) },
        Panel {
            title: "Memory beside q, k, v and out, by tokens",
            scale: YScale::Log(Unit::Bytes),
            lines: drawn(bytes),
        },
    ]
}

/// Cases that differ by length alone, joined, in the order of their first.
fn families(cases: &[Measured], ratio: impl Fn(Rate) -> Option<f64>) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for case in cases {
        let (Some((family, length)), Some(ratio)) = (by_length(case.case), ratio(case.rate)) else { continue };
        let point = Point { length, value: ratio, noisy: case.noisy };
        match lines.iter_mut().find(|line| line.name == family) {
            Some(line) => line.points.push(point),
            None => lines.push(Line { name: family, points: vec![point] }),
        }
    }
    lines.iter_mut().for_each(|line| line.points.sort_by_key(|point| point.length));
    lines
}

/// A case's name without the word for its length, `n2048` or `kv4096`, and the length.
fn by_length(name: &str) -> Option<(String, usize)> {
    let length = |word: &str| word.strip_prefix('n').or_else(|| word.strip_prefix("kv"))?.parse::<usize>().ok();
    let found = name.split(' ').find_map(length)?;
    let others: Vec<&str> = name.split(' ').filter(|word| length(word).is_none()).collect();
    Some((others.join(" "), found))
}

#[cfg(test)]
mod tests {
    use super::{by_length, chart};
    use crate::report::Rate;
    use crate::{Measured, Point, Report, cases};

    fn report() -> Report {
        let compute = Rate::Compute { gflops: 60.0, frac_peak: 0.8, frac_sgemm: 0.85 };
        let read = Rate::Read { gbps: 12.0, frac_bandwidth: 1.3 };
        let case = |case: crate::Case| Measured {
            case: case.name,
            threads: 2,
            median_ms: 1.0,
            spread: 0.01,
            samples: 5,
            rate: if case.name.contains("decode") { read } else { compute },
            noisy: false,
        };
        let point = |n| Point {
            n,
            naive_ms: 4.0,
            ours_ms: 0.3,
            naive_bytes: 4 * n * n,
            ours_bytes: 50_000 + 8 * n,
            noisy: n == 256,
        };
        Report {
            machine: crate::Machine {
                fma_peak_gflops: 75.0,
                sgemm_gflops: 70.0,
                read_gbps: 17.0,
                threads: 2,
                isa: "avx2",
            },
            cases: cases().into_iter().map(case).collect(),
            curve: [256, 1024, 4096].map(point).to_vec(),
        }
    }

    #[test]
    fn a_length_is_told_from_the_rest_of_a_name() {
        assert_eq!(by_length("f32 h12 d64 n2048 full"), Some(("f32 h12 d64 full".to_owned(), 2048)));
        assert_eq!(by_length("f16 decode h32/8 d128 kv4096"), Some(("f16 decode h32/8 d128".to_owned(), 4096)));
        assert_eq!(by_length("f32 packed64x128 h12 d64 full"), None);
    }

    #[test]
    fn every_family_and_both_forms_are_drawn_in_their_place() {
        let report = report();
        let svg = chart(&report);
        let document = roxmltree::Document::parse(&svg).unwrap();
        let texts: Vec<&str> =
            document.descendants().filter(|node| node.has_tag_name("text")).filter_map(|node| node.text()).collect();
        for case in &report.cases {
            if let Some((family, length)) = by_length(case.case) {
                assert!(texts.contains(&family.as_str()), "{family}");
                assert!(texts.contains(&length.to_string().as_str()), "{length}");
            }
        }
        for words in ["naive", "ours", "10 ms", "1 MB"] {
            assert!(texts.contains(&words), "{words} not in {texts:?}");
        }
        for point in document.descendants().filter(|node| node.has_tag_name("circle")) {
            let at = |name| point.attribute(name).unwrap().parse::<f64>().unwrap();
            assert!((0.0..960.0).contains(&at("cx")) && (0.0..800.0).contains(&at("cy")), "{point:?}");
        }
    }

    #[test]
    fn what_was_not_measured_has_no_panel() {
        let mut report = report();
        report.curve.clear();
        report.cases.truncate(1);
        let svg = chart(&report);
        roxmltree::Document::parse(&svg).unwrap();
        assert!(svg.contains("Prefill") && !svg.contains("Decode") && !svg.contains("naive"));
        report.cases.clear();
        roxmltree::Document::parse(&chart(&report)).unwrap();
    }
}
