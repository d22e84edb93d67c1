//! Every head, small: layer by head, or as a list in the order of a statistic.

use std::collections::HashMap;

use attnscope_inspect::{Pick, Rectangle, Site, SiteKind, Trace, Wanted};

use super::choice::Choice;
use super::field::Field;
use super::legend::{Legend, legend};
use super::page::{MARGIN, Page};
use super::scale::Shades;
use super::{Blocks, Place, Style, site_words};
use crate::Error;
use crate::escape::one_line;
use crate::paint::{Anchor, Area, Cells, Inks, Item, Rgb, Scene};

/// Pixels of a head, down and across.
const PIXELS: usize = 48;
/// The side of a head and the room between two, in CSS pixels.
const SIDE: f32 = 48.0;
const GAP: f32 = 6.0;
/// Heads side by side in a list, and the room for what stands below each.
const ACROSS: usize = 10;
const CAPTION: f32 = 34.0;
const SIZE: f32 = 11.0;
/// How much of its colour a head keeps that is not chosen.
const FAINT: f32 = 0.16;

/// Which heads: of one attention, of one layer or all.
pub(crate) struct Which<'a> {
    pub(crate) site: SiteKind,
    pub(crate) layer: Option<usize>,
    pub(crate) choice: &'a Choice,
}

/// The heads at a glance.
pub(crate) fn heads(
    trace: &Trace,
    which: &Which,
    style: &Style,
    wanted: Wanted,
) -> Result<(Scene, Option<String>), Error> {
    let sites = sites(trace, which)?;
    let mut drawing = Drawing { trace, style, wanted, hidden: Vec::new(), shades: None };
    let most = sites.iter().map(|site| site.q_heads()).max().unwrap_or(0);
    let across = if which.choice.by.is_some() { ACROSS } else { most };
    let left = MARGIN + 40.0;
    let mut page = Page::new(style.theme, left + across as f32 * (SIDE + GAP) + MARGIN);
    let what = match which.layer {
        Some(layer) => format!("the heads of layer {layer}"),
        None => "every head".to_owned(),
    };
    let sizes = sites.first().map(|site| (site.q_len(), site.kv_len())).unwrap_or_default();
    let order = which.choice.by.map(|by| {
        let rising = if which.choice.rising { "smallest" } else { "largest" };
        format!(", by {}, the {rising} first", by.name())
    });
    let (order, only) = (order.unwrap_or_default(), if which.choice.only.is_some() { ", of those chosen" } else { "" });
    page.head(
        trace,
        &format!(
            "{what}, {}{order}{only}; {} queries down, {} keys across, the largest weight of each block.",
            site_words(which.site),
            sizes.0,
            sizes.1
        ),
    );
    page.y += 16.0;
    let count = match which.choice.by {
        None => drawing.grid(&mut page, left, &sites, which.choice)?,
        Some(_) => drawing.list(&mut page, left, &sites, which)?,
    };
    page.y += 10.0;
    if let Some(shades) = &drawing.shades {
        legend(&mut page, left, style, Legend { shades, hidden: &drawing.hidden, left_out: None });
    }
    let title = format!("{}: {what}", one_line(&trace.model.name));
    Ok((page.end(title, format!("{count} heads, each a small map of queries (down) by keys (across).")), None))
}

/// The attention of the layers that are meant.
fn sites<'a>(trace: &'a Trace, which: &Which) -> Result<Vec<&'a Site>, Error> {
    if let Some(layer) = which.layer {
        return Ok(vec![trace.site(which.site, layer)?]);
    }
    let sites: Vec<&Site> = trace.sites.iter().filter(|site| site.kind == which.site).collect();
    match sites.is_empty() {
        true => Err(trace.no_site(which.site).into()),
        false => Ok(sites),
    }
}

struct Drawing<'a> {
    trace: &'a Trace,
    style: &'a Style,
    wanted: Wanted<'a>,
    /// Codes of hidden cells that were met.
    hidden: Vec<f32>,
    /// Of the last head, for the legend.
    shades: Option<Shades>,
}

