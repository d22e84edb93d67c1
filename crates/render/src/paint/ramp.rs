//! Colours for weights. Each palette's lightness only ever rises or only ever falls with the weight, so that it also
//! reads in grey and with any colour vision.

use std::sync::OnceLock;

use super::{Rgb, Theme};

/// Which colours stand for weights: the page's own (`ui/palette.js`), with the same names, stops and arithmetic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Palette {
    /// One hue.
    #[default]
    Amber,
    /// After the colour map of that name, made for any colour vision.
    Viridis,
    /// Likewise.
    Cividis,
    /// No hue at all, for print.
    Grey,
}

impl Palette {
    /// Every palette.
    pub const ALL: [Self; 4] = [Self::Amber, Self::Viridis, Self::Cividis, Self::Grey];

    /// As it is called on the command line and on the page.
    pub fn name(self) -> &'static str {
        match self {
            Self::Amber => "amber",
            Self::Viridis => "viridis",
            Self::Cividis => "cividis",
            Self::Grey => "grey",
        }
    }

    /// The colour at a place from 0 to 1. More stands out more: darker on a light page, lighter on a dark one.
    pub(crate) fn at(self, theme: Theme, place: f32) -> Rgb {
        static RAMPS: [OnceLock<Vec<Rgb>>; 8] = [const { OnceLock::new() }; 8];
        let which = 2 * self as usize + usize::from(theme == Theme::Dark);
        let ramp = RAMPS[which].get_or_init(|| ramp(self.stops(theme)));
        ramp[(place.clamp(0.0, 1.0) * (STEPS - 1) as f32).round() as usize]
    }

    fn stops(self, theme: Theme) -> &'static [u32] {
        match (self, theme) {
            (Self::Amber, Theme::Light) => &[0xfdf5df, 0xfbdd93, 0xf0a73a, 0xc26a12, 0x6d2f06],
            (Self::Amber, Theme::Dark) => &[0x2a2113, 0x614211, 0xa96c12, 0xeaaa33, 0xffeebb],
            (Self::Viridis, Theme::Light) => {
                &[0xfbf8c8, 0xd3e35a, 0x6ccd5a, 0x24a485, 0x26808e, 0x34608d, 0x443a83, 0x3b0a4f]
            }
            (Self::Viridis, Theme::Dark) => {
                &[0x2b0f3d, 0x45327f, 0x3a548c, 0x297a8e, 0x1fa188, 0x5ec962, 0xaddc30, 0xfdf07a]
            }
            (Self::Cividis, Theme::Light) => {
                &[0xfff6c4, 0xf5dd62, 0xcfba68, 0xa69d75, 0x7d7c78, 0x575d6d, 0x2f4470, 0x00224e]
            }
            (Self::Cividis, Theme::Dark) => {
                &[0x0c2140, 0x1f3b6f, 0x4b546c, 0x6e7074, 0x928d78, 0xb8aa6d, 0xe0cb57, 0xfff3a0]
            }
            (Self::Grey, Theme::Light) => &[0xf3f2ee, 0xc9c8c5, 0x8f8e8c, 0x545352, 0x141414],
            (Self::Grey, Theme::Dark) => &[0x24231f, 0x55534e, 0x8b8984, 0xc4c2bd, 0xfdfcf8],
        }
    }
}

const STEPS: usize = 256;

fn ramp(stops: &[u32]) -> Vec<Rgb> {
    let labs: Vec<[f64; 3]> = stops.iter().map(|stop| to_oklab(super::hex(*stop))).collect();
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
        assert_eq!(Palette::Cividis.at(Theme::Light, 1.0), [0x00, 0x22, 0x4e]);
    }

    /// A picture is taken along from a page: it must not change its colours on the way.
    #[test]
    fn the_page_has_the_same_stops() {
        let page = include_str!("../../../../ui/palette.js");
        for palette in Palette::ALL {
            for theme in Theme::ALL {
                let stops: Vec<String> = palette.stops(theme).iter().map(|stop| format!("'{stop:06x}'")).collect();
                let line = format!("{}: [{}]", theme.name(), stops.join(", "));
                let of = page.split_once(&format!("  {}: {{", palette.name())).expect("the page has it").1;
                let of = of.split_once("  },").expect("its end").0;
                assert!(of.contains(&line), "{palette:?} {line}");
            }
        }
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
                    let rises = if theme == Theme::Light { -rises } else { rises };
                    assert!(rises > -2e-3, "{palette:?} on {theme:?} at {step}: {rises}");
                }
            }
        }
    }
}
