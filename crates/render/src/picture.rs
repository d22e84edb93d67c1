//! What stands where in a picture of attention. Nothing here knows whether it becomes SVG or PNG.

mod bars;
mod cell;
mod choice;
mod column;
mod field;
mod heads;
mod hidden;
mod label;
mod left_out;
mod legend;
mod map;
mod page;
mod row;
mod scale;

pub use choice::{Choice, Only, Statistic};
pub use left_out::LeftOut;
pub use scale::Scale;

pub(crate) use cell::cell;
pub(crate) use column::column;
pub(crate) use heads::{Which, heads};
pub(crate) use hidden::word as hidden_word;
pub(crate) use label::Label;
pub(crate) use map::map;
pub(crate) use row::row;

use attnscope_inspect::{Pick, Pooled, SiteKind, Trace, Wanted};

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
        format!("layer {}, {head}, {}", self.layer, site_words(self.site))
    }
}

/// An attention as a person would say it.
pub(crate) fn site_words(site: SiteKind) -> &'static str {
    match site {
        SiteKind::SelfAttention => "self-attention",
        SiteKind::Cross => "cross-attention",
        SiteKind::Encoder => "the encoder's self-attention",
    }
}

/// What is drawn, and for how long it is wanted.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    pub(crate) trace: &'a Trace,
    pub(crate) place: Place,
    pub(crate) wanted: Wanted<'a>,
    /// Columns that are not in the scale, in order.
    pub(crate) left_out: &'a [usize],
}

/// What stands for a block of cells, where a map is zoomed out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Blocks {
    /// The largest of its visible weights.
    #[default]
    Largest,
    /// Their mean.
    Mean,
}

impl Blocks {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Largest, Self::Mean];

    /// As it is called on the command line and in words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Largest => "largest",
            Self::Mean => "mean",
        }
    }

    pub(crate) fn of(self, pooled: Pooled) -> Vec<f32> {
        match self {
            Self::Largest => pooled.max,
            Self::Mean => pooled.mean,
        }
    }
}

/// Where a scale ends that all rows share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Top {
    /// At 1.
    #[default]
    One,
    /// At the largest weight of the head outside the columns that are left out.
    Largest,
}

impl Top {
    /// Both.
    pub const ALL: [Self; 2] = [Self::One, Self::Largest];

    /// As it is called on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::One => "1",
            Self::Largest => "largest",
        }
    }
}

/// How a picture looks. What it shows does not depend on it.
#[derive(Clone, Debug, PartialEq)]
pub struct Style {
    /// How weights become colours; none: linear for the worked example, whose weights are few and large, square root
    /// for models.
    pub scale: Option<Scale>,
    /// Where the scale ends; with columns left out, always at the largest of the others.
    pub top: Top,
    /// Columns that are not in the scale.
    pub left_out: LeftOut,
    /// What stands for a block of cells.
    pub blocks: Blocks,
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
        Self {
            scale: None,
            top: Top::default(),
            left_out: LeftOut::default(),
            blocks: Blocks::default(),
            palette: Palette::default(),
            theme: Theme::default(),
            cell: None,
            dpi: 288,
        }
    }
}

impl Style {
    fn scale(&self, trace: &Trace) -> Scale {
        let example = trace.model.family.is_empty();
        self.scale.unwrap_or(if example { Scale::Linear } else { Scale::Sqrt })
    }
}
