use std::ops::Range;

use attnscope_inspect::{Token, Trace};

use super::field::Field;
use super::hidden::sentence;
use super::label::{Label, Labels};
use super::left_out::words;
use super::legend::{Legend, legend};
use super::page::{MARGIN, Page, title};
use super::scale::Shades;
use super::{Place, Source, Style};
use crate::Error;
use crate::paint::{Anchor, Area, Cells, Item, Scene, Text, ink_on, width};

/// The side of a map that is handy on a screen and on paper, in CSS pixels.
const SIDE: f32 = 600.0;
/// The most cells a side that are drawn one by one; more are pooled. Two thirds of a pixel each on a screen, two dots in
/// print.
const MOST: usize = 900;
/// The size of cells, in CSS pixels, from which there are gaps between them, and figures in them.
const GAPS: f32 = 12.0;
const FIGURES: f32 = 30.0;

/// Where the cells are, and how large.
struct Grid {
    x: f32,
    y: f32,
    width: f32,
    height: f32,
    cell: f32,
}

/// The map of a head: queries down, keys across. Gives the scene and, where it is pooled, a sentence that says so.
pub(crate) fn map(
    from: Source,
    queries: Range<usize>,
    keys: Range<usize>,
    style: &Style,
) -> Result<(Scene, Option<String>), Error> {
    let Source { trace, place, .. } = from;
    let field = Field::read(from, queries, keys, (MOST, style.blocks))?;
    let cell = cell_size(style, &field)?;
    let scale = style.scale(trace);
    let shades = Shades::new(scale, style.top, &field, from)?;
    let (width, height) = (field.columns as f32 * cell, field.rows as f32 * cell);
    let down = Labels::new(trace.query_tokens(place.site), &field.queries, height / field.queries.len() as f32);
    let across = Labels::new(trace.key_tokens(place.site), &field.keys, width / field.keys.len() as f32);

    let axis = "query rows ↓";
    let left = (down.token_room + down.index_room + 22.0).max(crate::paint::width(axis, 12.0) + 12.0);
    let x = (MARGIN + left).ceil();
    let mut page = Page::new(style.theme, x + width + MARGIN);
    let pooling = field.pooling();
    page.head(trace, &format!("{}; {}.", place.words(), size_in_words(&field, pooling.as_deref())));
    page.y += 18.0;
    let inks = page.inks;
    page.text((x, page.y + 8.0), 12.0, Anchor::Start, inks.k, "key columns →");
    page.y += 14.0;
    let upright = across.all && across.token_room.max(across.index_room) + 5.0 <= cell;
    page.y += if upright { 34.0 } else { across.token_room + across.index_room + 22.0 };
    page.y = page.y.ceil();
    let grid = Grid { x, y: page.y, width, height, cell };
    label_keys(&mut page, &grid, &across, upright);
    page.text((x - 10.0, grid.y - 13.0), 12.0, Anchor::End, inks.q, axis);
    label_queries(&mut page, &grid, &down);
    fill(&mut page, &grid, &field, from, style, &shades);
    mark(&mut page, &grid, &field.keys, from.left_out);
    page.y += height + 16.0;
    let left_out = (!from.left_out.is_empty())
        .then(|| words(from.left_out, trace.key_tokens(place.site), scale.rows(), pooling.is_some()));
    legend(&mut page, x, style, Legend { shades: &shades, hidden: &field.hidden_codes(), left_out });
    Ok((page.end(title(trace, place), description(trace, place, &field)), pooling))
}

fn cell_size(style: &Style, field: &Field) -> Result<f32, Error> {
    let most = field.rows.max(field.columns) as f32;
    match style.cell {
        Some(cell) if (0.25..=200.0).contains(&cell) => Ok(cell),
        Some(cell) => Err(Error::CellSize(cell)),
        // Whole pixels where there are several, else thirds, which are whole dots at the usual 288 to the inch.
        None if SIDE / most >= 4.0 => Ok((SIDE / most).floor().min(56.0)),
        None => Ok(((SIDE / most * 3.0).floor() / 3.0).max(2.0 / 3.0)),
    }
}

