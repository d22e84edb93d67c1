use super::{Rgb, hex};

/// On what the picture stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// Dark ink on a light page.
    #[default]
    Light,
    /// Light ink on a dark page.
    Dark,
}

/// Everything in a picture that is not a weight; the page's own colours (`ui/style/base.css`).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Inks {
    pub(crate) page: Rgb,
    pub(crate) ink: Rgb,
    pub(crate) soft: Rgb,
    pub(crate) line: Rgb,
    pub(crate) hatch: Rgb,
    pub(crate) hatch_line: Rgb,
    /// Of queries.
    pub(crate) q: Rgb,
    /// Of keys.
    pub(crate) k: Rgb,
    /// Of a bar of weight.
    pub(crate) bar: Rgb,
}

impl Theme {
    /// Every theme.
    pub const ALL: [Self; 2] = [Self::Light, Self::Dark];

    /// As it is called on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }

    pub(crate) fn inks(self) -> Inks {
        match self {
            Self::Light => Inks {
                page: hex(0xfbfaf6),
                ink: hex(0x1d1b17),
                soft: hex(0x5f5a50),
                line: hex(0xe3dfd4),
                hatch: hex(0xeeece6),
                hatch_line: hex(0xcdc8bc),
                q: hex(0x0b5fa8),
                k: hex(0xb23c0a),
                bar: hex(0xe8a23a),
            },
            Self::Dark => Inks {
                page: hex(0x151410),
                ink: hex(0xf1ede4),
                soft: hex(0xaea899),
                line: hex(0x34322a),
                hatch: hex(0x22211c),
                hatch_line: hex(0x413f36),
                q: hex(0x7ab8f5),
                k: hex(0xff9a70),
                bar: hex(0xd8922c),
            },
        }
    }
}
