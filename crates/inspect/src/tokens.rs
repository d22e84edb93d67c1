use serde::{Deserialize, Serialize};

use crate::{Error, fit_to_show};

/// One token of a text, as a person reads it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Token {
    /// Its number in the model's vocabulary; none where there is no vocabulary.
    pub id: Option<u32>,
    /// Its text, whole characters only. Tokens that share a character all carry that character; see `part`.
    pub text: String,
    /// Whether it is a mark such as `[CLS]` or `<|im_end|>` and no part of the text.
    #[serde(default, skip_serializing_if = "is_false")]
    pub special: bool,
    /// (i, n): this token is the i-th of n, from 0, that together make the characters in `text`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<(u32, u32)>,
}

fn is_false(x: &bool) -> bool {
    !x
}

impl Token {
    /// An ordinary token.
    pub fn plain(id: Option<u32>, text: impl Into<String>) -> Self {
        Self { id, text: text.into(), special: false, part: None }
    }
}

/// No more of a token is quoted, in characters: one of a strange file may be as long as the file.
const LONGEST: usize = 40;

/// Finds the token that a user means: an integer is always a position, anything else a text that occurs once
/// (trimmed).
///
/// # Errors
/// If there is no such position or text, or the text occurs more than once.
pub(crate) fn find(tokens: &[Token], what: &'static str, name: &str) -> Result<usize, Error> {
    let wanted = name.trim();
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    // Said as it was written, however long that is.
    let out =
        || Err(Error::Undefined(format!("{what} {} is out of range: {}", fit_to_show(wanted), range(tokens.len()))));
    if digits(wanted) {
        return wanted.parse().map_or_else(|_| out(), |index| check(tokens.len(), what, index));
    }
    let positions: Vec<usize> = (0..tokens.len()).filter(|&i| tokens[i].text.trim() == wanted).collect();
    match positions[..] {
        [one] => Ok(one),
        [] if wanted.strip_prefix('-').is_some_and(digits) => out(),
        [] => {
            let quoted = |token: &Token| format!("{:?}", token.text.trim().chars().take(LONGEST).collect::<String>());
            let mut list: Vec<String> = tokens.iter().take(30).map(quoted).collect();
            if tokens.len() > 30 {
                list.push(format!("... ({} in all)", tokens.len()));
            }
            Err(Error::NoToken { name: wanted.to_owned(), tokens: list.join(" ") })
        }
        _ => Err(Error::AmbiguousToken { name: wanted.to_owned(), positions }),
    }
}

/// An index of a token must lie within the text.
pub(crate) fn check(len: usize, what: &'static str, index: usize) -> Result<usize, Error> {
    if index < len {
        return Ok(index);
    }
    Err(Error::OutOfRange { what, got: index, range: range(len) })
}

fn range(len: usize) -> String {
    format!("the text has {len} tokens, 0 to {}", len.saturating_sub(1))
}
