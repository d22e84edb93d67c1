mod by_value;

use std::fmt::Write;

use attnscope_inspect::{Pick, Row, Trace};
use attnscope_models::Keep;
use attnscope_render::{bar, fit, readable};

use super::{read_from, title};
use crate::args::{By, RowArgs};
use crate::output::{self, CAVEAT, number};

pub(crate) fn run(args: RowArgs) -> anyhow::Result<()> {
    let (source, trace) = read_from(&args.reading, Keep::Only(args.place.layer), args.place.kind())?;
    let query = trace.find_query(args.place.kind(), &args.query)?;
    let row = trace.picked_row(args.place.kind(), args.place.layer, args.head, query)?;
    if args.by == By::Value {
        let answer = by_value::of(&source, &trace, &row)?;
        if args.json {
            return output::json(&answer);
        }
        return output::print(&format!("{}\n{}", title(&trace), by_value::text(&answer, &trace, args.top)?));
    }
    if args.json {
        return output::json(&row);
    }
    output::print(&format!("{}\n{}", title(&trace), text(&row, &trace, args.top)?))
}

/// The row as a budget: the largest shares, and what remains.
fn text(row: &Row, trace: &Trace, top: usize) -> Result<String, std::fmt::Error> {
    let mut text = String::new();
    let head = match row.head {
        Pick::Head(head) => format!("head {head}"),
        Pick::Mean => "mean of all heads".to_owned(),
    };
    let hidden = row.weights.len() - row.visible;
    writeln!(text, "layer {}, {head}, {} attention", row.layer, row.site)?;
    writeln!(
        text,
        "query {} {} sees {}; {hidden} {} hidden\n",
        row.query.index,
        readable(&row.query.token),
        keys(row.visible),
        if hidden == 1 { "is" } else { "are" }
    )?;
    let mut left = row.row_sum;
    for key in strongest(row, top) {
        let weight = row.weights[key];
        left -= weight;
        let token = trace.key_tokens(row.site).get(key).map(|token| readable(&token.text)).unwrap_or_default();
        writeln!(text, "{key:>6} {} {} {}", fit(&token, 16), fit(&number(weight), 9), bar(weight, 40))?;
    }
    let others = row.visible.saturating_sub(top);
    if others > 0 {
        let left = if left < 0.0 { 0.0 } else { left };
        writeln!(text, "{} {} {}", fit(&format!("{others} others"), 23), fit(&number(left), 9), bar(left, 40))?;
    }
    writeln!(text, "{} {}", fit("sum", 23), fit(&format!("{:.6}", row.row_sum), 9))?;
    if let Some(sink) = row.sink {
        let whose = if row.head == Pick::Mean { "the heads' sinks" } else { "the head's sink" };
        writeln!(text, "{} {} {}", fit(whose, 23), fit(&format!("{sink:.6}"), 9), bar(sink, 40))?;
    }
    match (row.effective(), row.sink) {
        // Of what the keys have, whatever a sink takes.
        (Some(as_many), _) => {
            let entropy = as_many.ln() + 0.0;
            writeln!(text, "\nentropy {entropy:.3} nats: as spread out as {as_many:.1} keys with equal weights")?;
        }
        (None, Some(_)) if row.visible == 0 => writeln!(text, "\nit sees no key: the sink takes it all")?,
        (None, None) if row.visible == 0 => writeln!(text, "\nit sees no key and attends to nothing")?,
        (None, _) => writeln!(text)?,
    }
    if let Some(doubt) = row.doubt() {
        writeln!(text, "{doubt}")?;
    }
    writeln!(text, "{CAVEAT}")?;
    Ok(text)
}

/// So many keys, in words.
fn keys(count: usize) -> String {
    if count == 1 { "1 key".to_owned() } else { format!("{count} keys") }
}

/// The `top` visible keys with the largest weights, the largest first.
fn strongest(row: &Row, top: usize) -> Vec<usize> {
    let mut keys: Vec<usize> = (0..row.weights.len()).filter(|key| row.mask[*key].is_none()).collect();
    keys.sort_by(|a, b| row.weights[*b].total_cmp(&row.weights[*a]));
    keys.truncate(top);
    keys
}
