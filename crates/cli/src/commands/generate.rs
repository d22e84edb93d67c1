use std::time::Instant;

use anyhow::bail;
use attnscope_models::{Greedy, Keep, Source};
use serde::Serialize;

use crate::args::GenerateArgs;
use crate::output;

/// What was generated.
#[derive(Serialize)]
struct Answer {
    prompt_ids: Vec<u32>,
    ids: Vec<u32>,
    text: String,
    tokens_per_second: f64,
}

pub(crate) fn run(args: GenerateArgs) -> anyhow::Result<()> {
    let Some(prompt) = args.reading.prompt()? else {
        bail!("there is nothing to go on with; give a text with --prompt")
    };
    let Source::Model(model) = super::open(&args.reading.source, args.reading.weights)? else {
        bail!("{}: only a model can go on with a text", args.reading.source);
    };
    // As everywhere: a model is what it was trained to be.
    if args.reading.ask(Keep::Nothing)?.causal.is_some_and(|causal| causal != model.shape().causal) {
        bail!("--causal and --bidirectional are for the example; leave them out");
    }
    let prompt = args.reading.fit(&model, prompt, args.max_tokens)?;
    let prompt_ids = model.ids(&prompt)?;
    let (started, mut printed) = (Instant::now(), Ok(()));
    let ids = model.generate(&prompt, Greedy { max_tokens: args.max_tokens }, |new| {
        if !args.json {
            printed = output::print(&new.text);
        }
        printed.is_ok()
    })?;
    printed?;
    if !args.json {
        return output::print("\n");
    }
    let text = model.tokenizer().decode(&ids)?;
    let tokens_per_second = ids.len() as f64 / started.elapsed().as_secs_f64();
    output::json(&Answer { prompt_ids, ids, text, tokens_per_second })
}
