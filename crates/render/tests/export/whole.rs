use std::path::Path;

use attnscope_inspect::{Model, Site, SiteKind, Tensor, Token, Trace};
use attnscope_kernel::{Isa, Params, View, forward};
use attnscope_render::{Blocks, Choice, Format, Style, What, export};

use crate::support::{MAP, PLACE, example, questions};

/// A causal head over `len` tokens.
fn long(len: usize) -> Trace {
    let numbers: Vec<f32> = (0..len * 4).map(|at| ((at * 7919) % 1009) as f32 / 300.0).collect();
    let view = || View::new(&numbers, [1, len, 1, 4]).unwrap();
    let params = Params { causal: true, ..Params::for_head_dim(4) };
    let done = forward(view(), view(), view(), &params, Isa::detect()).unwrap();
    let tensor = |data: Vec<f32>| Tensor::new(data, [len, 1, 4]);
    let site = Site {
        kind: SiteKind::SelfAttention,
        layer: 0,
        params,
        q: tensor(numbers.clone()),
        k: tensor(numbers.clone()),
        v: tensor(numbers.clone()),
        out: tensor(done.out),
        lse: done.lse.into(),
    };
    let tokens = (0..len).map(|index| Token::plain(None, format!(" t{index}"))).collect();
    Trace::new(Model::default(), String::new(), tokens, vec![site]).unwrap()
}

#[test]
fn the_same_question_always_gives_the_same_bytes() {
    let trace = example(true);
    for what in questions() {
        for format in Format::ALL {
            let once = export(&trace, &what, &Style::default(), format);
            let again = export(&trace, &what, &Style::default(), format);
            let (once, again) = (once.unwrap(), again.unwrap());
            assert!(once == again && !once.bytes.is_empty(), "{what:?} {format:?}");
        }
    }
}

#[test]
fn json_holds_every_bit() {
    let trace = example(true);
    let json = export(&trace, &MAP, &Style::default(), Format::Json).unwrap().bytes;
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    let row = trace.picked_row(PLACE.site, 0, PLACE.head, 6).unwrap();
    assert_eq!(json["weights"][6][1].as_f64().unwrap().to_bits(), row.weights[1].to_bits());
    assert!(json["weights"][0][1].is_null());
    assert_eq!(json["keys"], serde_json::json!([0, 10]));
}

#[test]
fn a_long_map_is_pooled_and_says_so() {
    let trace = long(1500);
    for format in [Format::Png, Format::Svg] {
        let exported = export(&trace, &MAP, &Style { dpi: 96, ..Style::default() }, format).unwrap();
        assert_eq!(exported.note.unwrap(), "each cell shows the largest weight of a block of 2 x 2");
        assert!(exported.bytes.len() < 2_000_000);
        if format == Format::Svg {
            let svg = String::from_utf8(exported.bytes).unwrap();
            assert!(svg.contains("data:image/png;base64,") && svg.contains("a block of 2 x 2"));
        }
    }
    let mean = Style { dpi: 96, blocks: Blocks::Mean, ..Style::default() };
    let exported = export(&trace, &MAP, &mean, Format::Png).unwrap();
    assert_eq!(exported.note.unwrap(), "each cell shows the mean weight of a block of 2 x 2");
    // A part that has room is exact.
    let part = What::Map { place: PLACE, queries: Some(1000..1100), keys: Some(1000..1100) };
    assert_eq!(export(&trace, &part, &Style::default(), Format::Png).unwrap().note, None);
}

#[test]
fn a_long_row_leaves_out_the_weak_and_says_so() {
    let what = What::Row { place: PLACE, query: 99 };
    let note = export(&long(100), &what, &Style::default(), Format::Svg).unwrap().note.unwrap();
    assert_eq!(note, "The 32 strongest keys, and the sum of the other 68.");
}

#[test]
fn what_cannot_be_is_said() {
    let trace = example(true);
    let fails = |what: &What, style: &Style, format| export(&trace, what, style, format).unwrap_err().to_string();
    let part = |queries| What::Map { place: PLACE, queries: Some(queries), keys: None };
    let plain = Style::default();
    assert!(fails(&part(3..3), &plain, Format::Png).contains("queries 3..3"));
    assert!(fails(&part(5..11), &plain, Format::Csv).contains("within 0..10"));
    let cross = What::Heads { site: SiteKind::Cross, layer: None, choice: Choice::default() };
    for format in [Format::Svg, Format::Json] {
        assert!(fails(&cross, &plain, format).contains("no cross attention"));
    }
    assert!(fails(&MAP, &Style { cell: Some(f32::NAN), ..plain.clone() }, Format::Svg).contains("cells of NaN pixels"));
    assert!(fails(&MAP, &Style { dpi: 0, ..plain.clone() }, Format::Png).contains("0 dots to the inch"));
    let huge = Style { cell: Some(200.0), dpi: 1200, ..plain };
    assert!(fails(&MAP, &huge, Format::Png).contains("is too large"));
    assert!(Format::of(Path::new("a.gif")).unwrap_err().to_string().contains("png, svg, html, npz, json or csv"));
    assert_eq!(Format::of(Path::new("a/B.PNG")).unwrap(), Format::Png);
}
