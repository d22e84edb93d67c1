//! What is shown, as a file to take along.

use std::str::FromStr;
use std::sync::Arc;

use attnscope_inspect::{At, Pick, SiteKind, Trace};
use attnscope_render::{
    Blocks, Choice, Format, LeftOut, Only, Palette, Place, Scale, Statistic, Style, Theme, Top, What, export_while,
};
use axum::extract::State;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Deserializer};

use crate::app::App;
use crate::error::Error;
use crate::extract::{Asked, Of};
use crate::work::blocking;

/// A file that is opened in the browser after all has no part in this server: no script, no network, no origin.
const POLICY: &str = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; \
                      form-action 'none'; frame-ancestors 'none'";

/// What to take along.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Part {
    #[default]
    Map,
    Row,
    Column,
    Cell,
    Heads,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wish {
    #[serde(default)]
    what: Part,
    #[serde(deserialize_with = "format")]
    format: Format,
    #[serde(default)]
    site: SiteKind,
    /// None is the first, but all of them for the heads.
    layer: Option<usize>,
    #[serde(default = "first")]
    head: Pick,
    query: Option<usize>,
    key: Option<usize>,
    q0: Option<usize>,
    q1: Option<usize>,
    k0: Option<usize>,
    k1: Option<usize>,
    #[serde(default, deserialize_with = "scale")]
    scale: Option<Scale>,
    /// Where the scale ends.
    #[serde(default, deserialize_with = "top")]
    range: Top,
    /// Columns that are not in the scale.
    #[serde(default, deserialize_with = "parsed")]
    without: Option<LeftOut>,
    #[serde(default, deserialize_with = "blocks")]
    blocks: Blocks,
    /// Heads in the order of a statistic.
    #[serde(default, deserialize_with = "statistic")]
    sort: Option<Statistic>,
    #[serde(default)]
    order: Order,
    /// These heads alone.
    #[serde(default, deserialize_with = "parsed")]
    only: Option<Only>,
    #[serde(default, deserialize_with = "palette")]
    palette: Palette,
    #[serde(default, deserialize_with = "theme")]
    theme: Theme,
    /// The side of a cell, in CSS pixels.
    cell: Option<f32>,
    #[serde(default = "print")]
    dpi: u32,
}

/// Which of the sorted heads comes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Order {
    #[default]
    Falling,
    Rising,
}

fn first() -> Pick {
    Pick::Head(0)
}

fn print() -> u32 {
    Style::default().dpi
}

/// `GET /api/traces/{id}/export`
pub(crate) async fn export(
    State(app): State<Arc<App>>,
    Of(kept): Of,
    Asked(wish): Asked<Wish>,
) -> Result<Response, Error> {
    let what = wish.what(&kept.trace)?;
    // All cores, for every weight that is asked for.
    let asker = app.asker();
    let turn = app.statistics().await?;
    let waiting = asker.waiting();
    blocking(move || {
        let _turn = turn;
        let name = name(&kept.trace.model.name, &what, wish.format);
        let (trace, style) = (&kept.trace, wish.style());
        let made = app.lanes.long(&waiting, |wanted| export_while(trace, &what, &style, wish.format, wanted))?;
        let headers = [
            (CONTENT_TYPE, wish.format.media_type().to_owned()),
            (CONTENT_DISPOSITION, format!("attachment; filename=\"{name}\"")),
            (CONTENT_SECURITY_POLICY, POLICY.to_owned()),
        ];
        Ok((headers, made.bytes).into_response())
    })
    .await
}

impl Wish {
    /// What is asked for. Whatever does not belong to it is left aside, so that a page may always name the head and
    /// the cell at which it stands.
    fn what(&self, trace: &Trace) -> Result<What, Error> {
        let (site, layer, head) = (self.site, self.layer.unwrap_or(0), self.head);
        let place = Place { site, layer, head };
        let given = |name: &str, index: Option<usize>| {
            index.ok_or_else(|| {
                Error::bad_request(format!(
                    "a row needs its query, a column its key, a cell both; the {name} is not given"
                ))
            })
        };
        Ok(match self.what {
            Part::Map => {
                let found = trace.site(site, layer)?;
                let range = |from: Option<usize>, to: Option<usize>, len| match (from, to) {
                    (None, None) => None,
                    (from, to) => Some(from.unwrap_or(0)..to.unwrap_or(len)),
                };
                let queries = range(self.q0, self.q1, found.q_len());
                What::Map { place, queries, keys: range(self.k0, self.k1, found.kv_len()) }
            }
            Part::Row => What::Row { place, query: given("query", self.query)? },
            Part::Column => What::Column { place, key: given("key", self.key)? },
            Part::Cell => {
                let Pick::Head(head) = head else {
                    return Err(Error::bad_request("a cell is of one head; a mean has no q and k of its own"));
                };
                let (query, key) = (given("query", self.query)?, given("key", self.key)?);
                What::Cell { at: At { site, layer, head }, query, key }
            }
            Part::Heads => {
                let choice = Choice { by: self.sort, rising: self.order == Order::Rising, only: self.only.clone() };
                What::Heads { site, layer: self.layer, choice }
            }
        })
    }

