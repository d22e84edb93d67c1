//! GGUF files of every family: made here of the tiny checkpoints, they must give what the folder gives.

#[path = "../decoders/checkpoints.rs"]
#[allow(dead_code, reason = "shared with the tests of decoders")]
mod checkpoints;
mod forms;
mod parity;
mod refused;
#[path = "../common/tiny.rs"]
mod tiny;
mod tokenizers;
mod writer;
