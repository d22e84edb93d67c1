//! Letters as pixels. One by one, from left to right: scripts whose letters join are not joined (an SVG leaves that to
//! its viewer), but text that runs to the left does.

use ab_glyph_rasterizer::{Point, Rasterizer, point};
use ttf_parser::OutlineBuilder;

use super::canvas::Canvas;
use super::typeface::{Shape, face, shape, width};
use super::{Anchor, Text};

/// Draws a line of text, `scale` pixels a unit.
pub(super) fn draw(canvas: &mut Canvas, text: &Text, scale: f32) {
    let size = text.size * scale;
    let length = width(&text.text, size);
    let back = match text.anchor {
        Anchor::Start => 0.0,
        Anchor::Middle => length / 2.0,
        Anchor::End => length,
    };
    // The pixels it can touch, with room for what reaches beyond its measure.
    let (above, below) = ((size * 1.1).ceil(), (size * 0.4).ceil());
    let long = (length + size).ceil();
    let (x, y) = (text.x * scale, text.y * scale);
    let (left, top, wide, high) = match text.turned {
        false => ((x - back - size / 2.0).floor(), (y - above).floor(), long, above + below),
        true => ((x - above).floor(), (y + back - length - size / 2.0).floor(), above + below, long),
    };
    if !(wide <= 1e5 && high <= 1e5) {
        return;
    }
    let start = match text.turned {
        false => point(x - back - left, y - top),
        true => point(x - left, y + back - top),
    };
    let mut pen = Pen {
        raster: Rasterizer::new(wide as usize + 1, high as usize + 1),
        turned: text.turned,
        start,
        along: 0.0,
        size,
        first: start,
        last: start,
    };
    for c in in_order(&text.text) {
        let (shape, advance) = shape(c);
        match shape {
            Shape::Glyph(glyph) => {
                face().outline_glyph(glyph, &mut pen);
            }
            Shape::Box => pen.coded_box(c),
            Shape::Nothing => {}
        }
        pen.along += advance * size;
    }
    pen.raster.for_each_pixel_2d(|x, y, opacity| {
        canvas.blend(left as i64 + i64::from(x), top as i64 + i64::from(y), text.ink, opacity);
    });
}

/// The characters as they stand from left to right: runs of Hebrew and Arabic turned round, the rest as it is.
fn in_order(text: &str) -> Vec<char> {
    let mut order: Vec<char> = text.chars().collect();
    let to_left = |c: char| matches!(c, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefe}');
    let mut at = 0;
    while at < order.len() {
        let run = order[at..].iter().take_while(|c| to_left(**c)).count();
        order[at..at + run].reverse();
        at += run.max(1);
    }
    order
}

/// Puts outlines, in units of the face, where they belong on the raster.
struct Pen {
    raster: Rasterizer,
    turned: bool,
    start: Point,
    along: f32,
    size: f32,
    first: Point,
    last: Point,
}

impl Pen {
    /// A point `x` along the text and `y` above its baseline, in units of the face.
    fn place(&self, x: f32, y: f32) -> Point {
        let unit = self.size / f32::from(face().units_per_em());
        let (x, y) = (self.along + x * unit, y * unit);
        match self.turned {
            false => point(self.start.x + x, self.start.y - y),
            true => point(self.start.x - y, self.start.y - x),
        }
    }

    fn polygon(&mut self, corners: &[(f32, f32)]) {
        for (at, corner) in corners.iter().enumerate() {
            let next = corners[(at + 1) % corners.len()];
            let (from, to) = (self.place(corner.0, corner.1), self.place(next.0, next.1));
            self.raster.draw_line(from, to);
        }
    }

