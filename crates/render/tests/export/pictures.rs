use attnscope_inspect::At;
use attnscope_render::{CAVEAT, Choice, Format, LeftOut, Palette, Scale, Statistic, Style, Theme, Top, What};
use roxmltree::{Document, Node};

use crate::support::{HEADS, MAP, MARKUP, PLACE, example, file, hostile, questions, text};

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
    for what in questions() {
        if matches!(what, What::Cell { .. } | What::Heads { .. }) {
            let svg = text(&hostile(), &what, Format::Svg);
            assert!(Document::parse(&svg).is_ok() && !svg.contains("<img"), "{svg}");
            continue;
        }
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
    let plain = || plain.clone();
    Scale::ALL.into_iter().for_each(|scale| add(Style { scale: Some(scale), ..plain() }));
    Palette::ALL.into_iter().skip(1).for_each(|palette| add(Style { palette, ..plain() }));
    add(Style { theme: Theme::Dark, ..plain() });
    add(Style { cell: Some(20.0), ..plain() });
    add(Style { dpi: 192, ..plain() });
    add(Style { left_out: "first".parse().unwrap(), ..plain() });
    add(Style { left_out: "first".parse().unwrap(), scale: Some(Scale::Rank), ..plain() });
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

fn styled(what: &What, style: &Style) -> String {
    String::from_utf8(file(&example(true), what, style, Format::Svg)).unwrap()
}

/// As the page draws it: the first column keeps its last colour, and the others share the ramp among them.
#[test]
fn columns_left_out_are_drawn_and_said() {
    let style = Style { left_out: "first-4".parse::<LeftOut>().unwrap(), ..Style::default() };
    let svg = styled(&MAP, &style);
    let svg = Document::parse(&svg).unwrap();
    let weights = example(true).picked_tile(PLACE.site, 0, PLACE.head, 0..10, 0..10).unwrap().cells;
    let counted = |at: &usize| ![0, 4].contains(&(at % 10));
    let top = (0..100).filter(counted).map(|at| weights[at]).fold(0.0, f32::max);
    let texts = texts(&svg);
    let says = format!("Linear scale: colour grows with the weight, up to {top:.4}.");
    assert!(texts.contains(&says.as_str()), "{says} is not in {texts:?}");
    let says = "Not in the scale: “The” 0, “patient” 4; beyond the end of the scale they keep its last colour.";
    assert!(texts.contains(&says), "{texts:?}");
    let first = cell(&svg, "query 0 The, key 0 The: 1, not in the scale");
    assert_eq!(first.attribute("fill"), Some("#6d2f06"));
    let at = (0..100).filter(counted).find(|at| weights[*at] == top).unwrap();
    let start = format!("query {} ", at / 10);
    let strongest = svg.descendants().filter(|node| node.has_tag_name("title")).find(|node| {
        let text = node.text().unwrap();
        text.starts_with(&start) && text.ends_with(&format!(": {top}"))
    });
    assert_eq!(strongest.unwrap().parent_element().unwrap().attribute("fill"), Some("#6d2f06"));
    // With nothing left out it ends there only if asked to.
    let whole = styled(&MAP, &Style { top: Top::Largest, ..Style::default() });
    assert!(whole.contains("Linear scale: colour grows with the weight."), "the largest of all is 1");
}

/// A row's scale is the whole row's, also where only a part of it is drawn.
#[test]
fn a_part_of_a_map_has_the_colours_of_the_whole() {
    let part = What::Map { place: PLACE, queries: Some(4..9), keys: Some(3..7) };
    for scale in Scale::ALL {
        for left_out in ["", "first-2"] {
            let style = Style { scale: Some(scale), left_out: left_out.parse().unwrap(), ..Style::default() };
            let (whole, part) = (styled(&MAP, &style), styled(&part, &style));
            let (whole, part) = (Document::parse(&whole).unwrap(), Document::parse(&part).unwrap());
            for (query, key) in [("4 patient", "4 patient"), ("6 it", "4 patient"), ("8 tired", "6 it")] {
                let start = format!("query {query}, key {key}: 0.");
                let [here, there] = [&whole, &part].map(|svg| cell(svg, &start).attribute("fill").unwrap());
                assert_eq!(here, there, "{scale:?} without {left_out:?}: {start}");
            }
        }
    }
}

#[test]
fn a_cell_is_a_picture_of_its_steps() {
    let (trace, at) = (example(true), At::default());
    let svg = text(&trace, &What::Cell { at, query: 6, key: 1 }, Format::Svg);
    let svg = Document::parse(&svg).unwrap();
    let texts = texts(&svg);
    let cell = trace.cell(at, 6, 1).unwrap();
    let after = |what: &str| -> f64 {
        let at = texts.iter().position(|text| *text == what).unwrap_or_else(|| panic!("{what} is not in {texts:?}"));
        texts[at + 1].parse().unwrap()
    };
    for (what, want) in [
        ("their sum, q · k", cell.dot),
        ("× scale 0.5 = score", cell.score),
        ("− log-sum-exp of the row", cell.lse.unwrap()),
        ("= log weight", cell.log_weight.unwrap()),
        ("weight = exp of it", cell.weight),
    ] {
        assert!((after(what) / want - 1.0).abs() < 1e-5, "{what}: {} for {want}", after(what));
    }
    let products = texts.iter().filter_map(|text| text.parse::<f64>().ok()).collect::<Vec<_>>();
    assert!(cell.products.iter().all(|product| products.iter().any(|shown| (shown - product).abs() < 1e-5)));
    let hidden = text_of(&What::Cell { at, query: 1, key: 6 });
    assert!(hidden.contains("hidden from the query") && hidden.contains("comes later"));
}

fn text_of(what: &What) -> String {
    text(&example(true), what, Format::Svg)
}

#[test]
fn a_column_is_no_budget() {
    let svg = text_of(&What::Column { place: PLACE, key: 1 });
    let svg = Document::parse(&svg).unwrap();
    let texts = texts(&svg);
    let column = example(true).column(PLACE.site, 0, PLACE.head, 1).unwrap();
    let sum = format!("It receives {:.6} in all. 9 queries see it, from 1 it is hidden.", column.received);
    assert!(texts.contains(&sum.as_str()), "{sum} is not in {texts:?}");
    assert!(texts.contains(&format!("{:.4}", column.weights[6]).as_str()) && texts.contains(&"queries ↓"));
}

#[test]
fn the_heads_are_a_grid_or_a_list() {
    let grid = text_of(&HEADS);
    let grid = Document::parse(&grid).unwrap();
    let shown = texts(&grid);
    let says = "Every head, self-attention; 10 queries down, 10 keys across, the largest weight";
    for wanted in [says, "head →", "layer ↓", "Hidden, which is not a small weight: the key comes later."] {
        assert!(shown.contains(&wanted), "{wanted} is not in {shown:?}");
    }
    let choice = Choice { by: Some(Statistic::Entropy), ..Choice::default() };
    let list = text_of(&What::Heads { site: PLACE.site, layer: Some(0), choice });
    let list = Document::parse(&list).unwrap();
    let shown = texts(&list);
    let entropy = format!("{:.3}", example(true).heads(None).unwrap()[0].entropy);
    assert!(shown.contains(&"0 · 0") && shown.contains(&entropy.as_str()), "{entropy} is not in {shown:?}");
    let choice = Choice { only: Some("0.7".parse().unwrap()), ..Choice::default() };
    let faint = text_of(&What::Heads { site: PLACE.site, layer: None, choice });
    assert!(!faint.contains("#6d2f06\" height") && faint != text_of(&HEADS), "a head that is not chosen is faint");
}
