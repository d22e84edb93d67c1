//! Real transformers: a checkpoint goes in, a [`Trace`](attnscope_inspect::Trace), logits or text come out.
//!
//! One file a family ([`families`]); one loading path (`checkpoint`) for Hugging Face folders and GGUF files.
//! candle does the linear algebra, the attnscope kernel all attention. Nothing here knows of HTTP or pixels.

mod attend;
mod caught;
mod checkpoint;
mod error;
pub mod families;
mod folder;
mod generate;
mod gguf;
pub mod lesson;
mod linear;
mod memory;
mod model;
mod pickle;
mod seq2seq;
mod source;
mod template;
mod tokenizer;
mod weights;

pub use attend::{Cache, Keep, Run};
pub use error::Error;
pub use generate::{Generated, Greedy};
pub use memory::Memory;
pub use model::{Model, Prompt, Reading, Shape};
pub use source::{Ask, DEFAULT_TEXT, Source};
pub use tokenizer::Tokenizer;
pub use weights::{Choice, Form, Kept};
