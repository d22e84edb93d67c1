//! Texts that go on: how they begin, which token is taken, what is shown of it, and the trace that is stitched together on
//! the way.

mod batches;
mod chats;
mod sampling;
mod stitched;
mod stops;
#[allow(dead_code, reason = "a part of it is used here")]
#[path = "../encoders/support.rs"]
mod support;
#[path = "../common/tiny.rs"]
mod tiny;
