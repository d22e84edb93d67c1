//! Every decoder family against transformers on tiny checkpoints (`tools/tiny/decoders.py`), and what must hold of each:
//! options that matter, a cache that changes nothing, no word from later tokens, one clear error for what is not computed.

mod cache;
mod checkpoints;
mod heads;
mod options;
mod oracle;
mod refused;
mod spellings;
mod threads;
mod words;
