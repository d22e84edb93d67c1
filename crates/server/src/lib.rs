//! The web inspector's server: the page of `ui/`, embedded, and the JSON that it asks for.
//!
//! Routes translate between HTTP and [`attnscope_inspect`]; nothing is worked out here. What runs in which file:
//!
//! | file | concern |
//! | --- | --- |
//! | `server` | a server, its life and its end |
//! | `connections` | taking connections, and giving up those that do not say what they want |
//! | `entry` | what can be looked at; opened on first use |
//! | `runs`, `shelf` | making a trace, one model at a time; keeping the last few |
//! | `routes/` | one file a concern: sources, traces, questions, maps, files to take along, the lesson, the page |
//! | `openapi.json` | what can be asked and what is answered, held to the routes by tests |
//! | `guard`, `access`, `headers`, `limits` | who may ask; what the page may do; how long and how badly an answer may go |
//! | `queue` | one model at a time, and who is next |
//! | `lanes` | threads for maps that a reader waits for, and others for long work |
//! | `work` | blocking work, and noticing that nobody waits for it any more |
//! | `extract`, `error` | every refusal is `{"error": "what, where, what to do"}` |
//!
//! The server binds nothing: it is given a listener, which the command line puts on the loopback interface. It
//! answers only to loopback names with its own port, so a page elsewhere cannot reach it by a name of its own
//! (DNS rebinding), and refuses to change anything for a foreign origin.
#![forbid(unsafe_code)]

mod access;
mod app;
mod connections;
mod entry;
mod error;
mod extract;
mod guard;
mod headers;
mod lanes;
mod limits;
mod meta;
mod queue;
mod routes;
mod runs;
mod server;
mod shelf;
mod work;

pub use entry::{Entry, Opener, Opening};
pub use server::Server;
