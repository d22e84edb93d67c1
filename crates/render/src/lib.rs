//! attnscope render.
