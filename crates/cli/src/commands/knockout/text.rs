//! What was changed, as tables for a terminal.

use std::fmt::{Error, Write};

use attnscope_inspect::{TokenAt, Trace};
use attnscope_models::{Effect, Followed, Interventions, Likely};
use attnscope_render::{fit, readable};

use super::Ranking;
use crate::commands::title;
use crate::output::{CAVEAT, number};

/// Columns of a token.
const TOKEN: usize = 16;
/// How many cuts that change nothing are named.
const WARNED: usize = 8;

pub(super) fn effect(
    names: &Trace,
    effect: &Effect,
    interventions: &Interventions,
    top: usize,
) -> Result<String, Error> {
    let mut text = format!("{}\n{interventions}\n", title(names));
    for warning in effect.warnings.iter().take(WARNED) {
        writeln!(text, "note: {warning}")?;
    }
    if effect.warnings.len() > WARNED {
        writeln!(text, "note: {} more change nothing; --json names them all", effect.warnings.len() - WARNED)?;
    }
    match (&effect.before, &effect.after) {
        (Some(before), Some(after)) => {
            writeln!(text, "{}\n", place("prediction", &effect.at))?;
            let half = |side: &str| [fit(side, TOKEN), fit("prob", 9), fit("logit", 9)].join(" ");
            writeln!(text, "{}   {}", half("before"), half("after"))?;
            for (before, after) in before.iter().zip(after) {
                writeln!(text, "{}   {}", likely(before), likely(after))?;
            }
            if let Some(token) = &effect.token {
                writeln!(text, "\n{}", followed(token, effect.logit_diff.unwrap_or(f64::NAN)))?;
            }
            writeln!(text, "KL(before || after) {} nats", number(effect.kl.unwrap_or(f64::NAN)))?;
        }
        _ => moved(&mut text, effect, top)?,
    }
    writeln!(text, "{CAVEAT}")?;
    Ok(text)
}

pub(super) fn ranking(names: &Trace, ranking: &Ranking, top: usize) -> Result<String, Error> {
    let mut text = format!("{}\n", title(names));
    let Ranking { scan, site, at, token, ranked, of, .. } = ranking;
    let followed = token.as_ref().map_or_else(
        || "the last vector".to_owned(),
        |token| format!("the log probability of {}", readable(&token.token)),
    );
    writeln!(text, "{scan} of the {site} attention, each cut alone: how far that moves {followed}")?;
    // Without words there is but one of the numbers.
    let first = if token.is_some() { 0 } else { 4 };
    let what = if token.is_some() { "prediction" } else { "no head that names words: the last vector" };
    writeln!(text, "{}\n", place(what, at))?;
    let which = if *scan == "heads" { "layer.head" } else { "key" };
    let columns = &["log prob", "logit", "prob", "KL", "moved"].map(|name| fit(name, 9))[first..];
    writeln!(text, "{} {}", fit(which, TOKEN + 7), columns.join(" "))?;
    let optional = |x: Option<f64>| x.map_or_else(|| "-".to_owned(), number);
    for one in ranking.ranking.iter().take(top) {
        let which = match (one.layer, one.head, one.key) {
            (Some(layer), Some(head), _) => format!("{layer}.{head}"),
            (_, _, key) => {
                let token = readable(one.token.as_deref().unwrap_or_default());
                format!("{} {}", fit(&key.unwrap_or(0).to_string(), 6), fit(&token, TOKEN))
            }
        };
        let changed = [one.log_prob_diff, one.logit_diff, one.prob, one.kl, Some(one.relative_l2)].map(optional);
        writeln!(text, "{} {}", fit(&which, TOKEN + 7), changed.map(|number| fit(&number, 9))[first..].join(" "))?;
    }
    let rest = ranked.saturating_sub(top);
    if rest > 0 {
        writeln!(text, "{}", fit(&format!("{rest} others"), TOKEN + 7))?;
    }
    if ranked < of {
        writeln!(text, "\nstopped early: {ranked} of {of} were cut")?;
    }
    writeln!(text)?;
    if token.is_some() {
        writeln!(
            text,
            "log prob and logit: how much the token's change; prob: what it is then; KL in nats, of all tokens;"
        )?;
    }
    writeln!(text, "moved: |after - before| / |before| of the last vector there")?;
    writeln!(text, "{CAVEAT}")?;
    Ok(text)
}

fn place(what: &str, at: &TokenAt) -> String {
    format!("{what} at position {} {}", at.index, readable(&at.token))
}

fn likely(Likely { token, prob, logit, .. }: &Likely) -> String {
    [fit(&readable(token), TOKEN), fit(&number(*prob), 9), fit(&number(f64::from(*logit)), 9)].join(" ")
}

/// One token, before and after.
fn followed(Followed { token, prob, logit, rank, .. }: &Followed, diff: f64) -> String {
    let sign = if diff < 0.0 { "" } else { "+" };
    format!(
        "{}: logit {} -> {} ({sign}{}), prob {} -> {}, rank {} -> {}",
        readable(token),
        number(f64::from(logit[0])),
        number(f64::from(logit[1])),
        number(diff),
        number(prob[0]),
        number(prob[1]),
        rank[0],
        rank[1]
    )
}

/// The positions whose vectors moved furthest.
fn moved(text: &mut String, effect: &Effect, top: usize) -> Result<(), Error> {
    writeln!(text, "no head that names words: how far the last vector of each position moved\n")?;
    writeln!(text, "{} {} {}", fit("position", TOKEN + 7), fit("cosine", 11), fit("relative L2", 11))?;
    let mut order: Vec<usize> = (0..effect.vectors.len()).collect();
    order.sort_by(|a, b| effect.vectors[*b].relative_l2.total_cmp(&effect.vectors[*a].relative_l2));
    for moved in order.iter().take(top).map(|at| &effect.vectors[*at]) {
        let which = format!("{} {}", fit(&moved.index.to_string(), 6), fit(&readable(&moved.token), TOKEN));
        writeln!(text, "{which} {} {}", fit(&number(moved.cosine), 11), fit(&number(moved.relative_l2), 11))?;
    }
    let rest = order.len().saturating_sub(top);
    if rest > 0 {
        writeln!(text, "{}", fit(&format!("{rest} others"), TOKEN + 7))?;
    }
    writeln!(text)
}