    /// A box that holds the character's code in hexadecimal, in two lines: not its look, but which one it is.
    fn coded_box(&mut self, c: char) {
        let em = f32::from(face().units_per_em());
        let (left, right, low, high, line) = (0.06 * em, 0.94 * em, -0.16 * em, 0.8 * em, 0.05 * em);
        self.polygon(&[(left, low), (right, low), (right, high), (left, high)]);
        // The other way round: what lies within is cut out.
        let (l, r, b, t) = (left + line, right - line, low + line, high - line);
        self.polygon(&[(l, b), (l, t), (r, t), (r, b)]);
        let code = format!("{:04X}", u32::from(c));
        let (upper, lower) = code.split_at(code.len() / 2);
        let (along, size) = (self.along, self.size);
        for (digits, baseline) in [(upper, 0.37), (lower, -0.06)] {
            self.size = size * if code.len() > 4 { 0.40 } else { 0.46 };
            let room = 0.88 * size;
            self.along = along + 0.06 * size + (room - width(digits, self.size)) / 2.0;
            for digit in digits.chars() {
                let (digit, advance) = shape(digit);
                if let Shape::Glyph(glyph) = digit {
                    let mut raised = Raised { pen: self, by: baseline * em * size };
                    face().outline_glyph(glyph, &mut raised);
                }
                self.along += advance * self.size;
            }
        }
        (self.along, self.size) = (along, size);
    }
}

/// A pen that writes above the baseline, `by` units of the face at the size of 1.
struct Raised<'a> {
    pen: &'a mut Pen,
    by: f32,
}

impl OutlineBuilder for Raised<'_> {
    fn move_to(&mut self, x: f32, y: f32) {
        self.pen.move_to(x, y + self.by / self.pen.size);
    }
    fn line_to(&mut self, x: f32, y: f32) {
        self.pen.line_to(x, y + self.by / self.pen.size);
    }
    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let by = self.by / self.pen.size;
        self.pen.quad_to(x1, y1 + by, x, y + by);
    }
    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let by = self.by / self.pen.size;
        self.pen.curve_to(x1, y1 + by, x2, y2 + by, x, y + by);
    }
    fn close(&mut self) {
        self.pen.close();
    }
}

impl OutlineBuilder for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        self.first = self.place(x, y);
        self.last = self.first;
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let to = self.place(x, y);
        self.raster.draw_line(self.last, to);
        self.last = to;
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let (control, to) = (self.place(x1, y1), self.place(x, y));
        self.raster.draw_quad(self.last, control, to);
        self.last = to;
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let (one, two, to) = (self.place(x1, y1), self.place(x2, y2), self.place(x, y));
        self.raster.draw_cubic(self.last, one, two, to);
        self.last = to;
    }

    fn close(&mut self) {
        self.raster.draw_line(self.last, self.first);
        self.last = self.first;
    }
}

#[cfg(test)]
mod tests {
    use super::{draw, in_order};
    use crate::paint::canvas::Canvas;
    use crate::paint::{Anchor, Text};

    fn drawn(text: &str, turned: bool) -> (usize, Canvas) {
        let mut canvas = Canvas::new(80, 80, [255; 3]);
        let text =
            Text { x: 40.0, y: 40.0, size: 20.0, anchor: Anchor::Middle, turned, ink: [0; 3], text: text.into() };
        draw(&mut canvas, &text, 1.0);
        (canvas.pixels.chunks(3).filter(|pixel| pixel[0] < 128).count(), canvas)
    }

    #[test]
    fn letters_leave_ink_turned_or_not() {
        let ((upright, canvas), (turned, _)) = (drawn("llll", false), drawn("llll", true));
        assert!(upright > 30 && turned > 30, "{upright} {turned}");
        // A stroke of an l is taller than wide, above the baseline.
        assert!(canvas.pixels[60 * 80 * 3..].iter().all(|byte| *byte == 255));
    }

    #[test]
    fn what_the_face_lacks_is_a_box_with_its_code() {
        assert!(drawn("漢", false).0 > 60);
        assert_ne!(drawn("漢", false).1.pixels, drawn("字", false).1.pixels);
        assert_eq!(drawn("\u{fe0f}", false).0, 0);
    }

    #[test]
    fn text_that_runs_left_is_turned_round() {
        assert_eq!(in_order("a שלום b"), "a םולש b".chars().collect::<Vec<_>>());
    }
}
