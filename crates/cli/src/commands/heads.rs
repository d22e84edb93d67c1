mod logit;
mod repeats;

use std::fmt::Write;
use std::sync::atomic::{AtomicUsize, Ordering};

use attnscope_inspect::{HeadStats, SiteKind, Wanted};
use attnscope_models::Keep;
use attnscope_render::fit;

use super::{read, title};
use crate::args::{HeadReadings, HeadsArgs};
use crate::output::{self, CAVEAT, number};

pub(crate) fn run(args: HeadsArgs) -> anyhow::Result<()> {
    match &args.readings {
        HeadReadings { logit: Some(token), .. } => logit::run(&args, token),
        HeadReadings { probe: true, .. } => repeats::probe(&args),
        HeadReadings { repeats: true, .. } => repeats::of_text(&args),
        _ => statistics(&args),
    }
}

fn statistics(args: &HeadsArgs) -> anyhow::Result<()> {
    let trace = read(&args.reading, args.layer.map_or(Keep::All, Keep::Only), None)?;
    let bar = output::progress("heads");
    let all = trace.sites.iter().map(|site| site.q_heads()).sum();
    let done = AtomicUsize::new(0);
    let advance = |_: &HeadStats| output::advance(&bar, done.fetch_add(1, Ordering::Relaxed) + 1, all);
    let heads = trace.heads_with(args.layer, Wanted::ALWAYS, advance)?;
    bar.finish_and_clear();
    if args.json {
        return output::json(&heads);
    }
    output::print(&format!("{}\n{}", title(&trace), text(&heads)?))
}

fn text(heads: &[HeadStats]) -> Result<String, std::fmt::Error> {
    let mut text = String::new();
    let names =
        ["layer", "head", "entropy", "first", "self", "previous", "distance", "row sum err", "output err", "proof"];
    // An encoder-decoder has heads of one layer and number in each of its attentions.
    let several = heads.iter().any(|head| head.site != SiteKind::SelfAttention);
    let site = |of: &str| if several { fit(of, 8) + " " } else { String::new() };
    writeln!(text, "{}{}", site("site"), names.map(|name| fit(name, 11)).join(" "))?;
    let optional = |x: Option<f64>| x.map_or_else(|| "-".to_owned(), number);
    for head in heads {
        let columns = [
            head.layer.to_string(),
            head.head.to_string(),
            number(head.entropy),
            number(head.first),
            optional(head.own),
            optional(head.previous),
            optional(head.distance),
            format!("{:.1e}", head.proof.row_sum_error),
            format!("{:.1e}", head.proof.output_error),
            if head.proof.holds() { "proven" } else { "not proven" }.to_owned(),
        ];
        writeln!(text, "{}{}", site(head.site.name()), columns.map(|column| fit(&column, 11)).join(" "))?;
    }
    writeln!(text, "\nentropy in nats; first, self and previous are mean weights; distance in tokens")?;
    let failed = heads.iter().filter(|head| !head.proof.holds()).count();
    let verdict = match failed {
        0 => "proven: the weights shown are the ones that made the output, to 1e-5".to_owned(),
        _ => {
            format!("{failed} of {} heads are not proven: their weights do not give their output to 1e-5", heads.len())
        }
    };
    writeln!(text, "{verdict}")?;
    writeln!(text, "{CAVEAT}")?;
    Ok(text)
}
