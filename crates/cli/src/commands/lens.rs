use std::fmt::Write;

use attnscope_models::{Lens, Looking};
use attnscope_render::{fit, readable};

use super::{asked, model};
use crate::args::LensArgs;
use crate::output::{self, number};

/// Columns of a token and its probability.
const TOKEN: usize = 13;

pub(crate) fn run(args: LensArgs) -> anyhow::Result<()> {
    let model = model(&args.reading, "says something after each of its layers")?;
    let prompt = asked(&args.reading, &model)?;
    let bar = output::progress("reading");
    let progress = |done, all| {
        output::advance(&bar, done, all);
        true
    };
    let looking = Looking { prompt: &prompt, at: args.at.as_deref(), progress: &progress };
    let lens = model.lens(&looking, args.top)?;
    bar.finish_and_clear();
    if args.json {
        return output::json(&lens);
    }
    output::print(&format!("{}\n{}", model.name(), text(&lens, model.shape().causal)?))
}

fn text(lens: &Lens, causal: bool) -> Result<String, std::fmt::Error> {
    let mut text = String::new();
    let what = if causal { "what comes after" } else { "what stands at" };
    let (at, said) = (&lens.position, &lens.said);
    writeln!(
        text,
        "{what} position {} {}: the model says {} with probability {}\n",
        at.index,
        readable(&at.token),
        readable(&said.token),
        number(said.prob)
    )?;
    let shown = lens.layers.first().map_or(0, |layer| layer.top.len());
    let names = ["likeliest", "then"].into_iter().chain(std::iter::repeat("")).take(shown);
    let tokens: String = names.map(|name| " ".to_owned() + &fit(name, TOKEN + 7)).collect();
    writeln!(text, "{}{tokens} {} {} {}", fit("layer", 9), fit("rank", 7), fit("prob", 9), fit("kl", 9))?;
    for layer in &lens.layers {
        write!(text, "{}", fit(&layer.layer.map_or_else(|| "embedding".to_owned(), |layer| layer.to_string()), 9))?;
        for guess in &layer.top {
            write!(text, " {} {:>6.4}", fit(&readable(&guess.token), TOKEN), guess.prob)?;
        }
        let [rank, prob, kl] = [layer.rank.to_string(), number(layer.prob), number(layer.kl)];
        writeln!(text, " {} {} {}", fit(&rank, 7), fit(&prob, 9), fit(&kl, 9))?;
    }
    writeln!(text, "\nrank: how many tokens are likelier there than {}; prob: its probability", readable(&said.token))?;
    writeln!(
        text,
        "The last norm and head were trained on the last state: of earlier ones they tell a guess, not a thought."
    )?;
    Ok(text)
}
