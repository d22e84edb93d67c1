//! attnscope models.
