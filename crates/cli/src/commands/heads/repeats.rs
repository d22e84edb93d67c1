use std::fmt::Write;

use anyhow::bail;
use attnscope_inspect::{Repeats, SiteKind, Wanted};
use attnscope_models::{Keep, Probe};
use attnscope_render::fit;

use super::super::{model, read, title};
use crate::args::HeadsArgs;
use crate::output::{self, CAVEAT, number};

/// How many heads are named at the end for each score.
const NAMED: usize = 5;

/// One of the three; none where there is nothing to measure it on.
type Score = fn(&Repeats) -> Option<f64>;

/// On random tokens said twice.
pub(super) fn probe(args: &HeadsArgs) -> anyhow::Result<()> {
    let model = model(&args.reading, "can be given random tokens to read")?;
    let bar = output::progress("probing");
    let progress = |done, all| {
        output::advance(&bar, done, all);
        true
    };
    let probe = Probe { seed: args.readings.seed, len: args.readings.probe_len };
    let mut heads = model.probe(probe, &progress)?;
    bar.finish_and_clear();
    if let Some(layer) = args.layer {
        heads.retain(|head| head.layer == layer);
        if heads.is_empty() {
            bail!("layer {layer} is out of range: there are layers 0 to {}", model.shape().layers - 1);
        }
    }
    let read = format!("{} tokens drawn at random (seed {}), said twice", probe.len, probe.seed);
    print(args, &format!("{}\n{read}", model.name()), &heads)
}

/// On the text that is read.
pub(super) fn of_text(args: &HeadsArgs) -> anyhow::Result<()> {
    let trace = read(&args.reading, args.layer.map_or(Keep::All, Keep::Only), None)?;
    let heads = trace.repeats(args.layer, Wanted::ALWAYS)?;
    print(args, &title(&trace), &heads)
}

fn print(args: &HeadsArgs, title: &str, heads: &[Repeats]) -> anyhow::Result<()> {
    if args.json {
        return output::json(&heads);
    }
    output::print(&format!("{title}\n\n{}", text(heads)?))
}

fn text(heads: &[Repeats]) -> Result<String, std::fmt::Error> {
    let mut text = String::new();
    let optional = |x: Option<f64>| x.map_or_else(|| "-".to_owned(), number);
    let encoder = heads.iter().any(|head| head.site == SiteKind::Encoder);
    let site = |of: &str| if encoder { fit(of, 8) + " " } else { String::new() };
    let line = |kind: &str, columns: [&str; 5]| site(kind) + &columns.map(|column| fit(column, 10)).join(" ");
    writeln!(text, "{}", line("site", ["layer", "head", "previous", "duplicate", "induction"]))?;
    for head in heads {
        let (layer, number_of) = (head.layer.to_string(), head.head.to_string());
        let scores = [optional(head.previous), optional(head.duplicate), optional(head.induction)];
        writeln!(text, "{}", line(head.site.name(), [&layer, &number_of, &scores[0], &scores[1], &scores[2]]))?;
    }
    writeln!(text)?;
    let scores: [(&str, Score); 3] = [
        ("previous", |head| head.previous),
        ("duplicate", |head| head.duplicate),
        ("induction", |head| head.induction),
    ];
    for (name, score) in scores {
        let mut best: Vec<(f64, &Repeats)> = heads.iter().filter_map(|head| Some((score(head)?, head))).collect();
        best.sort_by(|a, b| b.0.total_cmp(&a.0));
        let named = best.iter().take(NAMED).map(|(score, head)| {
            let stack = if encoder { format!("{} ", head.site) } else { String::new() };
            format!("{stack}{}.{} {}", head.layer, head.head, number(*score))
        });
        let named: Vec<String> = named.collect();
        if !named.is_empty() {
            writeln!(text, "{name:>9}: {}", named.join(", "))?;
        }
    }
    writeln!(
        text,
        "\nmean weights: on the token before; on earlier occurrences of the query's token; on what followed those"
    )?;
    writeln!(text, "{CAVEAT}")?;
    Ok(text)
}
