use std::path::Path;

use anyhow::bail;
use attnscope_inspect::Trace;
use attnscope_models::{Continuation, Ended, Error, Generated, Model, Sampling};
use serde::Serialize;

use super::trace::check_output;
use crate::args::GenerateArgs;
use crate::{interrupt, output};

/// What was generated.
#[derive(Serialize)]
struct Answer {
    prompt_ids: Vec<u32>,
    /// Those that the encoder of an encoder-decoder read.
    #[serde(skip_serializing_if = "Option::is_none")]
    encoder_ids: Option<Vec<u32>>,
    ids: Vec<u32>,
    text: String,
    /// Why there is no more.
    ended: &'static str,
    /// With which tokens can be drawn again; null where the likeliest was taken.
    seed: Option<u64>,
    /// The prompt's, and those of the tokens after the first new one; null where there are none.
    prompt_tokens_per_second: Option<f64>,
    tokens_per_second: Option<f64>,
    /// Where the trace is.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
}

pub(crate) fn run(args: GenerateArgs) -> anyhow::Result<()> {
    let sampling = args.sampling();
    sampling.check()?;
    if let Some(path) = &args.output {
        check_output(path)?;
    }
    let Some(prompt) = args.reading.prompt_to_go_on()? else {
        bail!("there is nothing to go on with; give a text with --prompt")
    };
    let model = super::model(&args.reading, "can go on with a text")?;
    // Room for what is to follow, but the most of what a model reads is the text.
    let room = sampling.max_tokens.min(model.shape().context / 4);
    let prompt = args.reading.fit(&model, prompt, room)?;
    let mut printed = Ok(());
    // Once there is something to keep, the text ends after the token that is being worked on.
    let mut begun = false;
    let each = |new: &Generated| {
        if !std::mem::replace(&mut begun, true) {
            interrupt::hear();
        }
        if !args.json && printed.is_ok() {
            printed = output::print(&new.text);
        }
        printed.is_ok() && !interrupt::asked()
    };
    let (made, trace, broke) = match generate(&model, &prompt, &sampling, args.output.is_some(), each) {
        Ok((made, trace)) => (made, trace, None),
        // What there is of the text is the answer all the same.
        Err(Error::BrokenOff { made, why }) => ((*made).clone(), None, Some(Error::BrokenOff { made, why })),
        Err(error) => return Err(error.into()),
    };
    let kept = trace.zip(args.output.as_deref()).map(|(trace, path)| keep(trace, &model, path));
    printed?;
    // The text took long to make; a trace that cannot be kept does not take it along.
    let file = args.output.as_deref().filter(|_| matches!(kept, Some(Ok(()))));
    if args.json {
        output::json(&answer(made, file))?;
    } else {
        output::print("\n")?;
        if broke.is_none() {
            output::complain(&summary(&made, file));
        }
    }
    match (broke, args.output) {
        (None, _) => kept.unwrap_or(Ok(())),
        (Some(why), None) => Err(why.into()),
        (Some(why), Some(path)) => bail!("{why}; {} was not written", path.display()),
    }
}

fn keep(mut trace: Trace, model: &Model, path: &Path) -> anyhow::Result<()> {
    trace.model.sha256 = model.sha256().map(str::to_owned);
    Ok(interrupt::whole(|| trace.save(path))?)
}

fn generate(
    model: &Model,
    prompt: &attnscope_models::Prompt,
    sampling: &Sampling,
    traced: bool,
    each: impl FnMut(&Generated) -> bool,
) -> Result<(Continuation, Option<Trace>), Error> {
    if !traced {
        return Ok((model.generate(prompt, sampling, each)?, None));
    }
    let (made, trace) = model.generate_traced(prompt, sampling, each)?;
    Ok((made, Some(trace)))
}

fn answer(made: Continuation, file: Option<&Path>) -> Answer {
    Answer {
        ended: made.ended.name(),
        seed: made.seed,
        prompt_tokens_per_second: made.prompt_tokens_per_second(),
        tokens_per_second: made.decode_tokens_per_second(),
        file: file.map(|path| path.display().to_string()),
        prompt_ids: made.prompt_ids,
        encoder_ids: made.encoder_ids,
        ids: made.ids,
        text: made.text,
    }
}

/// How fast it was and why it ended, for a person.
fn summary(made: &Continuation, file: Option<&Path>) -> String {
    let ended = match made.ended {
        Ended::EndMark => "the model ended the text",
        Ended::StopString => "a stop string came",
        Ended::MaxTokens => "--max-tokens reached",
        Ended::Context => "the model reads no longer text",
        Ended::Interrupted => "interrupted",
        Ended::Failed => "the run failed",
    };
    let seed = made.seed.map_or_else(String::new, |seed| format!(", seed {seed}"));
    let file = file.map_or_else(String::new, |path| format!("; its trace is in {}", path.display()));
    let read = made.prompt_ids.len() + made.encoder_ids.as_ref().map_or(0, Vec::len);
    let rates = match (made.prompt_tokens_per_second(), made.decode_tokens_per_second()) {
        (Some(prompt), Some(others)) => format!(", {prompt:.1} and {others:.1} a second"),
        (Some(prompt), None) => format!(", the prompt's {prompt:.1} a second"),
        (None, _) => String::new(),
    };
    format!("{read} + {} tokens{rates}{seed}; {ended}{file}", made.ids.len())
}
