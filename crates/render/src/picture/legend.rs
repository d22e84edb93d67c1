use super::Style;
use super::hidden::sentence;
use super::page::{MARGIN, Page};
use super::scale::Shades;
use crate::paint::{Anchor, Area, Cells, Item};

const RAMP: [f32; 2] = [256.0, 12.0];
const TICKS: f32 = 10.5;

/// What a legend tells beside the colours.
pub(super) struct Legend<'a> {
    pub(super) shades: &'a Shades,
    /// Why cells are hidden, by their codes.
    pub(super) hidden: &'a [f32],
    /// Which columns are not in the scale, in words.
    pub(super) left_out: Option<String>,
}

/// Says what the colours stand for, and what the hatching: the scale in words, the ramp with its ticks, why cells are
/// hidden.
pub(super) fn legend(page: &mut Page, x: f32, style: &Style, Legend { shades, hidden, left_out }: Legend) {
    let x = if page.width - MARGIN - x >= 420.0 { x } else { MARGIN };
    let inks = page.inks;
    page.words(x, &shades.says(), inks.ink);
    page.y += 5.0;
    let [width, height] = RAMP;
    let steps = 64;
    let colour = |step: usize| Some(style.palette.at(style.theme, step as f32 / (steps - 1) as f32));
    let area = Area { x, y: page.y, width, height };
    let colours = (0..steps).map(colour).collect();
    page.items.push(Item::Cells(Cells { area, columns: steps, colours, notes: Vec::new() }));
    page.y += height;
    for (place, text) in shades.ticks() {
        let at = x + place * width;
        page.rect(((at - 0.5).clamp(x, x + width - 1.0), page.y), 1.0, 4.0, inks.soft);
        page.text((at, page.y + 14.0), TICKS, Anchor::Middle, inks.soft, text);
    }
    page.y += 18.0;
    if let Some(words) = left_out {
        page.y += 6.0;
        page.rect((x + 4.0, page.y - 1.0), 16.0, 3.0, inks.ink);
        for side in [4.0, 19.0] {
            page.rect((x + side, page.y + 3.0), 1.0, 11.0, inks.soft);
        }
        page.y -= 2.0;
        page.words(x + 32.0, &words, inks.ink);
    }
    for code in hidden {
        page.y += 6.0;
        page.items.push(Item::Hatch(Area { x, y: page.y, width: 24.0, height: 14.0 }));
        page.y -= 2.0;
        page.words(x + 32.0, &format!("Hidden, which is not a small weight: {}.", sentence(*code)), inks.ink);
    }
}
