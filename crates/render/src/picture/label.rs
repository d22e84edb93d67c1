use std::ops::Range;

use attnscope_inspect::Token;

use crate::paint::{cut, width};
use crate::readable;

/// A token beside a map: its text with its blanks made visible, and its position.
#[derive(Clone, Debug)]
pub(crate) struct Label {
    pub(crate) token: String,
    pub(crate) index: String,
}

impl Label {
    pub(crate) fn new(tokens: &[Token], index: usize) -> Self {
        let token = tokens.get(index).map(|token| match token.part {
            Some((part, parts)) => format!("{} {}/{parts}", readable(&token.text), part + 1),
            None => readable(&token.text),
        });
        Self { token: token.unwrap_or_default(), index: index.to_string() }
    }
}

/// The labels along one side of a map: every token where there is room, else every 2nd, 5th, 10th, ...
pub(super) struct Labels {
    /// (how far along the side, in CSS pixels, its middle is; what it says).
    pub(super) labels: Vec<(f32, Label)>,
    pub(super) size: f32,
    /// The widest token.
    pub(super) token_room: f32,
    /// The widest position.
    pub(super) index_room: f32,
    /// Whether every token has one.
    pub(super) all: bool,
}

/// A longer token is cut.
const LONGEST: f32 = 120.0;

impl Labels {
    /// `range` is the tokens along the side, `unit` the room that each has, in CSS pixels.
    pub(super) fn new(tokens: &[Token], range: &Range<usize>, unit: f32) -> Self {
        let size = if unit >= 8.5 { (unit * 0.82).min(12.5) } else { 10.0 };
        let steps = (0..).flat_map(|power| [1, 2, 5].map(|digit| digit * 10_usize.pow(power)));
        let step = steps.into_iter().find(|step| *step as f32 * unit >= size * 1.15).unwrap_or(usize::MAX);
        let labels = range.clone().filter(|index| index % step == 0).map(|index| {
            let label = Label::new(tokens, index);
            let token = cut(&label.token, size, LONGEST);
            ((index - range.start) as f32 * unit + unit / 2.0, Label { token, ..label })
        });
        let labels: Vec<_> = labels.collect();
        let widest = |text: fn(&Label) -> &str, size: f32| {
            labels.iter().map(|(_, label)| width(text(label), size)).fold(0.0, f32::max)
        };
        let (token_room, index_room) = (widest(|label| &label.token, size), widest(|label| &label.index, size * 0.8));
        Self { size, token_room, index_room, all: step == 1, labels }
    }

    pub(super) fn index_size(&self) -> f32 {
        self.size * 0.8
    }
}

#[cfg(test)]
mod tests {
    use super::{Label, Labels};
    use attnscope_inspect::Token;

    #[test]
    fn labels_thin_out_where_there_is_no_room() {
        let tokens: Vec<Token> = (0..1000).map(|i| Token::plain(None, format!(" t{i}"))).collect();
        let indices = |unit: f32, range: std::ops::Range<usize>| {
            let labels = Labels::new(&tokens, &range, unit);
            labels.labels.iter().map(|(_, label)| label.index.clone()).collect::<Vec<_>>()
        };
        assert_eq!(indices(40.0, 3..6), ["3", "4", "5"]);
        assert_eq!(indices(1.5, 0..40), ["0", "10", "20", "30"]);
        assert_eq!(indices(0.1, 150..460), ["200", "400"]);
    }

    #[test]
    fn a_part_of_a_character_says_which() {
        let mut token = Token::plain(None, "漢");
        token.part = Some((0, 3));
        assert_eq!(Label::new(&[token], 0).token, "漢 1/3");
    }
}
