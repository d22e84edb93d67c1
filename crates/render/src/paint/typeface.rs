//! The letters of a picture, and how much room they take.
//!
//! A PNG must carry its letters itself, and a server has no fonts to rely on, so one is built in: DejaVu Sans
//! Condensed (Bitstream Vera licence), from the crate `dejavu`, which has no dependencies and links only the face that
//! is asked for (0.7 MB). It covers Latin, Greek, Cyrillic, Hebrew, Arabic, Armenian, Georgian, mathematics, arrows and
//! most of the signs that `readable` uses; the lighter font crates have Latin alone. Its outlines are read by `ttf-parser` and
//! filled by `ab_glyph_rasterizer`, 2 small crates; `resvg` would bring some 40 for what is a few lines here.
//!
//! An SVG names a face like it and leaves the letters to its viewer; the same measure serves there, since this face is
//! as wide as most.

use std::sync::OnceLock;

use ttf_parser::{Face, GlyphId};
use unicode_width::UnicodeWidthChar;

/// The built-in face.
pub(super) fn face() -> &'static Face<'static> {
    static FACE: OnceLock<Face<'static>> = OnceLock::new();
    // Built in and covered by tests: it parses.
    FACE.get_or_init(|| Face::parse(dejavu::sans_condensed::regular(), 0).expect("the built-in font parses"))
}

/// How a character is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Shape {
    Glyph(GlyphId),
    /// The face lacks it: a box with its code.
    Box,
    /// It takes no room and leaves no ink.
    Nothing,
}

/// A character's shape and the room it takes, in parts of the type size.
pub(super) fn shape(c: char) -> (Shape, f32) {
    match face().glyph_index(c) {
        Some(glyph) => {
            let advance = face().glyph_hor_advance(glyph).unwrap_or(0);
            (Shape::Glyph(glyph), f32::from(advance) / f32::from(face().units_per_em()))
        }
        // Joiners and variation selectors.
        None if c.width() == Some(0) => (Shape::Nothing, 0.0),
        None => (Shape::Box, 1.0),
    }
}

/// The width of a line of text, in the unit of `size`.
pub(crate) fn width(text: &str, size: f32) -> f32 {
    text.chars().map(|c| shape(c).1).sum::<f32>() * size
}

/// Text that is at most `room` wide, cut with `…` where it is longer.
pub(crate) fn cut(text: &str, size: f32, room: f32) -> String {
    if width(text, size) <= room {
        return text.to_owned();
    }
    let mut left = room - width("…", size);
    let mut kept = String::new();
    for c in text.chars() {
        left -= shape(c).1 * size;
        if left < 0.0 {
            break;
        }
        kept.push(c);
    }
    kept.truncate(kept.trim_end().len());
    kept.push('…');
    kept
}

/// Text in lines at most `room` wide, broken at blanks; a single word that is longer is cut.
pub(crate) fn wrap(text: &str, size: f32, room: f32) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        match lines.last_mut() {
            Some(line) if width(line, size) + width(" ", size) + width(word, size) <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(cut(word, size, room)),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::{Shape, cut, shape, width, wrap};

    #[test]
    fn the_signs_that_labels_use_are_there() {
        for c in "·⏎⇥…→↓≥“”é漢ሰ".chars() {
            let lacking = matches!(c, '漢' | 'ሰ');
            assert_eq!(shape(c).0 == Shape::Box, lacking, "{c}");
        }
        assert_eq!(shape('\u{fe0f}').1, 0.0);
    }

    #[test]
    fn text_fits_its_room() {
        assert_eq!(cut("because", 10.0, 100.0), "because");
        let short = cut("because of everything", 10.0, 50.0);
        assert!(short.ends_with('…') && width(&short, 10.0) <= 50.0, "{short}");
        let lines = wrap("one two three four", 10.0, 50.0);
        assert!(lines.len() > 1 && lines.iter().all(|line| width(line, 10.0) <= 50.0), "{lines:?}");
        assert_eq!(lines.join(" "), "one two three four");
    }
}
