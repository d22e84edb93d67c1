//! Readings that need a model's weights, held against the plainest arithmetic in f64 on the checkpoint's own tensors: the
//! logit lens, direct shares of a logit, lengths of projected values, rollout over transformers' own maps, and the probe.

#[path = "../common/mod.rs"]
#[allow(dead_code, reason = "a part of it is used")]
mod common;
mod direct;
mod lens;
mod maps;
mod probe;
mod support;
