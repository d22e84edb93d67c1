//! What stands where in a picture of attention. Nothing here knows whether it becomes SVG or PNG.

mod field;
mod hidden;
mod label;
mod legend;
mod map;
mod page;
mod row;
mod scale;

pub use scale::Scale;

pub(crate) use hidden::word as hidden_word;
pub(crate) use label::Label;
pub(crate) use map::map;
pub(crate) use row::row;

use attnscope_inspect::{Pick, SiteKind, Trace};

use crate::paint::{Palette, Theme};

/// Said in every picture and beside every map.
pub const CAVEAT: &str = "An attention map is one observable piece of the computation, not an explanation of it.";

/// Which attention, and which of its heads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Which attention of the layer.
    pub site: SiteKind,
    /// The layer, from 0.
    pub layer: usize,
    /// The head, or the mean of all.
    pub head: Pick,
}

impl Place {
    /// As a person would say it.
    pub(crate) fn words(self) -> String {
        let head = match self.head {
            Pick::Head(head) => format!("head {head}"),
            Pick::Mean => "mean of all heads".to_owned(),
        };
        let site = match self.site {
            SiteKind::SelfAttention => "self-attention",
            SiteKind::Cross => "cross-attention",
            SiteKind::Encoder => "the encoder's self-attention",
        };
        format!("layer {}, {head}, {site}", self.layer)
    }
}

/// How a picture looks. What it shows does not depend on it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Style {
    /// How weights become colours; none: linear for the worked example, whose weights are few and large, square root
    /// for models.
    pub scale: Option<Scale>,
    /// Which colours.
    pub palette: Palette,
    /// On which page.
    pub theme: Theme,
    /// The side of a cell in CSS pixels; none: what gives a handy picture.
    pub cell: Option<f32>,
    /// Dots to the inch of a PNG; 96 is a screen's size.
    pub dpi: u32,
}

impl Default for Style {
    fn default() -> Self {
        Self { scale: None, palette: Palette::default(), theme: Theme::default(), cell: None, dpi: 288 }
    }
}

impl Style {
    fn scale(&self, trace: &Trace) -> Scale {
        let example = trace.model.family.is_empty();
        self.scale.unwrap_or(if example { Scale::Linear } else { Scale::Sqrt })
    }
}