    fn style(&self) -> Style {
        let &Self { scale, range: top, blocks, palette, theme, cell, dpi, .. } = self;
        Style { scale, top, left_out: self.without.clone().unwrap_or_default(), blocks, palette, theme, cell, dpi }
    }
}

/// A name that says what the file holds, of characters that every file system and header takes.
fn name(model: &str, what: &What, format: Format) -> String {
    let at = |place: &Place| {
        let site = if place.site == SiteKind::default() { "" } else { place.site.name() };
        match place.head {
            Pick::Head(head) => format!("{site} layer {} head {head}", place.layer),
            Pick::Mean => format!("{site} layer {} mean", place.layer),
        }
    };
    let what = match what {
        What::Map { place, queries: None, keys: None } => format!("{} map", at(place)),
        What::Map { place, .. } => format!("{} part of map", at(place)),
        What::Row { place, query } => format!("{} row {query}", at(place)),
        What::Column { place, key } => format!("{} column {key}", at(place)),
        What::Cell { at: At { site, layer, head }, query, key } => {
            let place = Place { site: *site, layer: *layer, head: Pick::Head(*head) };
            format!("{} cell {query} {key}", at(&place))
        }
        What::Heads { layer: Some(layer), .. } => format!("layer {layer} heads"),
        What::Heads { layer: None, .. } => "heads".to_owned(),
    };
    let model: String = model.chars().take(60).collect();
    let words = format!("attnscope {model} {what}").to_ascii_lowercase();
    let words: Vec<&str> = words.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    format!("{}.{}", words.join("-"), format.ending())
}

/// One of a few, by its name.
fn named<'de, T: Copy, D: Deserializer<'de>>(from: D, all: &[T], name: fn(T) -> &'static str) -> Result<T, D::Error> {
    let text = String::deserialize(from)?;
    let found = all.iter().copied().find(|one| name(*one) == text);
    found.ok_or_else(|| {
        let names: Vec<&str> = all.iter().map(|one| name(*one)).collect();
        serde::de::Error::custom(format!("{text:?} is not one of {}", names.join(", ")))
    })
}

fn format<'de, D: Deserializer<'de>>(from: D) -> Result<Format, D::Error> {
    named(from, &Format::ALL, Format::ending)
}

fn scale<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Scale>, D::Error> {
    named(from, &Scale::ALL, Scale::name).map(Some)
}

fn top<'de, D: Deserializer<'de>>(from: D) -> Result<Top, D::Error> {
    named(from, &Top::ALL, Top::name)
}

fn blocks<'de, D: Deserializer<'de>>(from: D) -> Result<Blocks, D::Error> {
    named(from, &Blocks::ALL, Blocks::name)
}

fn statistic<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Statistic>, D::Error> {
    named(from, &Statistic::ALL, Statistic::name).map(Some)
}

/// What is read from a text.
fn parsed<'de, T: FromStr<Err = String>, D: Deserializer<'de>>(from: D) -> Result<Option<T>, D::Error> {
    String::deserialize(from)?.parse().map(Some).map_err(serde::de::Error::custom)
}

fn palette<'de, D: Deserializer<'de>>(from: D) -> Result<Palette, D::Error> {
    named(from, &Palette::ALL, Palette::name)
}

fn theme<'de, D: Deserializer<'de>>(from: D) -> Result<Theme, D::Error> {
    named(from, &Theme::ALL, Theme::name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_what_is_in_the_file() {
        let place = Place { site: SiteKind::SelfAttention, layer: 3, head: Pick::Head(2) };
        let map = What::Map { place, queries: None, keys: None };
        assert_eq!(
            name("SmolLM2-135M (Q4_1)", &map, Format::Png),
            "attnscope-smollm2-135m-q4-1-layer-3-head-2-map.png"
        );
        let cross = Place { site: SiteKind::Cross, head: Pick::Mean, ..place };
        let row = What::Row { place: cross, query: 6 };
        assert_eq!(name("", &row, Format::Csv), "attnscope-cross-layer-3-mean-row-6.csv");
        let heads = What::Heads { site: SiteKind::SelfAttention, layer: None, choice: Choice::default() };
        assert_eq!(name("../ሰላም\"\r\n", &heads, Format::Json), "attnscope-heads.json");
    }
}
