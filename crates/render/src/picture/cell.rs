//! A cell worked out, a step a line: the two vectors, their products, the score, the weight, and what it moves.

use attnscope_inspect::{At, Cell, Pick, Token, Trace};

use super::hidden::word;
use super::label::Label;
use super::page::{MARGIN, Page, title};
use super::{Place, Style};
use crate::Error;
use crate::paint::{Anchor, Rgb, Scene};

/// Of longer vectors, the dimensions with the largest products.
const SHOWN: usize = 16;
const SIZE: f32 = 12.0;
const LINE: f32 = 18.0;
/// Where the columns of a table end, and where its bars have their middle.
const ENDS: [f32; 4] = [50.0, 140.0, 230.0, 330.0];
const MIDDLE: f32 = 440.0;
/// The longest bar, to either side.
const BAR: f32 = 90.0;
/// Where the numbers of steps end.
const STEPS: f32 = 330.0;

/// The whole calculation of one weight. Gives the scene and, where not every dimension is shown, a sentence that says
/// so.
pub(crate) fn cell(
    trace: &Trace,
    at: At,
    (query, key): (usize, usize),
    style: &Style,
) -> Result<(Scene, Option<String>), Error> {
    let cell = trace.cell(at, query, key)?;
    let place = Place { site: at.site, layer: at.layer, head: Pick::Head(at.head) };
    let mut page = Page::new(style.theme, MARGIN + MIDDLE + BAR + MARGIN);
    let inks = page.inks;
    let name = |tokens: &[Token], index: usize| {
        let Label { token, index } = Label::new(tokens, index);
        format!("{index} “{token}”")
    };
    let (asks, asked) = (name(trace.query_tokens(at.site), query), name(trace.key_tokens(at.site), key));
    let who = format!("How much query {asks} attends to key {asked}.");
    let shared = if cell.head == cell.kv_head { String::new() } else { format!(" (reads kv head {})", cell.kv_head) };
    let dimensions = cell.products.len().max(cell.v.len());
    let note = (dimensions > SHOWN)
        .then(|| format!("Of {dimensions} dimensions the {SHOWN} with the largest products are shown."));
    let shown = note.as_ref().map(|note| format!(" {note}")).unwrap_or_default();
    page.head(trace, &format!("{}{shared}. {who}{shown}", place.words()));
    page.y += 8.0;
    let products = Table {
        names: ["dim", "q", "k", "q × k"],
        inks: [inks.soft, inks.q, inks.k, inks.ink],
        rows: (0..cell.products.len())
            .map(|dim| [f64::from(cell.q[dim]), f64::from(cell.k[dim]), cell.products[dim]])
            .collect(),
        rest: true,
    };
    products.draw(&mut page);
    scores(&mut page, &cell);
    page.y += 8.0;
    page.words(MARGIN, "What it moves: weight × v is this key's part of the row's output z.", inks.ink);
    let moved = |dim: usize| cell.weight * f64::from(cell.v[dim]);
    let moves = Table {
        names: ["dim", "v", "z", "weight × v"],
        inks: [inks.soft, inks.ink, inks.ink, inks.ink],
        rows: (0..cell.v.len()).map(|dim| [f64::from(cell.v[dim]), f64::from(cell.out[dim]), moved(dim)]).collect(),
        rest: false,
    };
    moves.draw(&mut page);
    let share = if cell.share.is_finite() { format!("{:.1} %", cell.share * 100.0) } else { number(cell.share) };
    step(&mut page, "its value's share of the output", &share, inks.ink);
    page.y += 6.0;
    page.words(
        MARGIN,
        "Bars are on linear scales, each table from its own largest; to the left is negative.",
        inks.soft,
    );
    let description = format!("{who} The score is {}, the weight {}.", number(cell.score), number(cell.weight));
    Ok((page.end(format!("{}, query {query}, key {key}", title(trace, place)), description), note))
}

