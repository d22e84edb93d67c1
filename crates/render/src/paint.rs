//! From a scene to a file: colours, letters, and the two writers.

mod base64;
mod canvas;
mod glyphs;
mod png;
mod ramp;
mod scene;
mod svg;
mod theme;
mod typeface;

pub use ramp::Palette;
pub use theme::Theme;

pub(crate) use self::base64::base64;
pub(crate) use self::png::{MAX_DPI, png};
pub(crate) use ramp::ink_on;
pub(crate) use scene::{Anchor, Area, Cells, Item, Scene, Text};
pub(crate) use svg::svg;
pub(crate) use theme::Inks;
pub(crate) use typeface::{cut, width, wrap};

/// Red, green, blue, in sRGB.
pub(crate) type Rgb = [u8; 3];

const fn hex(colour: u32) -> Rgb {
    let [_, r, g, b] = colour.to_be_bytes();
    [r, g, b]
}
