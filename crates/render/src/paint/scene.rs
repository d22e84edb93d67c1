use super::{Rgb, Theme};

/// A picture before it is SVG or PNG: what stands where, in CSS pixels (96 to the inch), later items over earlier ones.
/// Both writers draw the same scene, so neither can show what the other does not.
#[derive(Debug)]
pub(crate) struct Scene {
    pub(crate) width: f32,
    pub(crate) height: f32,
    pub(crate) theme: Theme,
    /// For readers that cannot see it.
    pub(crate) title: String,
    /// Likewise, at more length.
    pub(crate) description: String,
    pub(crate) items: Vec<Item>,
}

#[derive(Debug)]
pub(crate) enum Item {
    /// A filled rectangle.
    Rect(Area, Rgb),
    /// What is hidden: diagonal lines, which no weight ever has.
    Hatch(Area),
    Cells(Cells),
    Text(Text),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Area {
    pub(crate) x: f32,
    pub(crate) y: f32,
    pub(crate) width: f32,
    pub(crate) height: f32,
}

/// A grid of equal cells that fills an area; a cell without a colour leaves clear what lies beneath.
#[derive(Debug)]
pub(crate) struct Cells {
    pub(crate) area: Area,
    pub(crate) columns: usize,
    /// (rows x columns).
    pub(crate) colours: Vec<Option<Rgb>>,
    /// Likewise what a reader that can point is told of each, or nothing at all.
    pub(crate) notes: Vec<String>,
}

impl Cells {
    pub(crate) fn rows(&self) -> usize {
        self.colours.len() / self.columns.max(1)
    }
}

/// One line of text. `x` and `y` are where its baseline starts, ends or has its middle.
#[derive(Clone, Debug)]
pub(crate) struct Text {
    pub(crate) x: f32,
    pub(crate) y: f32,
    pub(crate) size: f32,
    pub(crate) anchor: Anchor,
    /// A quarter turn to the left: it reads upwards.
    pub(crate) turned: bool,
    pub(crate) ink: Rgb,
    pub(crate) text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}
