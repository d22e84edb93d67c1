/// Why a cell is hidden, in words, by the code of a map: -1, -2, ... (`attnscope_inspect::hidden_code`).
pub(super) fn sentence(code: f32) -> &'static str {
    match code {
        -1.0 => "the key comes later",
        -2.0 => "the key lies outside the window",
        -3.0 => "padding",
        -4.0 => "the key belongs to another text",
        -5.0 => "cut on purpose",
        _ => "not seen by the query",
    }
}

/// Likewise by the name of a reason.
pub(crate) fn word(reason: &str) -> &'static str {
    match reason {
        "future" => "comes later",
        "outside_window" => "outside the window",
        "padding" => "padding",
        "other_segment" => "another text",
        "knocked_out" => "cut",
        _ => "not seen",
    }
}