/// What of the map is shown, and how finely.
fn size_in_words(field: &Field, pooling: Option<&str>) -> String {
    let side = |one: &str, many: &str, range: &Range<usize>| match range.len() {
        1 => format!("{one} {}", range.start),
        _ => format!("{many} {} to {}", range.start, range.end - 1),
    };
    let mut words = format!("{}, {}", side("query", "queries", &field.queries), side("key", "keys", &field.keys));
    if let Some(pooling) = pooling {
        words += "; ";
        words += pooling;
    }
    words
}

fn label_queries(page: &mut Page, grid: &Grid, labels: &Labels) {
    let inks = page.inks;
    let ticks = grid.x - 8.0;
    for (along, Label { token, index }) in &labels.labels {
        let middle = grid.y + along;
        page.rect((grid.x - 6.0, middle - 0.5), 4.0, 1.0, inks.line);
        let baseline = middle + labels.size * 0.36;
        page.text((ticks - 2.0, baseline), labels.index_size(), Anchor::End, inks.soft, index.as_str());
        let x = ticks - 2.0 - labels.index_room - 5.0;
        page.text((x, baseline), labels.size, Anchor::End, inks.ink, token.as_str());
    }
}

fn label_keys(page: &mut Page, grid: &Grid, labels: &Labels, upright: bool) {
    let inks = page.inks;
    for (along, Label { token, index }) in &labels.labels {
        let middle = grid.x + along;
        page.rect((middle - 0.5, grid.y - 6.0), 1.0, 4.0, inks.line);
        if upright {
            page.text((middle, grid.y - 10.0), labels.index_size(), Anchor::Middle, inks.soft, index.as_str());
            page.text((middle, grid.y - 23.0), labels.size, Anchor::Middle, inks.ink, token.as_str());
            continue;
        }
        let mut up = |by: f32, size: f32, ink, text: &String| {
            let (x, y) = (middle + labels.size * 0.36, grid.y - by);
            let text = text.clone();
            page.items.push(Item::Text(Text { x, y, size, anchor: Anchor::Start, turned: true, ink, text }));
        };
        up(10.0, labels.index_size(), inks.soft, index);
        up(10.0 + labels.index_room + 5.0, labels.size, inks.ink, token);
    }
}

/// Columns that are not in the scale: a bar over each, and a frame where there is room for one.
fn mark(page: &mut Page, grid: &Grid, keys: &Range<usize>, left_out: &[usize]) {
    let (ink, soft) = (page.inks.ink, page.inks.soft);
    let unit = grid.width / keys.len() as f32;
    for key in left_out.iter().filter(|key| keys.contains(key)) {
        let x = grid.x + (key - keys.start) as f32 * unit;
        let wide = (unit - 2.0).max(3.0);
        page.rect((x + (unit - wide) / 2.0, grid.y - 4.0), wide, 3.0, ink);
        if unit >= 4.0 {
            page.rect((x, grid.y), 1.0, grid.height, soft);
            page.rect((x + unit - 1.0, grid.y), 1.0, grid.height, soft);
        }
    }
}

fn fill(page: &mut Page, grid: &Grid, field: &Field, from: Source, style: &Style, shades: &Shades) {
    let Grid { x, y, width, height, cell } = *grid;
    let area = Area { x, y, width, height };
    if field.cells.iter().any(|weight| !visible(*weight)) {
        page.items.push(Item::Hatch(area));
    }
    let colours: Vec<_> = field
        .cells
        .iter()
        .enumerate()
        .map(|(at, weight)| {
            visible(*weight).then(|| style.palette.at(style.theme, shades.place(at / field.columns, *weight)))
        })
        .collect();
    let exact = (field.rows, field.columns) == (field.queries.len(), field.keys.len());
    let notes = if exact && cell >= 4.0 { notes(field, from) } else { Vec::new() };
    let figures = if cell >= FIGURES { figures(grid, field, &colours) } else { Vec::new() };
    page.items.push(Item::Cells(Cells { area, columns: field.columns, colours, notes }));
    if cell >= GAPS {
        let gap = if cell >= 28.0 { 2.0 } else { 1.0 };
        for column in 1..field.columns {
            page.rect((x + column as f32 * cell - gap / 2.0, y), gap, height, page.inks.page);
        }
        for row in 1..field.rows {
            page.rect((x, y + row as f32 * cell - gap / 2.0), width, gap, page.inks.page);
        }
    }
    page.items.extend(figures);
}

