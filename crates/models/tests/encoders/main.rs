//! Encoders and encoder-decoders against transformers, on tiny checkpoints with random weights (`tools/tiny/encoders.py`).

mod halves;
mod options;
mod parity;
mod refused;
mod support;
