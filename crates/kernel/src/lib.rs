//! The attention operation, exact, in O(n) memory, and every question that can be put to it afterwards.
//!
//! ```text
//! s_ij   = scale * q_i . k_j                 the score; hidden cells are excluded, never "very negative"
//! lse_i  = ln( sum over visible j of exp(s_ij) )
//! A_ij   = exp(s_ij - lse_i)                 the weight
//! out_i  = sum_j A_ij v_j
//! ```
//!
//! [`forward`] walks the visible blocks of keys once, keeps one log-sum-exp a row and throws the weights away.
//! [`Recall`] brings any of them back from `q`, `k` and `lse`: the score is recomputed by the very routine
//! (`scores`) that the forward pass ran, in the same order of multiplication and summation, so on one
//! instruction set it is the same number to the last bit.
//!
//! A few queries over many keys take a path of their own, which splits the keys over the threads and joins the states;
//! [`KvCache`] is the layout for it, [`merge`] joins states from anywhere, and [`forward_shared_prefix`] reads a prefix
//! that many texts share once.
//!
//! Tensors are (batch, len, heads, head_dim), given as slices with strides ([`View`]). The kernel knows nothing of
//! any framework, of files, tokens or models.
//!
//! ```
//! use attnscope_kernel::{Isa, Params, Recall, View, forward};
//!
//! let (len, heads, dim) = (5, 2, 4);
//! let x: Vec<f32> = (0..len * heads * dim).map(|i| (i as f32 * 0.37).sin()).collect();
//! let view = View::new(&x, [1, len, heads, dim])?;
//! let params = Params { causal: true, ..Params::for_head_dim(dim) };
//!
//! let done = forward(view, view, view, &params, Isa::detect())?;
//! let recall = Recall::new(view, view, &done.lse, &params, Isa::detect())?;
//! let cell = recall.cell(0, 1, 3, 2)?;           // batch, head, query, key
//! assert!(cell.weight > 0.0 && cell.weight < 1.0);
//! # Ok::<(), attnscope_kernel::Error>(())
//! ```
#![forbid(unsafe_code)]

mod alone;
mod backward;
mod cache;
mod decode;
mod element;
mod error;
mod forward;
mod heads;
mod isa;
mod linger;
mod merge;
mod observe;
mod outputs;
mod panel;
mod params;
mod plan;
mod recall;
pub mod reference;
mod share;
pub mod simd;
mod spare;
mod tile;
mod view;

pub use backward::{Gradients, backward, backward_into};
pub use cache::KvCache;
pub use element::Element;
pub use error::Error;
pub use forward::{Forward, Left, forward, forward_into, forward_observed, forward_to, working_bytes};
pub use half::{bf16, f16};
pub use isa::Isa;
pub use linger::{busy, linger};
pub use merge::{forward_shared_prefix, merge};
pub use observe::{BlockMap, Observe, Observed, RowStats};
pub use params::{Bias, Hidden, KeyPadding, Knockout, Mask, Params, RelativeBias, Segments, Window};
pub use recall::{Cell, Pooled, Recall, Rectangle, Tile};
pub use share::share;
pub use view::View;
