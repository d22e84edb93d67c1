use std::fmt::Write;

use attnscope_inspect::{At, Cell};
use attnscope_models::Keep;
use attnscope_render::{fit, readable};

use super::{read, title};
use crate::args::CellArgs;
use crate::output::{self, CAVEAT, number};

/// Products shown of a long pair of vectors.
const SHOWN: usize = 8;

pub(crate) fn run(args: CellArgs) -> anyhow::Result<()> {
    let trace = read(&args.reading, Keep::Only(args.place.layer))?;
    let at = At { site: args.place.kind(), layer: args.place.layer, head: args.head };
    let cell = trace.cell(at, trace.find_query(&args.query)?, trace.find_key(&args.key)?)?;
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

    let dims = cell.products.len();
    let mut order: Vec<usize> = (0..dims).collect();
    if dims > SHOWN {
        order.sort_by(|a, b| cell.products[*b].abs().total_cmp(&cell.products[*a].abs()));
        writeln!(text, "the {SHOWN} largest of {dims} products:")?;
    }
    writeln!(text, "{} {} {} {}", fit("dim", 7), fit("q", 11), fit("k", 11), fit("q x k", 11))?;
    for &dim in order.iter().take(SHOWN) {
        let [q, k] = [cell.q[dim], cell.k[dim]].map(|x| fit(&number(f64::from(x)), 11));
        writeln!(text, "{dim:>7} {q} {k} {}", fit(&number(cell.products[dim]), 11))?;
    }
    if dims > SHOWN {
        let rest: f64 = order[SHOWN..].iter().map(|dim| cell.products[*dim]).sum();
        writeln!(text, "{} {}", fit(&format!("the other {}", dims - SHOWN), 31), fit(&number(rest), 11))?;
    }
    let mut line = |what: &str, value: String| writeln!(text, "{} {}", fit(what, 31), fit(&value, 11));
    line("their sum, q . k", number(cell.dot))?;
    for (what, value) in cell.steps() {
        line(&what.replace('×', "x").replace('−', "-"), number(value))?;
    }
    match (cell.mask, cell.lse) {
        (Some(reason), _) => line("hidden from the query", reason.replace('_', " "))?,
        (None, Some(lse)) => {
            line("- log-sum-exp of the row", number(lse))?;
            line("= log weight", number(cell.log_weight.unwrap_or(f64::NEG_INFINITY)))?;
        }
        (None, None) => line("log-sum-exp of the row", "none".to_owned())?,
    }
    line(if cell.mask.is_some() { "so its weight" } else { "weight = exp of it" }, number(cell.weight))?;
    line("all weights of the row", format!("{:.6}", cell.row_sum))?;
    if let Some(sink) = cell.sink {
        line("the head's sink takes", format!("{sink:.6}"))?;
    }
    line("its value's share of the output", format!("{:.1} %", cell.share * 100.0))?;
    writeln!(text, "\n{CAVEAT}")?;
    Ok(text)
}
