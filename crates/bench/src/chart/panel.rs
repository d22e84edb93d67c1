use std::fmt::Write;

use super::scale::{Axis, YScale};

/// Room of a panel, in pixels of 1/96 inch.
pub(super) const WIDTH: f64 = 480.0;
/// The plot within it: its left edge, its width and its height.
const LEFT: f64 = 76.0;
const PLOT_WIDTH: f64 = WIDTH - LEFT - 28.0;
const PLOT_HEIGHT: f64 = 200.0;
/// Where the plot begins, and the legend's first line.
const TOP: f64 = 40.0;
const LEGEND: f64 = TOP + PLOT_HEIGHT + 48.0;
/// From one line of the legend to the next, and its entries side by side.
const LEADING: f64 = 18.0;
const COLUMNS: usize = 2;
/// Colours that the style sheet has.
const COLOURS: usize = 8;

/// One plot: lengths across, values upwards.
pub(super) struct Panel {
    pub(super) title: &'static str,
    pub(super) scale: YScale,
    pub(super) lines: Vec<Line>,
}

/// Values of one name by length, the shortest first.
pub(super) struct Line {
    pub(super) name: String,
    pub(super) points: Vec<Point>,
}

/// A value at a length.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    pub(super) length: usize,
    pub(super) value: f64,
    pub(super) noisy: bool,
}

impl Panel {
    /// Its height, the legend included.
    pub(super) fn height(&self) -> f64 {
        LEGEND + LEADING * self.lines.len().div_ceil(COLUMNS) as f64 + 10.0
    }

    /// Draws it with its corner at (x, y).
    pub(super) fn draw(&self, svg: &mut String, (x, y): (f64, f64)) {
        let _ = writeln!(
            svg,
            r#"<g transform="translate({x} {y})"><text class="head" x="24" y="22">{}</text>"#,
            self.title
        );
        let _ = writeln!(svg, r#"<g transform="translate({LEFT} {TOP})">"#);
        let values = self.lines.iter().flat_map(|line| line.points.iter().map(|point| point.value));
        let axis = Axis::holding(self.scale, values);
        self.grid(svg, axis);
        for (index, line) in self.lines.iter().enumerate() {
            self.line(svg, line, index % COLOURS, axis);
        }
        svg.push_str("</g>\n");
        self.legend(svg);
        svg.push_str("</g>\n");
    }

    fn grid(&self, svg: &mut String, axis: Axis) {
        for tick in axis.ticks() {
            let y = PLOT_HEIGHT * (1.0 - tick.at);
            let limit = self.scale == YScale::Ratio && tick.label == "1.0";
            let class = if limit { "limit" } else { "grid" };
            let _ = writeln!(svg, r#"<path class="{class}" d="M0 {y:.1}H{PLOT_WIDTH}"/>"#);
            let _ = writeln!(
                svg,
                r#"<text class="soft" x="-8" y="{:.1}" text-anchor="end">{}</text>"#,
                y + 4.0,
                tick.label
            );
        }
        let lengths: std::collections::BTreeSet<usize> =
            self.lines.iter().flat_map(|line| line.points.iter().map(|point| point.length)).collect();
        for length in lengths {
            let x = self.across(length);
            let _ = writeln!(svg, r#"<path class="grid" d="M{x:.1} 0V{PLOT_HEIGHT}"/>"#);
            let _ = writeln!(
                svg,
                r#"<text class="soft" x="{x:.1}" y="{}" text-anchor="middle">{length}</text>"#,
                PLOT_HEIGHT + 18.0
            );
        }
    }

    /// Where a length stands: in powers of two, with half of one to either side.
    fn across(&self, length: usize) -> f64 {
        let lengths = self.lines.iter().flat_map(|line| line.points.iter().map(|point| (point.length as f64).log2()));
        let low = lengths.clone().fold(f64::MAX, f64::min) - 0.5;
        let high = lengths.fold(f64::MIN, f64::max) + 0.5;
        PLOT_WIDTH * ((length as f64).log2() - low) / (high - low)
    }

    fn line(&self, svg: &mut String, line: &Line, colour: usize, axis: Axis) {
        let at = |point: &Point| (self.across(point.length), PLOT_HEIGHT * (1.0 - axis.at(point.value)));
        let path: Vec<String> = line.points.iter().map(at).map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
        let _ = writeln!(svg, r#"<g class="c{colour}"><path class="line" d="M{}"/>"#, path.join("L"));
        for point in &line.points {
            let ((x, y), Point { length, value, noisy }) = (at(point), *point);
            let class = if noisy { "dot noisy" } else { "dot" };
            let value = match self.scale {
                YScale::Ratio => format!("{value:.3}"),
                YScale::Log(_) => format!("{value:.3e}"),
            };
            let _ = writeln!(
                svg,
                r#"<circle class="{class}" cx="{x:.1}" cy="{y:.1}" r="3.5"><title>{}, {length}: {value}</title></circle>"#,
                line.name
            );
        }
        svg.push_str("</g>\n");
    }

    fn legend(&self, svg: &mut String) {
        for (index, line) in self.lines.iter().enumerate() {
            let x = LEFT + (PLOT_WIDTH / COLUMNS as f64) * (index % COLUMNS) as f64;
            let y = LEGEND + LEADING * (index / COLUMNS) as f64;
            let colour = index % COLOURS;
            let _ = writeln!(svg, r#"<g class="c{colour}"><path class="line" d="M{x} {:.1}h16"/></g>"#, y - 4.0);
            let _ = writeln!(svg, r#"<text x="{:.1}" y="{y:.1}">{}</text>"#, x + 22.0, line.name);
        }
    }
}
