use attnscope_inspect::example::Example;
use attnscope_inspect::{At, Pick, SiteKind, Token, Trace};
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
