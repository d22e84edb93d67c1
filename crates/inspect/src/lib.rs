//! What a run of attention leaves behind, and every question that can be put to it.
//!
//! A [`Trace`] keeps the q, k, v, out and lse of each layer, never the weights. Whatever produced it (a model, the
//! worked example, a file), the questions are the same: [`Trace::cell`], [`Trace::row`], [`Trace::tile`],
//! [`Trace::heads`]. Answers are plain structs that serialise to the JSON of the command line and of the page.
//! Nothing here knows of models, HTTP or pixels.

mod budget;
mod by_value;
mod cell;
mod column;
mod data;
mod error;
pub mod example;
mod file;
mod heads;
pub mod lesson;
mod pick;
mod pooled;
mod repeats;
mod rollout;
mod row;
mod site;
mod tile;
mod tokens;
mod trace;
mod wanted;

pub use attnscope_kernel::Rectangle;
pub use by_value::{ByValue, ValueLength};
pub use cell::{Cell, TokenAt};
pub use column::Column;
pub use data::{Data, Tensor};
pub use error::{Error, escaped, fit_to_show};
pub use heads::{HeadStats, Proof};
pub use pick::Pick;
pub use pooled::Pooled;
pub use repeats::Repeats;
pub use rollout::Rollout;
pub use row::{Row, Strong};
pub use site::{Site, SiteKind};
pub use tile::{MapTile, hidden_code};
pub use tokens::Token;
pub use trace::{At, Model, Read, Trace};
pub use wanted::Wanted;
