use std::fmt::Write;

use attnscope_inspect::{ByValue, Pick, Row, Trace, ValueLength};
use attnscope_models::Source;
use attnscope_render::{bar, fit, readable};
use serde::Serialize;

use crate::output::{CAVEAT, number};

/// A row, and how far its keys move the output.
#[derive(Serialize)]
pub(super) struct Answer<'a> {
    #[serde(flatten)]
    row: &'a Row,
    value: ByValue,
}

/// By the lengths that the source can tell: a trace has no weights, so no projection.
pub(super) fn of<'a>(source: &Source, trace: &Trace, row: &'a Row) -> anyhow::Result<Answer<'a>> {
    let place = (row.site, row.layer, row.head);
    let value = match source {
        Source::Model(model) => {
            trace.by_value(place, row.query.index, ValueLength::Projected, |at| model.value_lengths(trace, at))?
        }
        _ => trace.by_value(place, row.query.index, ValueLength::Value, |at| trace.value_lengths(at))?,
    };
    Ok(Answer { row, value })
}

pub(super) fn text(answer: &Answer, trace: &Trace, top: usize) -> Result<String, std::fmt::Error> {
    let Answer { row, value } = answer;
    let mut text = String::new();
    let head = match row.head {
        Pick::Head(head) => format!("head {head}"),
        Pick::Mean => "mean of all heads".to_owned(),
    };
    let length = match value.by {
        ValueLength::Projected => "|v W_O|",
        ValueLength::Value => "|v|",
    };
    writeln!(text, "layer {}, {head}, {} attention, weights times {length}", row.layer, row.site)?;
    writeln!(text, "query {} {} sees {}\n", row.query.index, readable(&row.query.token), super::keys(row.visible))?;
    let columns = |key: &str, token: &str, rest: [&str; 4]| {
        format!("{} {} {}", fit(key, 6), fit(token, 16), rest.map(|column| fit(column, 9)).join(" "))
    };
    writeln!(text, "{}", columns("key", "", ["weight", length, "product", "share"]))?;
    let mut order: Vec<usize> = (0..row.weights.len()).filter(|key| row.mask[*key].is_none()).collect();
    order.sort_by(|a, b| value.moved[*b].total_cmp(&value.moved[*a]));
    let (shown, others) = order.split_at(top.min(order.len()));
    for key in shown {
        let token = trace.key_tokens(row.site).get(*key).map(|token| readable(&token.text)).unwrap_or_default();
        let long = value.lengths.as_ref().map_or_else(|| "-".to_owned(), |lengths| number(lengths[*key]));
        let (weight, moved) = (number(row.weights[*key]), number(value.moved[*key]));
        let share = value.shares[*key];
        let percent = format!("{:.1} %", 100.0 * share);
        writeln!(text, "{} {}", columns(&key.to_string(), &token, [&weight, &long, &moved, &percent]), bar(share, 30))?;
    }
    if !others.is_empty() {
        let sum = |of: &[f64]| others.iter().map(|key| of[*key]).sum::<f64>();
        let (weight, moved) = (number(sum(&row.weights)), number(sum(&value.moved)));
        let share = sum(&value.shares);
        let percent = format!("{:.1} %", 100.0 * share);
        let name = format!("{} others", others.len());
        writeln!(text, "{} {}", columns("", &name, [&weight, "", &moved, &percent]), bar(share, 30))?;
    }
    if let Some(doubt) = row.doubt() {
        writeln!(text, "\n{doubt}")?;
    }
    match value.by {
        ValueLength::Projected => writeln!(
            text,
            "\n|v W_O| is the length of a key's value behind the head's slice of the output projection."
        )?,
        ValueLength::Value => {
            writeln!(text, "\nThis source has no output projection: |v| is the length of the value itself.")?
        }
    }
    writeln!(text, "{CAVEAT}")?;
    Ok(text)
}
