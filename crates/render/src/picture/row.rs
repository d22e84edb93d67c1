use attnscope_inspect::{Row, Trace};

use super::hidden::word;
use super::label::Label;
use super::page::{MARGIN, Page, title};
use super::{Place, Style};
use crate::Error;
use crate::paint::{Anchor, Area, Item, Scene, cut, width};

/// Up to so many keys each have a bar, in the order of the text; of more, the strongest so many, the largest first.
const EACH: usize = 48;
const STRONGEST: usize = 32;
const SIZE: f32 = 12.0;
const LINE: f32 = 18.0;
const BARS: f32 = 380.0;

/// One line of the picture: who, and how much; no weight where it is hidden.
struct Line {
    label: Label,
    weight: Result<f64, &'static str>,
}

/// A row as a budget: how one query spends its unit of attention. Gives the scene and, where not every key has a bar,
/// a sentence that says so.
pub(crate) fn row(trace: &Trace, place: Place, query: usize, style: &Style) -> Result<(Scene, Option<String>), Error> {
    let row = trace.picked_row(place.site, place.layer, place.head, query)?;
    let (lines, left_out) = lines(trace, &row);
    let widest = |text: fn(&Label) -> &str, size: f32| {
        lines.iter().map(|line| width(text(&line.label), size)).fold(0.0, f32::max)
    };
    let (tokens, indices) = (widest(|label| &label.token, SIZE).min(160.0), widest(|label| &label.index, SIZE * 0.8));
    let x = (MARGIN + tokens + indices + 18.0).max(130.0).ceil();
    let mut page = Page::new(style.theme, x + BARS + 90.0 + MARGIN);
    let inks = page.inks;

    let asks = Label::new(&trace.tokens, query);
    let who = format!("Query {} “{}” spends one unit of attention.", asks.index, asks.token);
    let shown = left_out.as_ref().map(|left_out| format!(" {left_out}")).unwrap_or_default();
    page.head(trace, &format!("{}. {who}{shown}", place.words()));
    page.y += 16.0;
    let top = top_of(lines.iter().filter_map(|line| line.weight.ok()).fold(0.0, f64::max));
    let bottom = page.y + 20.0 + lines.len() as f32 * LINE;
    page.text((x - 12.0, page.y + 8.0), SIZE, Anchor::End, inks.k, "keys ↓");
    for part in 0..=4 {
        let at = x + part as f32 / 4.0 * BARS;
        page.text((at, page.y + 8.0), 10.5, Anchor::Middle, inks.soft, tick(top * f64::from(part) / 4.0));
        page.rect((at, page.y + 14.0), 1.0, bottom - page.y - 12.0, inks.line);
    }
    page.y += 20.0;
    for line in &lines {
        bar(&mut page, x, indices, top, line);
    }
    page.y += 12.0;
    let Row { row_sum, entropy, visible, .. } = row;
    let hidden = row.weights.len() - visible;
    let mut sum = format!("The weights sum to {row_sum:.6}. {visible} keys are seen");
    sum += &if hidden > 0 { format!(", {hidden} are hidden.") } else { ".".to_owned() };
    page.words(MARGIN, &sum, inks.ink);
    let spread = format!(
        "Entropy {entropy:.3} nats: as spread out as {:.1} keys with equal weights. Bars are on a linear scale.",
        entropy.exp()
    );
    page.words(MARGIN, &spread, inks.ink);
    Ok((page.end(format!("{}, query {query}", title(trace, place)), format!("{who} {sum}")), left_out))
}

fn lines(trace: &Trace, row: &Row) -> (Vec<Line>, Option<String>) {
    let line = |index: usize| Line {
        label: Label::new(&trace.tokens, index),
        weight: row.mask[index].map_or(Ok(row.weights[index]), |reason| Err(word(reason))),
    };
    if row.weights.len() <= EACH {
        return ((0..row.weights.len()).map(line).collect(), None);
    }
    let mut order: Vec<usize> = (0..row.weights.len()).filter(|key| row.mask[*key].is_none()).collect();
    order.sort_by(|a, b| row.weights[*b].total_cmp(&row.weights[*a]));
    let others = order.split_off(order.len().min(STRONGEST));
    let mut lines: Vec<Line> = order.into_iter().map(line).collect();
    if others.is_empty() {
        return (lines, Some("Hidden keys are left out.".to_owned()));
    }
    let left: f64 = others.iter().map(|key| row.weights[*key]).sum();
    let label = Label { token: format!("{} others", others.len()), index: String::new() };
    lines.push(Line { label, weight: Ok(left) });
    (lines, Some(format!("The {STRONGEST} strongest keys, and the sum of the other {}.", others.len())))
}

fn bar(page: &mut Page, x: f32, indices: f32, top: f64, Line { label, weight }: &Line) {
    let inks = page.inks;
    let baseline = page.y + LINE / 2.0 + SIZE * 0.36;
    page.text((x - 8.0, baseline), SIZE * 0.8, Anchor::End, inks.soft, label.index.as_str());
    let token = cut(&label.token, SIZE, 160.0);
    page.text((x - 12.0 - indices, baseline), SIZE, Anchor::End, inks.ink, token);
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

fn number(weight: f64) -> String {
    if weight == 0.0 || weight >= 1e-3 { format!("{weight:.4}") } else { format!("{weight:.1e}") }
}

/// A round number, without what binary fractions leave behind.
fn tick(at: f64) -> String {
    let text = format!("{at:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The end of the axis: the next round number.
fn top_of(largest: f64) -> f64 {
    [0.01, 0.02, 0.04, 0.1, 0.2, 0.4, 0.8].into_iter().find(|top| largest <= *top).unwrap_or(1.0)
}
