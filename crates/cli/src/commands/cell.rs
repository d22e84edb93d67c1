use std::fmt::Write;

use attnscope_inspect::{At, Cell};
use attnscope_models::Keep;
use attnscope_render::{fit, readable};

use super::{read, title};
use crate::args::CellArgs;
use crate::output::{self, CAVEAT, number};

/// Products shown of a long pair of vectors.
const SHOWN: usize = 8;
/// Columns of what a line is about, if none is longer.
const WIDE: usize = 31;

pub(crate) fn run(args: CellArgs) -> anyhow::Result<()> {
    let trace = read(&args.reading, Keep::Only(args.place.layer), args.place.kind())?;
    let at = At { site: args.place.kind(), layer: args.place.layer, head: args.head };
    let cell = trace.cell(at, trace.find_query(at.site, &args.query)?, trace.find_key(at.site, &args.key)?)?;
    if args.json {
        return output::json(&cell);
    }
    output::print(&format!("{}\n{}", title(&trace), text(&cell)?))
}

/// The whole calculation, one step a line.
fn text(cell: &Cell) -> Result<String, std::fmt::Error> {
    let mut text = String::new();
    let Cell { layer, head, kv_head, site, query, key, .. } = cell;
    let shares = if head == kv_head { String::new() } else { format!(" (reads kv head {kv_head})") };
    writeln!(text, "layer {layer}, head {head}{shares}, {site} attention")?;
    writeln!(
        text,
        "query {} {}  ->  key {} {}\n",
        query.index,
        readable(&query.token),
        key.index,
        readable(&key.token)
    )?;

    let mut lines: Vec<(String, String)> = vec![("their sum, q . k".to_owned(), number(cell.dot))];
    let mut line = |what: &str, value: String| lines.push((what.to_owned(), value));
    for (what, value) in cell.steps() {
        line(&what.replace('×', "x").replace('−', "-"), number(value));
    }
    let known = |x: Option<f64>| x.filter(|x| x.is_finite()).map_or_else(|| "not a number".to_owned(), number);
    if let Some(reason) = cell.mask {
        line("hidden from the query", reason.replace('_', " "));
    } else {
        line("- log-sum-exp of the row", known(cell.lse));
        line("= log weight", known(cell.log_weight));
    }
    line(if cell.mask.is_some() { "so its weight" } else { "weight = exp of it" }, known(Some(cell.weight)));
    let six = |x: f64| if x.is_finite() { format!("{x:.6}") } else { "not a number".to_owned() };
    line("all weights of the row", six(cell.row_sum));
    if let Some(sink) = cell.sink {
        line("the head's sink takes", six(sink));
    }
    let share = if cell.share.is_finite() { format!("{:.1} %", cell.share * 100.0) } else { known(None) };
    line("its value's share of the output", share);
    // Nothing is cut: the longest decides.
    let wide = lines.iter().map(|(what, _)| what.chars().count()).fold(WIDE, usize::max);
    let room = " ".repeat(wide - WIDE);

    let dims = cell.products.len();
    let mut order: Vec<usize> = (0..dims).collect();
    if dims > SHOWN {
        order.sort_by(|a, b| cell.products[*b].abs().total_cmp(&cell.products[*a].abs()));
        writeln!(text, "the {SHOWN} largest of {dims} products:")?;
    }
    writeln!(text, "{room}{} {} {} {}", fit("dim", 7), fit("q", 11), fit("k", 11), fit("q x k", 11))?;
    for &dim in order.iter().take(SHOWN) {
        let [q, k] = [cell.q[dim], cell.k[dim]].map(|x| fit(&number(f64::from(x)), 11));
        writeln!(text, "{room}{dim:>7} {q} {k} {}", fit(&number(cell.products[dim]), 11))?;
    }
    if dims > SHOWN {
        let rest: f64 = order[SHOWN..].iter().map(|dim| cell.products[*dim]).sum();
        writeln!(text, "{} {}", fit(&format!("the other {}", dims - SHOWN), wide), fit(&number(rest), 11))?;
    }
    for (what, value) in &lines {
        writeln!(text, "{what:>wide$} {value:>11}")?;
    }
    if let Some(doubt) = cell.doubt() {
        writeln!(text, "\n{doubt}")?;
    }
    writeln!(text, "\n{CAVEAT}")?;
    Ok(text)
}
