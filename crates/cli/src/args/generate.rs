use std::path::PathBuf;

use attnscope_models::Sampling;
use clap::Args;

use super::Reading;

#[derive(Debug, Args)]
pub(crate) struct GenerateArgs {
    #[command(flatten)]
    pub(crate) reading: Reading,
    /// Tokens at most
    #[arg(long, default_value_t = 64, value_name = "N")]
    pub(crate) max_tokens: usize,
    #[command(flatten)]
    pub(crate) sampling: SamplingArgs,
    /// Keep the trace of the prompt and all that follows it as one text, in a .safetensors
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// Which token comes next: the likeliest, unless one of these asks for one to be drawn.
#[derive(Debug, Args)]
pub(crate) struct SamplingArgs {
    /// Draw tokens; below 1 the likely become likelier, above 1 less so
    #[arg(long, value_name = "T", allow_negative_numbers = true)]
    temperature: Option<f64>,
    /// Draw from the K likeliest tokens
    #[arg(long, value_name = "K")]
    top_k: Option<usize>,
    /// Draw from the fewest likeliest tokens whose probabilities sum to P
    #[arg(long, value_name = "P", allow_negative_numbers = true)]
    top_p: Option<f64>,
    /// Draw from tokens at least P times as likely as the likeliest
    #[arg(long, value_name = "P", allow_negative_numbers = true)]
    min_p: Option<f64>,
    /// Make tokens that were there before less likely; 1 is not at all
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    repetition_penalty: Option<f64>,
    /// Draw the same tokens again [default: others in every run]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// End before this text; may be given several times
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    stop: Vec<String>,
}

impl GenerateArgs {
    /// How the text goes on.
    pub(crate) fn sampling(&self) -> Sampling {
        let SamplingArgs { temperature, top_k, top_p, min_p, repetition_penalty, seed, .. } = self.sampling;
        let stop = self.sampling.stop.clone();
        Sampling { max_tokens: self.max_tokens, temperature, top_k, top_p, min_p, repetition_penalty, seed, stop }
    }
}