fn visible(weight: f32) -> bool {
    weight >= 0.0
}

/// What each cell says of itself when pointed at.
fn notes(field: &Field, Source { trace, place, left_out, .. }: Source) -> Vec<String> {
    let label = |tokens: &[Token], index: usize| {
        let Label { token, index } = Label::new(tokens, index);
        format!("{index} {token}")
    };
    let (ask, asked) = (trace.query_tokens(place.site), trace.key_tokens(place.site));
    let queries: Vec<String> = field.queries.clone().map(|index| label(ask, index)).collect();
    let keys: Vec<String> = field.keys.clone().map(|index| label(asked, index)).collect();
    let note = |(at, weight): (usize, &f32)| {
        let (query, key) = (&queries[at / field.columns], &keys[at % field.columns]);
        let column = field.keys.start + at % field.columns;
        match visible(*weight) {
            true if left_out.binary_search(&column).is_ok() => {
                format!("query {query}, key {key}: {weight}, not in the scale")
            }
            true => format!("query {query}, key {key}: {weight}"),
            false => format!("query {query}, key {key}: hidden, {}", sentence(*weight)),
        }
    };
    field.cells.iter().enumerate().map(note).collect()
}

/// The weights themselves, where cells have room for them.
fn figures(grid: &Grid, field: &Field, colours: &[Option<crate::paint::Rgb>]) -> Vec<Item> {
    let size = (grid.cell * 0.27).clamp(9.0, 13.0);
    let figure = |(at, weight): (usize, &f32)| {
        let ink = ink_on(colours[at]?);
        let (row, column) = ((at / field.columns) as f32, (at % field.columns) as f32);
        let (x, y) = (grid.x + (column + 0.5) * grid.cell, grid.y + (row + 0.5) * grid.cell + size * 0.36);
        let text = brief(*weight);
        (width(&text, size) + 4.0 <= grid.cell).then_some(Item::Text(Text {
            x,
            y,
            size,
            anchor: Anchor::Middle,
            turned: false,
            ink,
            text,
        }))
    };
    field.cells.iter().enumerate().filter_map(figure).collect()
}

fn brief(weight: f32) -> String {
    match weight {
        0.0 => "0".to_owned(),
        weight if weight < 0.005 => "<.01".to_owned(),
        weight if weight > 0.995 => "1".to_owned(),
        weight => format!("{weight:.2}").split_off(1),
    }
}

/// The picture for those who cannot see it: its size, and its largest weight.
fn description(trace: &Trace, place: Place, field: &Field) -> String {
    let size = format!("A map of {} queries (down) by {} keys (across).", field.queries.len(), field.keys.len());
    let largest = field.cells.iter().enumerate().filter(|(_, weight)| visible(**weight));
    let Some((at, weight)) = largest.max_by(|a, b| a.1.total_cmp(b.1)) else { return size };
    if let Some(pooling) = field.pooling() {
        return format!("{size} Pooled: {pooling}. The largest weight is {weight:.4}.");
    }
    let label = |tokens: &[Token], index: usize| {
        let Label { token, index } = Label::new(tokens, index);
        format!("{index} “{token}”")
    };
    let query = label(trace.query_tokens(place.site), field.queries.start + at / field.columns);
    let key = label(trace.key_tokens(place.site), field.keys.start + at % field.columns);
    format!("{size} The largest weight is {weight:.4}, from query {query} to key {key}.")
}
