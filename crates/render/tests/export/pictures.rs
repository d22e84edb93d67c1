use attnscope_render::{CAVEAT, Format, Palette, Scale, Style, Theme, What};
use roxmltree::{Document, Node};

use crate::support::{MAP, MARKUP, PLACE, example, file, hostile, text};

/// A PNG, read back.
struct Picture {
    width: usize,
    height: usize,
    dots_a_metre: u32,
    pixels: Vec<u8>,
}

impl Picture {
    fn read(bytes: &[u8]) -> Self {
        let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let frame = reader.next_frame(&mut pixels).unwrap();
        let dots_a_metre = reader.info().pixel_dims.unwrap().xppu;
        Self { width: frame.width as usize, height: frame.height as usize, dots_a_metre, pixels }
    }

    fn at(&self, x: f32, y: f32) -> [u8; 3] {
        let at = (y as usize * self.width + x as usize) * 3;
        self.pixels[at..at + 3].try_into().unwrap()
    }
}

fn number(node: Node, name: &str) -> f32 {
    node.attribute(name).unwrap().parse().unwrap()
}

/// The element of a cell, by what it says of itself.
fn cell<'a>(svg: &'a Document, start: &str) -> Node<'a, 'a> {
    let title = svg.descendants().find(|node| node.text().is_some_and(|text| text.starts_with(start)));
    title.unwrap_or_else(|| panic!("no cell says {start}")).parent_element().unwrap()
}

fn texts<'a>(svg: &'a Document) -> Vec<&'a str> {
    svg.descendants().filter(|node| node.has_tag_name("text")).filter_map(|node| node.text()).collect()
}

#[test]
fn the_png_has_the_colours_of_known_cells() {
    let trace = example(true);
    let svg = text(&trace, &MAP, Format::Svg);
    let svg = Document::parse(&svg).unwrap();
    let png = Picture::read(&file(&trace, &MAP, &Style::default(), Format::Png));
    // Three dots to a CSS pixel, and 288 to the inch.
    assert_eq!(png.width as f32, number(svg.root_element(), "width") * 3.0);
    assert_eq!(png.height as f32, number(svg.root_element(), "height") * 3.0);
    assert_eq!(png.dots_a_metre, 11339);
    let corner = |cell: Node| ((number(cell, "x") + 4.0) * 3.0, (number(cell, "y") + 4.0) * 3.0);

    // The first query sees itself alone: all of its attention, the darkest colour of the ramp.
    let (x, y) = corner(cell(&svg, "query 0 The, key 0 The: 1"));
    assert_eq!(png.at(x, y), [0x6d, 0x2f, 0x06]);
    for (query, key) in [("6 it", "1 robot"), ("9 .", "9 ."), ("2 carried", "0 The")] {
        let node = cell(&svg, &format!("query {query}, key {key}: 0."));
        let ((x, y), [r, g, b]) = (corner(node), png.at(corner(node).0, corner(node).1));
        assert_eq!(node.attribute("fill").unwrap(), format!("#{r:02x}{g:02x}{b:02x}"), "{query} {key} {x} {y}");
    }

    // A hidden cell is hatched: its ground, its lines, and nothing of the ramp.
    let hidden = cell(&svg, "query 0 The, key 1 robot: hidden, the key comes later");
    assert_eq!(hidden.attribute("fill"), Some("none"));
    let (x, y) = corner(hidden);
    let seen: Vec<[u8; 3]> = (0..60).map(|step| png.at(x + step as f32, y)).collect();
    assert!(seen.contains(&[0xee, 0xec, 0xe6]) && seen.contains(&[0xcd, 0xc8, 0xbc]), "{seen:?}");
    assert!(seen.iter().all(|[r, _, b]| r.abs_diff(*b) < 24), "{seen:?}");
}

