use attnscope_inspect::example::Example;
use attnscope_inspect::{At, Pick, SiteKind, Tensor, Token, Trace};
use attnscope_kernel::{Bias, Isa, KeyPadding, Knockout, Params, RelativeBias, Segments, View, Window, forward};
use attnscope_render::{Choice, Format, Place, Style, What, export};

pub(crate) const PLACE: Place = Place { site: SiteKind::SelfAttention, layer: 0, head: Pick::Head(0) };
pub(crate) const MAP: What = What::Map { place: PLACE, queries: None, keys: None };
pub(crate) const MARKUP: &str = "<img src=x onerror=alert(1)>";

/// The worked example.
pub(crate) fn example(causal: bool) -> Trace {
    Example::load().trace(causal).unwrap()
}

/// The worked example with tokens, a text and a name that are up to no good.
pub(crate) fn hostile() -> Trace {
    let mut trace = example(true);
    trace.model.name = format!("name {MARKUP} ]]> \0");
    trace.model.note = format!("note {MARKUP}");
    trace.text = format!("text {MARKUP} & \u{1b}[31m\n\u{202e}next");
    for (index, text) in ["\"", MARKUP, "\0\u{1b}\u{ffff}", "=1+1", " a,b\n", "'/>", "&lt;", "漢", "\u{202e}", "-->"]
        .into_iter()
        .enumerate()
    {
        trace.tokens[index] = Token::plain(None, text);
    }
    trace
}

/// The worked example's q, k and v with every term and mask that attention may have.
pub(crate) fn everything() -> Trace {
    let mut trace = example(true);
    let site = &mut trace.sites[0];
    let bias: Vec<f32> = (0..100).map(|at| (at % 7) as f32 / 9.0).collect();
    let table: Vec<f32> = (0..8).map(|at| at as f32 / 8.0).collect();
    site.params = Params {
        window: Some(Window { left: 6, right: 0 }),
        softcap: Some(1.5),
        alibi_slopes: Some([0.25].into()),
        relative_bias: Some(RelativeBias::new(table, 8, 32, true).unwrap()),
        bias: Some(Bias::new(bias, [1, 1, 10, 10]).unwrap()),
        sinks: Some([0.5].into()),
        segments: Some(Segments::of_lens(&[3, 7]).unwrap()),
        key_padding: Some(KeyPadding::new((0..10).map(|key| key != 4).collect::<Vec<_>>())),
        knockouts: vec![
            Knockout { head: Some(0), query: Some(8), key: Some(7) },
            Knockout { head: None, query: None, key: Some(5) },
        ],
        ..site.params.clone()
    };
    let view = |tensor: &Tensor| -> Vec<f32> { tensor.data.to_vec() };
    let (q, k, v) = (view(&site.q), view(&site.k), view(&site.v));
    let of = |data, tensor: &Tensor| View::new(data, [1, tensor.shape[0], tensor.shape[1], tensor.shape[2]]).unwrap();
    let done = forward(of(&q, &site.q), of(&k, &site.k), of(&v, &site.v), &site.params, Isa::detect()).unwrap();
    site.out = Tensor::new(done.out, site.out.shape);
    site.lse = done.lse.into();
    trace
}

pub(crate) fn file(trace: &Trace, what: &What, style: &Style, format: Format) -> Vec<u8> {
    export(trace, what, style, format).unwrap().bytes
}

pub(crate) fn text(trace: &Trace, what: &What, format: Format) -> String {
    String::from_utf8(file(trace, what, &Style::default(), format)).unwrap()
}

/// Every head of the example.
pub(crate) const HEADS: What =
    What::Heads { site: SiteKind::SelfAttention, layer: None, choice: Choice { by: None, rising: false, only: None } };

/// One question of each kind.
pub(crate) fn questions() -> [What; 5] {
    let at = At { site: SiteKind::SelfAttention, layer: 0, head: 0 };
    let column = What::Column { place: PLACE, key: 1 };
    [MAP, What::Row { place: PLACE, query: 6 }, column, What::Cell { at, query: 6, key: 1 }, HEADS]
}
