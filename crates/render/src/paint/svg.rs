use std::fmt::{self, Write};

use super::canvas::HATCH_STEP;
use super::png::cells_png;
use super::{Anchor, Area, Cells, Item, Rgb, Scene, Text, base64};
use crate::Error;
use crate::escape::Escaped;

/// More cells than this in all are embedded pictures, a pixel a cell, instead of an element each.
const MOST_ELEMENTS: usize = 64 * 64 + 64;
/// Faces that a viewer may have, the page's own first.
const FACES: &str = "Inter, 'Segoe UI', Roboto, 'Noto Sans', 'DejaVu Sans Condensed', sans-serif";

/// The scene as one self-contained SVG 1.1 document: no script, no style sheet, nothing from elsewhere. Written by
/// hand: every character of a token goes through one escape, which also covers what XML cannot hold at all.
pub(crate) fn svg(scene: &Scene) -> Result<String, Error> {
    let mut out = String::new();
    write(&mut out, scene)?;
    Ok(out)
}

fn write(out: &mut String, scene: &Scene) -> Result<(), Error> {
    let (width, height, inks) = (Short(scene.width), Short(scene.height), scene.theme.inks());
    writeln!(
        out,
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img" aria-labelledby="attn-title attn-desc" font-family="{FACES}">"#
    )?;
    writeln!(out, r#"<title id="attn-title">{}</title>"#, Escaped(&scene.title))?;
    writeln!(out, r#"<desc id="attn-desc">{}</desc>"#, Escaped(&scene.description))?;
    if scene.items.iter().any(|item| matches!(item, Item::Hatch(_))) {
        let (step, ground, line) = (HATCH_STEP, Hex(inks.hatch), Hex(inks.hatch_line));
        writeln!(
            out,
            r#"<defs><pattern id="attn-hidden" width="{step}" height="{step}" patternUnits="userSpaceOnUse"><rect width="{step}" height="{step}" fill="{ground}"/><path d="M-1,1L1,-1M-1,{}L{},-1M{},{}L{},{}" stroke="{line}"/></pattern></defs>"#,
            step + 1.0,
            step + 1.0,
            step - 1.0,
            step + 1.0,
            step + 1.0,
            step - 1.0,
        )?;
    }
    writeln!(out, r#"<rect width="{width}" height="{height}" fill="{}"/>"#, Hex(inks.page))?;
    let cells = |item: &Item| if let Item::Cells(cells) = item { cells.colours.len() } else { 0 };
    let many = scene.items.iter().map(cells).sum::<usize>() > MOST_ELEMENTS;
    for item in &scene.items {
        match item {
            Item::Rect(area, colour) => rect(out, *area, &Hex(*colour).to_string())?,
            Item::Hatch(area) => rect(out, *area, "url(#attn-hidden)")?,
            Item::Cells(cells) => write_cells(out, cells, many)?,
            Item::Text(text) => write_text(out, text)?,
        }
    }
    out.push_str("</svg>\n");
    Ok(())
}

fn rect(out: &mut String, Area { x, y, width, height }: Area, fill: &str) -> fmt::Result {
    let [x, y, width, height] = [x, y, width, height].map(Short);
    writeln!(out, r#"<rect x="{x}" y="{y}" width="{width}" height="{height}" fill="{fill}"/>"#)
}

fn write_cells(out: &mut String, cells: &Cells, many: bool) -> Result<(), Error> {
    let Area { x, y, width, height } = cells.area;
    // A strip of colours stays one of elements, which a viewer draws sharp.
    if many && cells.rows() > 1 {
        let [x, y, width, height] = [x, y, width, height].map(Short);
        writeln!(
            out,
            r#"<image x="{x}" y="{y}" width="{width}" height="{height}" preserveAspectRatio="none" image-rendering="pixelated" href="data:image/png;base64,{}"/>"#,
            base64(&cells_png(cells)?)
        )?;
        return Ok(());
    }
    // Without crisp edges a viewer lets the page show through between two cells.
    writeln!(out, r#"<g shape-rendering="crispEdges">"#)?;
    let (wide, high) = (width / cells.columns.max(1) as f32, height / cells.rows().max(1) as f32);
    for (index, colour) in cells.colours.iter().enumerate() {
        let (row, column) = ((index / cells.columns) as f32, (index % cells.columns) as f32);
        let [x, y, width, height] = [x + column * wide, y + row * high, wide, high].map(Short);
        let note = cells.notes.get(index);
        // A hidden cell is clear, and still says why when pointed at.
        let fill = match (colour, note) {
            (Some(colour), _) => format!(r#"fill="{}""#, Hex(*colour)),
            (None, Some(_)) => r#"fill="none" pointer-events="all""#.to_owned(),
            (None, None) => continue,
        };
        write!(out, r#"<rect x="{x}" y="{y}" width="{width}" height="{height}" {fill}"#)?;
        match note {
            Some(note) => writeln!(out, "><title>{}</title></rect>", Escaped(note))?,
            None => writeln!(out, "/>")?,
        }
    }
    writeln!(out, "</g>")?;
    Ok(())
}

fn write_text(out: &mut String, text: &Text) -> fmt::Result {
    let (x, y, size) = (Short(text.x), Short(text.y), Short(text.size));
    let anchor = match text.anchor {
        Anchor::Start => "",
        Anchor::Middle => r#" text-anchor="middle""#,
        Anchor::End => r#" text-anchor="end""#,
    };
    let turn = if text.turned { format!(r#" transform="rotate(-90 {x} {y})""#) } else { String::new() };
    writeln!(
        out,
        r#"<text x="{x}" y="{y}" font-size="{size}" fill="{}"{anchor}{turn} pointer-events="none">{}</text>"#,
        Hex(text.ink),
        Escaped(&text.text)
    )
}

/// A colour as `#rrggbb`.
pub(super) struct Hex(pub(super) Rgb);

impl fmt::Display for Hex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [r, g, b] = self.0;
        write!(f, "#{r:02x}{g:02x}{b:02x}")
    }
}

/// A length to a hundredth of a pixel, without idle zeros.
struct Short(f32);

impl fmt::Display for Short {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", (self.0 * 100.0).round() / 100.0)
    }
}
