//! attnscope candle.