#[test]
fn a_picture_says_what_it_shows() {
    let svg = text(&example(true), &MAP, Format::Svg);
    let svg = Document::parse(&svg).unwrap();
    let texts = texts(&svg);
    for wanted in [
        "The worked example",
        "Layer 0, head 0, self-attention; queries 0 to 9, keys 0 to 9.",
        "query rows ↓",
        "key columns →",
        "“The robot carried the patient because it was tired.”",
        "Linear scale: colour grows with the weight.",
        "0.25",
        "Hidden, which is not a small weight: the key comes later.",
        CAVEAT,
    ] {
        assert!(texts.contains(&wanted), "{wanted:?} is not in {texts:?}");
    }
    assert!(texts.iter().any(|text| text.starts_with("Designed by hand to be read, not trained")), "{texts:?}");
    for token in ["robot", "because", "tired"] {
        assert_eq!(texts.iter().filter(|text| **text == token).count(), 2, "{token}: once down, once across");
    }
    let described = svg.descendants().find(|node| node.has_tag_name("desc")).unwrap().text().unwrap();
    assert!(described.contains("The largest weight is 1.0000, from query 0 “The” to key 0 “The”."), "{described}");
}

#[test]
fn tokens_stay_text_and_the_document_stays_whole() {
    for what in [MAP, What::Row { place: PLACE, query: 6 }] {
        let svg = text(&hostile(), &what, Format::Svg);
        let parsed = Document::parse(&svg).unwrap();
        // Cut where it is long, and with its blanks made visible.
        let is_markup = |text: &str| {
            text.starts_with("<img·src=x") && MARKUP.replace(' ', "·").starts_with(text.trim_end_matches('…'))
        };
        assert!(texts(&parsed).iter().any(|text| is_markup(text)), "{:?}", texts(&parsed));
        assert!(texts(&parsed).contains(&"\\u{0}\\u{1b}\\u{ffff}"), "{:?}", texts(&parsed));
        assert!(!svg.contains("<img") && !svg.contains("<script"), "{svg}");
        let html = text(&hostile(), &what, Format::Html);
        assert!(!html.contains("<img") && html.contains("&lt;img src=x onerror="));
        assert!(!html.chars().any(|c| c.is_control() && c != '\n'), "{html}");
        assert!(!file(&hostile(), &what, &Style::default(), Format::Png).is_empty());
    }
}

#[test]
fn a_page_needs_nothing_else_and_may_do_nothing() {
    let html = text(&example(true), &MAP, Format::Html);
    let policy = "default-src 'none'; style-src 'sha256-";
    assert!(html.contains(policy) && html.contains("img-src data:; base-uri 'none'; form-action 'none'"));
    assert!(
        !html.contains("<script")
            && !html.contains("https:")
            && !html.contains("style=\"")
            && !html.contains("@import")
    );
    // The numbers, with all of their digits for who points at one.
    let weight = example(true).picked_row(PLACE.site, 0, PLACE.head, 6).unwrap().weights[1];
    assert!(html.contains(&format!("<td title=\"{weight:e}\">{weight:.4}</td>")));
    assert_eq!(html.matches("<td class=\"hidden\" title=\"hidden: comes later\">").count(), 45);
}

#[test]
fn every_look_is_another_picture_of_the_same() {
    let trace = example(true);
    let mut seen = Vec::new();
    let mut add = |style: Style| {
        let png = file(&trace, &MAP, &style, Format::Png);
        let picture = Picture::read(&png);
        assert!(picture.width > 400 && picture.height > 400);
        assert!(!seen.contains(&png), "{style:?} looks like another");
        seen.push(png);
    };
    let plain = Style { dpi: 96, ..Style::default() };
    Scale::ALL.into_iter().for_each(|scale| add(Style { scale: Some(scale), ..plain }));
    Palette::ALL.into_iter().skip(1).for_each(|palette| add(Style { palette, ..plain }));
    add(Style { theme: Theme::Dark, ..plain });
    add(Style { cell: Some(20.0), ..plain });
    add(Style { dpi: 192, ..plain });
}

#[test]
fn a_row_is_a_budget() {
    let svg = text(&example(true), &What::Row { place: PLACE, query: 6 }, Format::Svg);
    let svg = Document::parse(&svg).unwrap();
    let texts = texts(&svg);
    assert!(texts.contains(&"0.7028"), "{texts:?}");
    assert!(texts.contains(&"The weights sum to 1.000000. 7 keys are seen, 3 are hidden."), "{texts:?}");
    assert_eq!(texts.iter().filter(|text| **text == "hidden: comes later").count(), 3);
}
