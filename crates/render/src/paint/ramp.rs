//! Colours for weights. Each palette's lightness only ever rises or only ever falls with the weight, so that it also
//! reads in grey and with any colour vision.

use std::sync::OnceLock;

use super::{Rgb, Theme};

/// Which colours stand for weights.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Palette {
    /// The page's own: one hue.
    #[default]
    Amber,
    /// One hue too, and the furthest from the page's warm greys.
    Blue,
    /// No hue at all, for print.
    Grey,
    /// From violet by green to yellow, as it is known: dark is little, on any page.
    Viridis,
}

impl Palette {
    /// Every palette.
    pub const ALL: [Self; 4] = [Self::Amber, Self::Blue, Self::Grey, Self::Viridis];

    /// As it is called on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Amber => "amber",
            Self::Blue => "blue",
            Self::Grey => "grey",
            Self::Viridis => "viridis",
        }
    }

    /// The colour at a place from 0 to 1. More stands out more: darker on a light page, lighter on a dark one.
    pub(crate) fn at(self, theme: Theme, place: f32) -> Rgb {
        let place = place.clamp(0.0, 1.0);
        let from_dark = f64::from(match theme {
            Theme::Light => 1.0 - place,
            Theme::Dark => place,
        });
        // No palette starts at the page's own black or white: a weight of nothing is not an empty page.
        let colour = match self {
            Self::Amber => return amber(theme)[(place * (STEPS - 1) as f32).round() as usize],
            Self::Blue => colorous::BLUES.eval_continuous(1.0 - from_dark),
            Self::Grey => {
                let (low, high) = if theme == Theme::Light { (10.0, 240.0) } else { (45.0, 255.0) };
                return [(low + (high - low) * from_dark).round() as u8; 3];
            }
            Self::Viridis => colorous::VIRIDIS.eval_continuous(f64::from(place)),
        };
        [colour.r, colour.g, colour.b]
    }
}

const STEPS: usize = 256;

/// The page's ramp (`ui/palette.js`), with the same stops and the same arithmetic.
fn amber(theme: Theme) -> &'static [Rgb] {
    static LIGHT: OnceLock<Vec<Rgb>> = OnceLock::new();
    static DARK: OnceLock<Vec<Rgb>> = OnceLock::new();
    match theme {
        Theme::Light => LIGHT.get_or_init(|| ramp([0xfdf5df, 0xfbdd93, 0xf0a73a, 0xc26a12, 0x6d2f06])),
        Theme::Dark => DARK.get_or_init(|| ramp([0x2a2113, 0x614211, 0xa96c12, 0xeaaa33, 0xffeebb])),
    }
}

fn ramp(stops: [u32; 5]) -> Vec<Rgb> {
    let labs = stops.map(|stop| to_oklab(super::hex(stop)));
    let colour = |step: usize| {
        let at = step as f64 / (STEPS - 1) as f64 * (stops.len() - 1) as f64;
        let low = (at as usize).min(stops.len() - 2);
        let t = at - low as f64;
        from_oklab(std::array::from_fn(|c| labs[low][c] * (1.0 - t) + labs[low + 1][c] * t))
    };
    (0..STEPS).map(colour).collect()
}

/// Black or white, whichever reads better on this colour. (WCAG 2, contrast ratio)
pub(crate) fn ink_on(colour: Rgb) -> Rgb {
    let [r, g, b] = colour.map(to_linear);
    let light = 0.2126 * r + 0.7152 * g + 0.0722 * b;
    if (light + 0.05) / 0.05 >= 1.05 / (light + 0.05) { [0; 3] } else { [255; 3] }
}

fn to_linear(byte: u8) -> f64 {
    let c = f64::from(byte) / 255.0;
    if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
}

fn from_linear(value: f64) -> u8 {
    let c = if value <= 0.0031308 { 12.92 * value } else { 1.055 * value.powf(1.0 / 2.4) - 0.055 };
    (255.0 * c).round_ties_even().clamp(0.0, 255.0) as u8
}

// Oklab (B. Ottosson, 2020): equal steps in it look equally large, which is what a ramp needs.

fn to_oklab(colour: Rgb) -> [f64; 3] {
    let [r, g, b] = colour.map(to_linear);
    let l = (0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b).cbrt();
    let m = (0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b).cbrt();
    let s = (0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b).cbrt();
    [
        0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
        1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
        0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
    ]
}

fn from_oklab([lightness, a, b]: [f64; 3]) -> Rgb {
    let l = (lightness + 0.3963377774 * a + 0.2158037573 * b).powi(3);
    let m = (lightness - 0.1055613458 * a - 0.0638541728 * b).powi(3);
    let s = (lightness - 0.0894841775 * a - 1.291485548 * b).powi(3);
    [
        from_linear(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
        from_linear(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
        from_linear(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s),
    ]
}

#[cfg(test)]
mod tests {
    use super::{Palette, to_linear};
    use crate::paint::Theme;

    #[test]
    fn the_ends_are_the_stops() {
        assert_eq!(Palette::Amber.at(Theme::Light, 0.0), [0xfd, 0xf5, 0xdf]);
        assert_eq!(Palette::Amber.at(Theme::Light, 1.0), [0x6d, 0x2f, 0x06]);
        assert_eq!(Palette::Amber.at(Theme::Dark, 1.0), [0xff, 0xee, 0xbb]);
    }

    #[test]
    fn lightness_goes_one_way() {
        for palette in Palette::ALL {
            for theme in [Theme::Light, Theme::Dark] {
                let light = |step: u8| {
                    let [r, g, b] = palette.at(theme, f32::from(step) / 100.0).map(to_linear);
                    0.2126 * r + 0.7152 * g + 0.0722 * b
                };
                for step in 0..100 {
                    let rises = light(step + 1) - light(step);
                    let falls = theme == Theme::Light && palette != Palette::Viridis;
                    let rises = if falls { -rises } else { rises };
                    assert!(rises > -2e-3, "{palette:?} on {theme:?} at {step}: {rises}");
                }
            }
        }
    }
}
