//! Real transformers: a checkpoint goes in, a [`Trace`](attnscope_inspect::Trace), logits or text come out.
//!
//! One file a family ([`families`]); one loading path (`checkpoint`) for Hugging Face folders and GGUF files, which may
//! come from the Hub ([`hub`]). candle does the linear algebra, the attnscope kernel all attention. Nothing here knows of
//! pixels, and nothing but [`hub`] of HTTP.

mod attend;
mod awake;
mod batch;
mod cache;
mod caught;
mod charsmap;
mod chat;
mod checkpoint;
mod effect;
mod error;
pub mod families;
mod folder;
mod generate;
mod gguf;
pub mod hub;
mod intervene;
pub mod lesson;
mod linear;
mod matvec;
mod memory;
mod model;
mod pickle;
mod readings;
mod sampling;
mod seq2seq;
mod shards;
mod sigmoid;
mod source;
mod stitch;
mod stream;
mod streamed;
mod template;
mod texts;
mod tokenizer;
mod truncate;
mod weights;

pub use attend::{Keep, Run};
pub use batch::Side;
pub use cache::Cache;
pub use chat::{Chat, Turn};
pub use effect::{Effect, Experiment, Followed, Likely, Moved, Ranked, Scan};
pub use error::Error;
pub use generate::{Continuation, Ended, Generated};
pub use intervene::{Attention, Heads, Interventions, Mean, Reached, mean_output};
pub use memory::Memory;
pub use model::{Model, Prompt, Reading, Shape};
pub use readings::{Contribution, Direct, Lens, LensLayer, Looking, Probe};
pub use sampling::Sampling;
pub use source::{Ask, DEFAULT_TEXT, Source};
pub use stitch::Stitch;
pub use stream::Stream;
pub use texts::Texts;
pub use tokenizer::Tokenizer;
pub use truncate::Truncated;
pub use weights::{Choice, Form, Kept};