/// From the products' sum to the weight.
fn scores(page: &mut Page, cell: &Cell) {
    let (ink, soft) = (page.inks.ink, page.inks.soft);
    step(page, "their sum, q · k", &number(cell.dot), ink);
    for (what, value) in cell.steps() {
        step(page, &what, &number(value), ink);
    }
    if let Some(reason) = cell.mask {
        step(page, "hidden from the query", word(reason), ink);
    } else {
        step(page, "− log-sum-exp of the row", &number(cell.lse.unwrap_or(f64::NAN)), ink);
        step(page, "= log weight", &number(cell.log_weight.unwrap_or(f64::NAN)), ink);
    }
    let what = if cell.mask.is_some() { "so its weight" } else { "weight = exp of it" };
    step(page, what, &number(cell.weight), ink);
    step(page, "all weights of the row", &six(cell.row_sum), soft);
    if let Some(sink) = cell.sink {
        step(page, "the head's sink takes", &six(sink), soft);
    }
    if let Some(doubt) = cell.doubt() {
        page.words(MARGIN, &format!("But {doubt}."), ink);
    }
}

fn step(page: &mut Page, what: &str, value: &str, ink: Rgb) {
    page.y += LINE;
    page.text((MARGIN, page.y - 4.5), SIZE, Anchor::Start, ink, what);
    page.text((MARGIN + STEPS, page.y - 4.5), SIZE, Anchor::End, ink, value);
}

/// Numbers by dimension, the last of them with a bar.
struct Table {
    names: [&'static str; 4],
    inks: [Rgb; 4],
    rows: Vec<[f64; 3]>,
    /// Whether the last numbers of what is not shown are summed up.
    rest: bool,
}

impl Table {
    fn draw(&self, page: &mut Page) {
        let mut order: Vec<usize> = (0..self.rows.len()).collect();
        let last = |dim: &usize| self.rows[*dim][2];
        let largest = order.iter().map(|dim| last(dim).abs()).fold(0.0, f64::max);
        let more = order.len() > SHOWN;
        if more {
            order.sort_by(|a, b| last(b).abs().total_cmp(&last(a).abs()));
        }
        let inks = page.inks;
        page.y += LINE;
        for ((name, end), ink) in self.names.iter().zip(ENDS).zip(self.inks) {
            page.text((MARGIN + end, page.y - 4.5), SIZE, Anchor::End, ink, *name);
        }
        page.rect((MARGIN, page.y + 1.0), ENDS[3], 1.0, inks.line);
        page.y += 3.0;
        for dim in order.iter().take(SHOWN) {
            let numbers = self.rows[*dim];
            page.y += LINE;
            page.text((MARGIN + ENDS[0], page.y - 4.5), SIZE, Anchor::End, inks.soft, dim.to_string());
            for (value, end) in numbers.iter().zip(&ENDS[1..]) {
                page.text((MARGIN + end, page.y - 4.5), SIZE, Anchor::End, inks.ink, number(*value));
            }
            let long = if largest > 0.0 { (numbers[2] / largest) as f32 * BAR } else { 0.0 };
            let x = MARGIN + MIDDLE + long.min(0.0);
            page.rect((x, page.y - LINE + 3.0), long.abs().max(1.0), LINE - 5.0, inks.bar);
        }
        let rest = &order[order.len().min(SHOWN)..];
        if self.rest && more {
            let sum: f64 = rest.iter().map(last).sum();
            step(page, &format!("the other {} dimensions", rest.len()), &number(sum), inks.soft);
        }
    }
}

/// Six digits after the point.
fn six(value: f64) -> String {
    if value.is_finite() { format!("{value:.6}") } else { number(value) }
}

/// Six digits that matter.
fn number(value: f64) -> String {
    match value {
        0.0 => "0".to_owned(),
        value if value.is_nan() => "not a number".to_owned(),
        value if (1e-4..1e6).contains(&value.abs()) => {
            let digits = (5 - value.abs().log10().floor() as i32).clamp(0, 9) as usize;
            format!("{value:.digits$}")
        }
        value => format!("{value:.5e}"),
    }
}
