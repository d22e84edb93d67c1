use std::fmt::Write;

use attnscope_inspect::SiteKind;
use attnscope_models::{Contribution, Direct, Looking};
use attnscope_render::{bar, fit, readable};

use super::super::{asked, model};
use crate::args::HeadsArgs;
use crate::output::{self, number};

pub(super) fn run(args: &HeadsArgs, token: &str) -> anyhow::Result<()> {
    let model = model(&args.reading, "has heads that add to a logit")?;
    let prompt = asked(&args.reading, &model)?;
    let id = model.token_id(token)?;
    let bar = output::progress("reading");
    let progress = |done, all| {
        output::advance(&bar, done, all);
        true
    };
    let looking = Looking { prompt: &prompt, at: args.readings.at.as_deref(), progress: &progress };
    let mut direct = model.direct(&looking, id)?;
    bar.finish_and_clear();
    let of_heads = direct.heads.iter().map(|head| head.contribution).sum();
    if let Some(layer) = args.layer {
        direct.heads.retain(|head| head.layer == layer);
        if direct.heads.is_empty() {
            anyhow::bail!("layer {layer} is out of range: there are layers 0 to {}", model.shape().layers - 1);
        }
    }
    if args.json {
        return output::json(&direct);
    }
    output::print(&format!("{}\n{}", model.name(), text(&direct, of_heads, args.readings.top)?))
}

fn text(direct: &Direct, of_heads: f64, top: usize) -> Result<String, std::fmt::Error> {
    let mut text = String::new();
    let Direct { position, token, heads, .. } = direct;
    writeln!(
        text,
        "what each head adds directly to the logit of token {} {} at position {} {}",
        token.id,
        readable(&token.token),
        position.index,
        readable(&position.token)
    )?;
    writeln!(text, "logit {}, probability {}\n", number(f64::from(token.logit)), number(token.prob))?;
    let crosses = heads.iter().any(|head| head.site == SiteKind::Cross);
    let site = |of: &str| if crosses { " ".to_owned() + &fit(of, 6) } else { String::new() };
    writeln!(text, "{}{} {} {}", fit("layer", 7), site("site"), fit("head", 5), fit("adds", 11))?;
    let largest = heads.first().map_or(0.0, |head| head.contribution.abs());
    let (shown, others) = heads.split_at(top.min(heads.len()));
    for Contribution { site: kind, layer, head, contribution } in shown {
        let (site, layer, head) = (site(kind.name()), fit(&layer.to_string(), 7), fit(&head.to_string(), 5));
        let part = if largest > 0.0 { contribution.abs() / largest } else { 0.0 };
        writeln!(text, "{layer}{site} {head} {} {}", fit(&signed(*contribution), 11), bar(part, 30))?;
    }
    let mut line = |what: &str, value: f64| writeln!(text, "{} {}", fit(what, 30), fit(&signed(value), 11));
    if !others.is_empty() {
        line(&format!("{} others of them", others.len()), others.iter().map(|head| head.contribution).sum())?;
    }
    line("all heads", of_heads)?;
    line("biases behind the heads", direct.attention_biases)?;
    line("feed-forward nets", direct.feed_forward.iter().sum())?;
    line("embedding", direct.embedding)?;
    line("biases of last norm and head", direct.last_biases)?;
    line("their sum", direct.sum)?;
    line(if direct.softcap.is_some() { "the logit before its softcap" } else { "the logit" }, direct.uncapped)?;
    if let Some(cap) = direct.softcap {
        writeln!(text, "\nThe model's logit is {cap} tanh(x / {cap}) of that sum, its softcap.")?;
    }
    writeln!(
        text,
        "\nThe last norm is held at the scale that it has here. What a head does by way of later layers is not in it."
    )?;
    Ok(text)
}

/// A number with its sign, which is what tells.
fn signed(x: f64) -> String {
    let shown = number(x);
    if x > 0.0 { format!("+{shown}") } else { shown }
}
