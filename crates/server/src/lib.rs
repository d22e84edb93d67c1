//! attnscope server.
