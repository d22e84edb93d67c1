//! Real transformers: a checkpoint goes in, a [`Trace`](attnscope_inspect::Trace), logits or text come out.
//!
//! One file a family ([`families`]); one loading path (`checkpoint`) for Hugging Face folders and GGUF files, which may
//! come from the Hub ([`hub`]). candle does the linear algebra, the attnscope kernel all attention. Nothing here knows of
//! pixels, and nothing but [`hub`] of HTTP.

mod attend;
mod caught;
mod charsmap;
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
mod memory;
mod model;
mod pickle;
mod readings;
mod seq2seq;
mod shards;
mod source;
mod stream;
mod template;
mod texts;
mod tokenizer;
mod truncate;
mod weights;

pub use attend::{Cache, Keep, Run};
pub use effect::{Effect, Experiment, Followed, Likely, Moved, Ranked, Scan};
pub use error::Error;
pub use generate::{Generated, Greedy};
pub use intervene::{Attention, Heads, Interventions, Mean, mean_output};
pub use memory::Memory;
pub use model::{Model, Prompt, Reading, Shape};
pub use readings::{Contribution, Direct, Lens, LensLayer, Looking, Probe};
pub use source::{Ask, DEFAULT_TEXT, Source};
pub use stream::Stream;
pub use texts::Texts;
pub use tokenizer::Tokenizer;
pub use truncate::Truncated;
pub use weights::{Choice, Form, Kept};
