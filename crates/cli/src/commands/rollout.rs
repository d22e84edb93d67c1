use std::fmt::Write;

use attnscope_inspect::{Rollout, SiteKind, Trace, Wanted};
use attnscope_models::Keep;
use attnscope_render::{bar, fit, readable};

use super::{read, title};
use crate::args::RolloutArgs;
use crate::output::{self, number};

/// What rounding never makes of a sum.
const OFF: f64 = 1e-3;

pub(crate) fn run(args: RolloutArgs) -> anyhow::Result<()> {
    let trace = read(&args.reading, Keep::All, args.site.kind())?;
    let query = trace.find_query(args.site.kind(), &args.query)?;
    let rollout = trace.rollout(args.site.kind(), query, Wanted::ALWAYS)?;
    if args.json {
        return output::json(&rollout);
    }
    output::print(&format!("{}\n{}", title(&trace), text(&rollout, &trace, args.top)?))
}

fn text(rollout: &Rollout, trace: &Trace, top: usize) -> Result<String, std::fmt::Error> {
    let mut text = String::new();
    let Rollout { site, layers, query, weights, sum, .. } = rollout;
    writeln!(text, "rollout through {layers} layers of {site} attention, the mean of all heads in each")?;
    writeln!(text, "query {} {}\n", query.index, readable(&query.token))?;
    let mut order: Vec<usize> = (0..weights.len()).filter(|key| weights[*key] > 0.0).collect();
    order.sort_by(|a, b| weights[*b].total_cmp(&weights[*a]));
    let (shown, others) = order.split_at(top.min(order.len()));
    for key in shown {
        let token = trace.key_tokens(*site).get(*key).map(|token| readable(&token.text)).unwrap_or_default();
        let weight = weights[*key];
        writeln!(text, "{key:>6} {} {} {}", fit(&token, 16), fit(&number(weight), 9), bar(weight, 40))?;
    }
    if !others.is_empty() {
        let left = others.iter().map(|key| weights[*key]).sum();
        writeln!(text, "{} {} {}", fit(&format!("{} others", others.len()), 23), fit(&number(left), 9), bar(left, 40))?;
    }
    writeln!(text, "{} {}", fit("sum", 23), fit(&format!("{sum:.6}"), 9))?;
    if *sum < 1.0 - OFF {
        writeln!(text, "\nwhat is missing went to sinks, or to rows that see nothing")?;
    } else if sum.is_nan() || *sum > 1.0 + OFF {
        writeln!(text, "\nshares sum to no more than 1: the lse of some row does not fit its scores")?;
    }
    if *site == SiteKind::SelfAttention && trace.encoder.is_some() {
        writeln!(text, "\nwhat the decoder hears from the encoder is not in it")?;
    }
    writeln!(
        text,
        "\nIt takes every head for equal, and half of every layer for passing on what was there: an observation of the"
    )?;
    writeln!(text, "maps, which says nothing of values, norms and feed-forward nets.")?;
    Ok(text)
}
