use clap::{Args, ValueEnum};

use super::{Reading, Site};

/// By what a row's keys are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum By {
    /// The weight alone
    Weight,
    /// Weight times length of the value behind the output projection, |A_ij| |v_j W_O|; of a source without weights, |A_ij| |v_j|
    Value,
}

/// What does not go with a probe, which draws its own text. (What is required is not asked for where something is given that
/// conflicts with it, so the options of a probe name these too.)
const READ: [&str; 8] = ["input", "second", "target", "target_ids", "causal", "bidirectional", "repeats", "logit"];
/// What does not go with a logit.
const OTHERS: [&str; 2] = ["probe", "repeats"];

/// What `heads` is to say of every head, beside its statistics.
#[derive(Debug, Args)]
pub(crate) struct HeadReadings {
    /// Measure what each head does on tokens drawn at random and said twice: its mean weight on the token before (previous), on
    /// the same token the first time (duplicate), and on what followed it then (induction). For decoders
    #[arg(long, conflicts_with_all = READ)]
    pub(crate) probe: bool,
    /// What the random tokens of the probe are drawn by
    #[arg(long, value_name = "N", default_value_t = 0, requires = "probe", conflicts_with_all = READ)]
    pub(crate) seed: u64,
    /// How many tokens the probe says twice
    #[arg(long, value_name = "L", default_value_t = 64, requires = "probe", conflicts_with_all = READ)]
    pub(crate) probe_len: usize,
    /// The same three scores, on the text that is read
    #[arg(long, conflicts_with = "logit")]
    pub(crate) repeats: bool,
    /// What each head adds directly to the logit of this token: its id, or its text exactly, with the blank that may belong to it
    /// (" Paris")
    #[arg(long, value_name = "TOKEN", allow_hyphen_values = true)]
    pub(crate) logit: Option<String>,
    /// Where that logit is: a position, or the text of a token that occurs once [default: the last]
    #[arg(long, value_name = "POSITION", requires = "logit", conflicts_with_all = OTHERS, allow_hyphen_values = true)]
    pub(crate) at: Option<String>,
    /// How many heads to show of those that add most to a logit
    #[arg(long, value_name = "N", default_value_t = 20, requires = "logit", conflicts_with_all = OTHERS)]
    pub(crate) top: usize,
}

/// What the model would say after each of its layers, if that were the last.
///
/// The state of one position after each layer, read by the model's own last norm and head (the logit lens). `rank` is how many
/// tokens are likelier there than the one that the model says in the end, `prob` that one's probability, and `kl` how far the
/// probabilities are from the model's own, KL(own || these) in nats.
#[derive(Debug, Args)]
pub(crate) struct LensArgs {
    #[command(flatten)]
    pub(crate) reading: Reading,
    /// Where: a position, or the text of a token that occurs once [default: the last; of a text with one mask, the mask]
    #[arg(long, value_name = "POSITION", allow_hyphen_values = true)]
    pub(crate) at: Option<String>,
    /// How many of the likeliest tokens to name for each layer
    #[arg(long, default_value_t = 3, value_name = "N")]
    pub(crate) top: usize,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// Where a query's vector would come from, through all layers.
///
/// Attention rollout: the query's row of the product, over all layers, of (A + I) / 2, where A is the mean of a layer's heads.
#[derive(Debug, Args)]
pub(crate) struct RolloutArgs {
    #[command(flatten)]
    pub(crate) reading: Reading,
    /// Which attention of the layers: `self`, or `encoder` in an encoder-decoder
    #[arg(long, value_enum, default_value = "self")]
    pub(crate) site: Site,
    /// The token that asks: its position, or its text where that occurs once
    #[arg(long, allow_hyphen_values = true)]
    pub(crate) query: String,
    /// How many of the tokens with the largest shares to show
    #[arg(long, default_value_t = 12)]
    pub(crate) top: usize,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}
