//! Weights as bars, one a line, with the token they belong to: a row, or a column.

use super::hidden::word;
use super::label::Label;
use super::page::{MARGIN, Page};
use crate::paint::{Anchor, Area, Item, Rgb, cut, width};

/// Up to so many tokens each have a bar, in the order of the text; of more, the strongest so many, the largest first.
const EACH: usize = 48;
const STRONGEST: usize = 32;
const SIZE: f32 = 12.0;
const LINE: f32 = 18.0;
const BARS: f32 = 380.0;

/// One line: who, and how much; no weight where it is hidden.
struct Line {
    label: Label,
    weight: Result<f64, &'static str>,
}

/// Bars that are ready to be drawn.
pub(super) struct Bars {
    lines: Vec<Line>,
    /// Where they begin.
    x: f32,
    /// The widest position.
    indices: f32,
    /// Where not every token has a bar, a sentence that says so.
    pub(super) left_out: Option<String>,
}

impl Bars {
    /// `weights` and `mask` of tokens with these labels; `name` is what these are called: keys or queries.
    pub(super) fn new(
        weights: &[f64],
        mask: &[Option<&'static str>],
        label: impl Fn(usize) -> Label,
        name: &str,
    ) -> Self {
        let line = |index: usize| Line {
            label: label(index),
            weight: mask[index].map_or(Ok(weights[index]), |reason| Err(word(reason))),
        };
        let (lines, left_out) = match weights.len() <= EACH {
            true => ((0..weights.len()).map(line).collect(), None),
            false => strongest(weights, mask, line, name),
        };
        let widest = |text: fn(&Label) -> &str, size: f32| {
            lines.iter().map(|line: &Line| width(text(&line.label), size)).fold(0.0, f32::max)
        };
        let tokens = widest(|label| &label.token, SIZE).min(160.0);
        let indices = widest(|label| &label.index, SIZE * 0.8);
        let x = (MARGIN + tokens + indices + 18.0).max(130.0).ceil();
        Self { lines, x, indices, left_out }
    }

    /// What a page must be wide.
    pub(super) fn width(&self) -> f32 {
        self.x + BARS + 90.0 + MARGIN
    }

    /// Draws the axis, named so and in this ink, and the bars below it.
    pub(super) fn draw(&self, page: &mut Page, axis: &str, ink: Rgb) {
        let (x, inks) = (self.x, page.inks);
        let top = top_of(self.lines.iter().filter_map(|line| line.weight.ok()).fold(0.0, f64::max));
        let bottom = page.y + 20.0 + self.lines.len() as f32 * LINE;
        page.text((x - 12.0, page.y + 8.0), SIZE, Anchor::End, ink, axis);
        for part in 0..=4 {
            let at = x + part as f32 / 4.0 * BARS;
            page.text((at, page.y + 8.0), 10.5, Anchor::Middle, inks.soft, tick(top * f64::from(part) / 4.0));
            page.rect((at, page.y + 14.0), 1.0, bottom - page.y - 12.0, inks.line);
        }
        page.y += 20.0;
        for line in &self.lines {
            self.bar(page, top, line);
        }
        page.y += 12.0;
    }

    fn bar(&self, page: &mut Page, top: f64, Line { label, weight }: &Line) {
        let (x, inks) = (self.x, page.inks);
        let baseline = page.y + LINE / 2.0 + SIZE * 0.36;
        page.text((x - 8.0, baseline), SIZE * 0.8, Anchor::End, inks.soft, label.index.as_str());
        let token = cut(&label.token, SIZE, 160.0);
        page.text((x - 12.0 - self.indices, baseline), SIZE, Anchor::End, inks.ink, token);
        let (end, text) = match weight {
            Ok(weight) => {
                let long = (weight / top) as f32 * BARS;
                page.rect((x, page.y + 2.0), long.max(1.0), LINE - 4.0, inks.bar);
                (x + long, number(*weight))
            }
            Err(reason) => {
                page.items.push(Item::Hatch(Area { x, y: page.y + 2.0, width: 24.0, height: LINE - 4.0 }));
                (x + 24.0, format!("hidden: {reason}"))
            }
        };
        page.text((end + 6.0, baseline), 10.5, Anchor::Start, inks.soft, text);
        page.y += LINE;
    }
}

fn strongest(
    weights: &[f64],
    mask: &[Option<&'static str>],
    line: impl Fn(usize) -> Line,
    name: &str,
) -> (Vec<Line>, Option<String>) {
    let mut order: Vec<usize> = (0..weights.len()).filter(|index| mask[*index].is_none()).collect();
    order.sort_by(|a, b| weights[*b].total_cmp(&weights[*a]));
    let others = order.split_off(order.len().min(STRONGEST));
    let mut lines: Vec<Line> = order.into_iter().map(line).collect();
    if others.is_empty() {
        return (lines, Some(format!("Hidden {name} are left out.")));
    }
    let left: f64 = others.iter().map(|index| weights[*index]).sum();
    let label = Label { token: format!("{} others", others.len()), index: String::new() };
    lines.push(Line { label, weight: Ok(left) });
    (lines, Some(format!("The {STRONGEST} strongest {name}, and the sum of the other {}.", others.len())))
}

/// A weight, with digits enough to be told from others.
fn number(weight: f64) -> String {
    if weight == 0.0 || weight >= 1e-3 { format!("{weight:.4}") } else { format!("{weight:.1e}") }
}

/// A round number, without what binary fractions leave behind.
fn tick(at: f64) -> String {
    let text = format!("{at:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The end of the axis: the next round number. Many weights of a column may come to more than 1.
fn top_of(largest: f64) -> f64 {
    let tops = [0.01, 0.02, 0.04, 0.1, 0.2, 0.4, 0.8, 1.0];
    tops.into_iter().find(|top| largest <= *top).unwrap_or_else(|| largest.ceil())
}