impl Drawing<'_> {
    /// Layers down, heads across. Gives how many there are.
    fn grid(&mut self, page: &mut Page, left: f32, sites: &[&Site], choice: &Choice) -> Result<usize, Error> {
        let inks = page.inks;
        page.text((left, page.y + 8.0), SIZE, Anchor::Start, inks.soft, "head →");
        page.text((left - 8.0, page.y + 24.0), SIZE, Anchor::End, inks.soft, "layer ↓");
        let most = sites.iter().map(|site| site.q_heads()).max().unwrap_or(0);
        for head in 0..most {
            let x = left + head as f32 * (SIDE + GAP) + SIDE / 2.0;
            page.text((x, page.y + 24.0), SIZE, Anchor::Middle, inks.soft, head.to_string());
        }
        page.y += 30.0;
        let mut count = 0;
        for site in sites {
            let middle = page.y + SIDE / 2.0 + SIZE * 0.36;
            page.text((left - 8.0, middle), SIZE, Anchor::End, inks.soft, site.layer.to_string());
            for head in 0..site.q_heads() {
                let x = left + head as f32 * (SIDE + GAP);
                self.head(page, (x, page.y), site, head, choice.has(site.layer, head))?;
                count += 1;
            }
            page.y += SIDE + GAP;
        }
        Ok(count)
    }

    /// One after another, each with its name and its value. Gives how many there are.
    fn list(&mut self, page: &mut Page, left: f32, sites: &[&Site], which: &Which) -> Result<usize, Error> {
        let Some(by) = which.choice.by else { return Ok(0) };
        let mut stats = self.trace.heads_with(which.layer, self.wanted, |_| {})?;
        stats.retain(|head| head.site == which.site);
        let by_layer: HashMap<usize, &Site> = sites.iter().map(|site| (site.layer, *site)).collect();
        let order = which.choice.sorted(by, &stats);
        let inks = page.inks;
        for line in order.chunks(ACROSS) {
            for (at, (layer, head, value)) in line.iter().enumerate() {
                let Some(site) = by_layer.get(layer) else { continue };
                let (x, y) = (left + at as f32 * (SIDE + GAP), page.y);
                self.head(page, (x, y), site, *head, true)?;
                page.text((x, y + SIDE + 12.0), SIZE, Anchor::Start, inks.soft, format!("{layer} · {head}"));
                let value = value.map_or_else(|| "–".to_owned(), short);
                page.text((x, y + SIDE + 25.0), SIZE, Anchor::Start, inks.ink, value);
            }
            page.y += SIDE + CAPTION;
        }
        Ok(order.len())
    }

    fn head(
        &mut self,
        page: &mut Page,
        (x, y): (f32, f32),
        site: &Site,
        head: usize,
        chosen: bool,
    ) -> Result<(), Error> {
        let (queries, keys) = (0..site.q_len(), 0..site.kv_len());
        let side = PIXELS.min(queries.len()).min(keys.len());
        let rectangle = Rectangle { queries: queries.clone(), keys: keys.clone(), rows: side, columns: side };
        let place = Place { site: site.kind, layer: site.layer, head: Pick::Head(head) };
        let cells = self.trace.picked_pooled(place.site, place.layer, place.head, &rectangle, self.wanted)?.max;
        let field = Field { queries, keys, rows: side, columns: side, cells, blocks: Blocks::Largest };
        let shades = Shades::whole(self.style.scale(self.trace), &field);
        let inks = page.inks;
        let colour = |(at, weight): (usize, &f32)| {
            let colour = self.style.palette.at(self.style.theme, shades.place(at / side, *weight));
            (*weight >= 0.0).then(|| if chosen { colour } else { faint(colour, inks) })
        };
        let colours = field.cells.iter().enumerate().map(colour).collect();
        let area = Area { x, y, width: SIDE, height: SIDE };
        page.items.push(Item::Hatch(area));
        page.items.push(Item::Cells(Cells { area, columns: side, colours, notes: Vec::new() }));
        for code in field.hidden_codes() {
            if !self.hidden.iter().any(|known| known.to_bits() == code.to_bits()) {
                self.hidden.push(code);
            }
        }
        self.shades = Some(shades);
        Ok(())
    }
}

fn faint(colour: Rgb, inks: Inks) -> Rgb {
    std::array::from_fn(|c| (f32::from(inks.page[c]) * (1.0 - FAINT) + f32::from(colour[c]) * FAINT).round() as u8)
}

/// A value of a statistic, as short as it may be.
fn short(value: f64) -> String {
    if value == 0.0 || value.abs() >= 1e-3 { format!("{value:.3}") } else { format!("{value:.1e}") }
}
