use super::{Area, Rgb};

/// Pixels, painted over one another.
pub(super) struct Canvas {
    pub(super) width: usize,
    pub(super) height: usize,
    /// (height x width), red, green, blue.
    pub(super) pixels: Vec<u8>,
}

/// Pixels from `left` up to, not including, `right`; likewise down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pixels {
    pub(super) left: usize,
    pub(super) top: usize,
    pub(super) right: usize,
    pub(super) bottom: usize,
}

impl Canvas {
    pub(super) fn new(width: usize, height: usize, page: Rgb) -> Self {
        Self { width, height, pixels: page.repeat(width * height) }
    }

    /// The pixels of an area that is `scale` times as large; its edges fall between pixels, so nothing is blurred.
    pub(super) fn pixels_of(&self, area: Area, scale: f32) -> Pixels {
        let snap = |at: f32, most: usize| ((at * scale).round().max(0.0) as usize).min(most);
        Pixels {
            left: snap(area.x, self.width),
            top: snap(area.y, self.height),
            right: snap(area.x + area.width, self.width),
            bottom: snap(area.y + area.height, self.height),
        }
    }

    pub(super) fn fill(&mut self, Pixels { left, top, right, bottom }: Pixels, colour: Rgb) {
        for y in top..bottom.min(self.height) {
            for pixel in self.pixels[(y * self.width + left) * 3..(y * self.width + right.max(left)) * 3].chunks_mut(3)
            {
                pixel.copy_from_slice(&colour);
            }
        }
    }

    /// Lays a colour over a pixel as a glaze, from 0 (nothing) to 1 (opaque). What lies outside is not painted.
    pub(super) fn blend(&mut self, x: i64, y: i64, colour: Rgb, opacity: f32) {
        let inside = (0..self.width as i64).contains(&x) && (0..self.height as i64).contains(&y);
        if !inside || opacity <= 0.0 {
            return;
        }
        let at = (y as usize * self.width + x as usize) * 3;
        for (under, over) in self.pixels[at..at + 3].iter_mut().zip(colour) {
            let (below, above) = (f32::from(*under), f32::from(over));
            *under = (below + (above - below) * opacity.min(1.0)).round() as u8;
        }
    }

    /// Diagonal lines, one unit wide and `HATCH_STEP` apart along a row, `scale` pixels a unit.
    pub(super) fn hatch(&mut self, area: Pixels, scale: f32, ground: Rgb, line: Rgb) {
        self.fill(area, ground);
        let step = HATCH_STEP * scale;
        for y in area.top..area.bottom {
            for x in area.left..area.right {
                let along = ((x - area.left) as f32 + (y - area.top) as f32 + 1.0).rem_euclid(step);
                // A line at 45 degrees: the distance from it is that along the row over sqrt(2).
                let distance = along.min(step - along) * std::f32::consts::FRAC_1_SQRT_2;
                self.blend(x as i64, y as i64, line, scale / 2.0 + 0.5 - distance);
            }
        }
    }
}

/// How far hatching's lines are apart along a row, in CSS pixels.
pub(super) const HATCH_STEP: f32 = 6.0;
