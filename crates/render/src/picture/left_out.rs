//! Columns left out of the colour scale, so that one that takes nearly everything does not make the rest look alike.
//! They are still drawn, marked, in the colours of the scale.

use std::collections::BTreeSet;
use std::ops::Range;
use std::str::FromStr;

use attnscope_inspect::Token;

use super::label::Label;

/// Which columns, as the page's address says it: `first`, `special` and positions, joined by dashes or commas.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    first: bool,
    special: bool,
    keys: BTreeSet<usize>,
}

impl FromStr for LeftOut {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut left_out = Self::default();
        for part in text.split(['-', ',']).map(str::trim).filter(|part| !part.is_empty()) {
            match part {
                "first" => left_out.first = true,
                "special" => left_out.special = true,
                _ => {
                    let key = part.parse().map_err(|_| {
                        format!("{part:?} is no column to leave out; give first, special or positions, such as first,7")
                    })?;
                    left_out.keys.insert(key);
                }
            }
        }
        Ok(left_out)
    }
}

impl LeftOut {
    /// That every column is there, and that one remains.
    ///
    /// # Errors
    /// Saying which is not.
    pub fn check(&self, tokens: &[Token], len: usize) -> Result<(), String> {
        if let Some(key) = self.keys.iter().find(|key| **key >= len) {
            return Err(format!("column {key} is out of range: there are {len}, 0 to {}", len.saturating_sub(1)));
        }
        match self.named(tokens, len).len() {
            0 => Err("it names no column that is there; give first, special or positions, such as first,7".to_owned()),
            all if all == len => Err("no column would be left for the scale; leave fewer out".to_owned()),
            _ => Ok(()),
        }
    }

    /// The columns that are left out of `len`, in order; none if nothing would remain.
    pub(crate) fn columns(&self, tokens: &[Token], len: usize) -> Vec<usize> {
        let out = self.named(tokens, len);
        // Without any column there is no scale.
        if out.len() < len { out.into_iter().collect() } else { Vec::new() }
    }

    fn named(&self, tokens: &[Token], len: usize) -> BTreeSet<usize> {
        let mut out: BTreeSet<usize> = self.keys.iter().copied().filter(|key| *key < len).collect();
        if self.first && len > 0 {
            out.insert(0);
        }
        if self.special {
            out.extend((0..len).filter(|key| tokens.get(*key).is_some_and(|token| token.special)));
        }
        out
    }
}

/// What lies between these columns, of `len`.
pub(super) fn between(columns: &[usize], len: usize) -> Vec<Range<usize>> {
    let ends = columns.iter().copied().chain([len]);
    let mut from = 0;
    ends.map(|end| std::mem::replace(&mut from, end + 1)..end).filter(|span| !span.is_empty()).collect()
}

/// Whether any of them lies in a range.
pub(super) fn touches(columns: &[usize], range: &Range<usize>) -> bool {
    columns.get(columns.partition_point(|column| *column < range.start)).is_some_and(|column| *column < range.end)
}

/// More columns than this are counted, not named.
const NAMED: usize = 4;

/// What a legend says of them.
pub(super) fn words(columns: &[usize], tokens: &[Token], rows: bool, pooled: bool) -> String {
    let name = |key: &usize| {
        let Label { token, index } = Label::new(tokens, *key);
        format!("“{token}” {index}")
    };
    let named = match columns.len() {
        many if many > NAMED => format!("{many} columns"),
        _ => columns.iter().map(name).collect::<Vec<_>>().join(", "),
    };
    let rest = match (rows, pooled) {
        (false, _) => "; beyond the end of the scale they keep its last colour",
        (true, true) => ", and the blocks they are in",
        (true, false) => "",
    };
    format!("Not in the scale: {named}{rest}.")
}

#[cfg(test)]
mod tests {
    use super::{LeftOut, between, touches};
    use attnscope_inspect::Token;

    #[test]
    fn it_reads_what_the_page_writes() {
        let mut tokens: Vec<Token> = (0..6).map(|at| Token::plain(None, format!("t{at}"))).collect();
        tokens[5].special = true;
        let columns = |text: &str| text.parse::<LeftOut>().unwrap().columns(&tokens, 6);
        assert_eq!(columns("first-special-3"), [0, 3, 5]);
        assert_eq!(columns("3,3, 9"), [3]);
        assert!(columns("").is_empty() && columns("0-1-2-3-4-5").is_empty());
        assert!("last".parse::<LeftOut>().unwrap_err().contains("\"last\" is no column"));
    }

    #[test]
    fn what_remains_lies_between() {
        assert_eq!(between(&[0, 3, 5], 6), [1..3, 4..5]);
        assert!(between(&[], 6).iter().eq(std::iter::once(&(0..6))));
        assert!(touches(&[0, 3], &(2..4)) && !touches(&[0, 3], &(1..3)) && !touches(&[], &(0..9)));
    }
}
