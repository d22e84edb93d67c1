use super::canvas::{Canvas, Pixels};
use super::{Cells, Item, Scene, glyphs};
use crate::Error;

/// The finest resolution that is drawn.
pub(crate) const MAX_DPI: u32 = 1200;
/// The most pixels that are drawn: more than any printer's page of a figure.
const MAX_PIXELS: f32 = 2e8;

/// The scene as a PNG that prints at its own size: 96 CSS pixels to the inch, `dpi` dots to the inch.
pub(crate) fn png(scene: &Scene, dpi: u32) -> Result<Vec<u8>, Error> {
    let scale = dpi as f32 / 96.0;
    let (width, height) = ((scene.width * scale).round(), (scene.height * scale).round());
    if width * height > MAX_PIXELS {
        return Err(Error::TooManyPixels { width: width as usize, height: height as usize });
    }
    let inks = scene.theme.inks();
    let mut canvas = Canvas::new(width as usize, height as usize, inks.page);
    for item in &scene.items {
        match item {
            Item::Rect(area, colour) => canvas.fill(canvas.pixels_of(*area, scale), *colour),
            Item::Hatch(area) => {
                canvas.hatch(canvas.pixels_of(*area, scale), scale, inks.hatch, inks.hatch_line);
            }
            Item::Cells(cells) => fill_cells(&mut canvas, cells, scale),
            Item::Text(text) => glyphs::draw(&mut canvas, text, scale),
        }
    }
    let dots_a_metre = (f64::from(dpi) / 0.0254).round() as u32;
    let size = png::PixelDimensions { xppu: dots_a_metre, yppu: dots_a_metre, unit: png::Unit::Meter };
    let words = [("Title", &scene.title), ("Description", &scene.description)];
    encode(&canvas, png::ColorType::Rgb, Some(size), &words)
}

/// The edges of cells fall between pixels: a cell has one colour to its rim, and no line between it and the next.
fn fill_cells(canvas: &mut Canvas, cells: &Cells, scale: f32) {
    let whole = canvas.pixels_of(cells.area, scale);
    let (rows, columns) = (cells.rows(), cells.columns);
    let at = |start: usize, end: usize, part: usize, parts: usize| start + (end - start) * part / parts.max(1);
    for (index, colour) in cells.colours.iter().enumerate() {
        let (row, column) = (index / columns, index % columns);
        let Some(colour) = colour else { continue };
        let cell = Pixels {
            left: at(whole.left, whole.right, column, columns),
            right: at(whole.left, whole.right, column + 1, columns),
            top: at(whole.top, whole.bottom, row, rows),
            bottom: at(whole.top, whole.bottom, row + 1, rows),
        };
        canvas.fill(cell, *colour);
    }
}

/// Cells alone, one pixel each, hidden ones clear: what an SVG embeds where there are too many to draw one by one.
pub(super) fn cells_png(cells: &Cells) -> Result<Vec<u8>, Error> {
    let pixels = cells.colours.iter().flat_map(|colour| match colour {
        Some([r, g, b]) => [*r, *g, *b, 255],
        None => [0; 4],
    });
    let canvas = Canvas { width: cells.columns, height: cells.rows(), pixels: pixels.collect() };
    encode(&canvas, png::ColorType::Rgba, None, &[])
}

fn encode(
    canvas: &Canvas,
    colours: png::ColorType,
    size: Option<png::PixelDimensions>,
    words: &[(&str, &String)],
) -> Result<Vec<u8>, Error> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, canvas.width as u32, canvas.height as u32);
    encoder.set_color(colours);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
    encoder.set_pixel_dims(size);
    encoder.set_compression(png::Compression::High);
    // Flat colours repeat as they are; a filter would only hide that.
    encoder.set_filter(png::Filter::NoFilter);
    for (keyword, text) in words {
        encoder.add_itxt_chunk((*keyword).to_owned(), (*text).clone())?;
    }
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&canvas.pixels)?;
    writer.finish()?;
    Ok(file)
}
