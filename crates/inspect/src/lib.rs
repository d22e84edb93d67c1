//! attnscope inspect.
