use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::bail;
use attnscope_inspect::Trace;
use attnscope_models::{Continuation, Ended, Generated, Keep, Model, Sampling, Source};
use serde::Serialize;

use super::trace::check_output;
use crate::args::GenerateArgs;
use crate::output;

/// What was generated.
#[derive(Serialize)]
struct Answer {
    prompt_ids: Vec<u32>,
    ids: Vec<u32>,
    text: String,
    /// Why there is no more.
    ended: &'static str,
    /// With which tokens can be drawn again; null where the likeliest was taken.
    seed: Option<u64>,
    /// The prompt's, and those of the tokens after the first new one.
    prompt_tokens_per_second: f64,
    tokens_per_second: f64,
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
    let Source::Model(model) = super::open(&args.reading.source, args.reading.weights)? else {
        bail!("{}: only a model can go on with a text", args.reading.source);
    };
    // As everywhere: a model is what it was trained to be.
    if args.reading.ask(Keep::Nothing)?.causal.is_some_and(|causal| causal != model.shape().causal) {
        bail!("--causal and --bidirectional are for the example; leave them out");
    }
    // Room for what is to follow, but the most of what a model reads is the text.
    let room = sampling.max_tokens.min(model.shape().context / 4);
    let prompt = args.reading.fit(&model, prompt, room)?;
    let stop = Interrupt::listen()?;
    let mut printed = Ok(());
    let each = |new: &Generated| {
        stop.something_is_there();
        if !args.json && printed.is_ok() {
            printed = output::print(&new.text);
        }
        printed.is_ok() && !stop.asked()
    };
    let (made, trace) = generate(&model, &prompt, &sampling, args.output.is_some(), each)?;
    if let (Some(mut trace), Some(path)) = (trace, &args.output) {
        trace.model.sha256 = model.sha256().map(str::to_owned);
        trace.save(path)?;
    }
    printed?;
    if args.json {
        return output::json(&answer(made, args.output.as_deref()));
    }
    output::print("\n")?;
    output::complain(&summary(&made, args.output.as_deref()));
    Ok(())
}

fn generate(
    model: &Model,
    prompt: &attnscope_models::Prompt,
    sampling: &Sampling,
    traced: bool,
    each: impl FnMut(&Generated) -> bool,
) -> anyhow::Result<(Continuation, Option<Trace>)> {
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
    };
    let seed = made.seed.map_or_else(String::new, |seed| format!(", seed {seed}"));
    let file = file.map_or_else(String::new, |path| format!("; its trace is in {}", path.display()));
    format!(
        "{} + {} tokens, {:.1} and {:.1} a second{seed}; {ended}{file}",
        made.prompt_ids.len(),
        made.ids.len(),
        made.prompt_tokens_per_second(),
        made.decode_tokens_per_second()
    )
}

/// Ctrl-C: once there is something to keep, the text ends after the token that is being worked on; before, or at the second
/// time, all ends at once.
struct Interrupt {
    asked: Arc<AtomicBool>,
    begun: Arc<AtomicBool>,
}

impl Interrupt {
    fn listen() -> anyhow::Result<Self> {
        let (asked, begun) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let (asking, beginning) = (asked.clone(), begun.clone());
        ctrlc::set_handler(move || {
            if asking.swap(true, Ordering::Relaxed) || !beginning.load(Ordering::Relaxed) {
                std::process::exit(130);
            }
        })?;
        Ok(Self { asked, begun })
    }

    fn something_is_there(&self) {
        self.begun.store(true, Ordering::Relaxed);
    }

    fn asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }
}
