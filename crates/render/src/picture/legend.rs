use super::hidden::sentence;
use super::page::{MARGIN, Page};
use super::scale::Shades;
use super::{Scale, Style};
use crate::paint::{Anchor, Area, Cells, Item};

const RAMP: [f32; 2] = [256.0, 12.0];
const TICKS: f32 = 10.5;

/// Says what the colours stand for, and what the hatching: the scale in words, the ramp with its ticks, why cells are
/// hidden.
pub(super) fn legend(page: &mut Page, x: f32, style: &Style, scale: Scale, shades: &Shades, hidden: &[f32]) {
    let x = if page.width - MARGIN - x >= 420.0 { x } else { MARGIN };
    let inks = page.inks;
    page.words(x, scale.says(), inks.ink);
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
    for code in hidden {
        page.y += 6.0;
        page.items.push(Item::Hatch(Area { x, y: page.y, width: 24.0, height: 14.0 }));
        page.y -= 2.0;
        page.words(x + 32.0, &format!("Hidden, which is not a small weight: {}.", sentence(*code)), inks.ink);
    }
}
