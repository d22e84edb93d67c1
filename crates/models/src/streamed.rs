//! The text of a continuation, as far as it is certain: whole characters, and nothing of what it stops before.

use crate::Tokenizer;
use crate::error::Result;

/// Tokens of the prompt that are decoded together with the first ones after it, because some tokenizers leave out a blank
/// at the beginning of what they decode.
const CONTEXT: usize = 4;
/// Tokens of one character at most: of four bytes.
const LONGEST: usize = 4;

/// A text that grows token by token.
pub(crate) struct Streamed<'a> {
    tokenizer: &'a Tokenizer,
    stops: &'a [String],
    ids: Vec<u32>,
    /// Ids from here on are decoded, of which those up to `done` are in the text already.
    from: usize,
    done: usize,
    /// All of the text, what stopped it included.
    text: String,
    /// How much of it was handed over, in bytes.
    shown: usize,
    /// Where it stops, in bytes.
    end: Option<usize>,
}

impl<'a> Streamed<'a> {
    /// A continuation of a prompt's ids that stops before any of `stops`.
    pub(crate) fn after(tokenizer: &'a Tokenizer, prompt: &[u32], stops: &'a [String]) -> Result<Self> {
        let mut ids = prompt[prompt.len().saturating_sub(CONTEXT)..].to_vec();
        if tokenizer.decode(&ids)?.ends_with(char::REPLACEMENT_CHARACTER) {
            ids.clear();
        }
        let done = ids.len();
        Ok(Self { tokenizer, stops, ids, from: 0, done, text: String::new(), shown: 0, end: None })
    }

    /// What one more token makes certain.
    ///
    /// # Errors
    /// If the tokenizer fails.
    pub(crate) fn push(&mut self, id: u32) -> Result<String> {
        self.ids.push(id);
        let before = self.tokenizer.decode(&self.ids[self.from..self.done])?;
        let all = self.tokenizer.decode(&self.ids[self.from..])?;
        // A character whose last bytes are still to come reads as a replacement mark.
        if all.ends_with(char::REPLACEMENT_CHARACTER) && self.ids.len() - self.done < LONGEST {
            return Ok(String::new());
        }
        self.text += all.strip_prefix(&before).or(all.get(before.len()..)).unwrap_or_default();
        (self.from, self.done) = (self.done, self.ids.len());
        let open = &self.text[self.shown..];
        self.end = self.stops.iter().filter_map(|stop| open.find(stop)).min().map(|at| self.shown + at);
        let certain = self.end.unwrap_or_else(|| self.text.len() - self.held(open));
        Ok(self.hand_over(certain))
    }

    /// Whether it has come to what it stops before.
    pub(crate) fn stopped(&self) -> bool {
        self.end.is_some()
    }

    /// What was held back until now, where nothing follows.
    pub(crate) fn rest(&mut self) -> String {
        self.hand_over(self.end.unwrap_or(self.text.len()))
    }

    /// The text up to where it stops.
    pub(crate) fn text(&self) -> &str {
        &self.text[..self.end.unwrap_or(self.text.len())]
    }

    /// All of the text, what stopped it included.
    pub(crate) fn all(&self) -> &str {
        &self.text
    }

    fn hand_over(&mut self, end: usize) -> String {
        let piece = self.text[self.shown..end].to_owned();
        self.shown = end;
        piece
    }

    /// How many bytes at the end may be the beginning of what it stops before.
    fn held(&self, open: &str) -> usize {
        let tails = open.char_indices().map(|(at, _)| &open[at..]);
        tails.filter(|tail| self.stops.iter().any(|stop| stop.starts_with(tail))).map(str::len).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::Streamed;
    use crate::Tokenizer;
    use crate::tokenizer::{ByteBpe, Vocabulary};

    /// A token for each byte, by its number.
    fn bytes() -> Tokenizer {
        let prints = |byte: u32| matches!(byte, 0x21..=0x7E | 0xA1..=0xAC | 0xAE..=0xFF);
        let mut others = 0x100..;
        let code = |byte: u32| if prints(byte) { Some(byte) } else { others.next() };
        let tokens: Vec<String> = (0..256).map(code).map(|c| c.and_then(char::from_u32).unwrap().to_string()).collect();
        let vocabulary =
            Vocabulary { tokens, kinds: Vec::new(), unknown: None, first: None, last: None, ends: Vec::new() };
        ByteBpe { vocabulary, merges: Vec::new(), rule: "gpt-2".to_owned() }.build().unwrap()
    }

    /// What each byte of a text makes certain, and what was held back.
    fn pieces(text: &[u8], stops: &[&str]) -> Vec<String> {
        let (tokenizer, stops) = (bytes(), stops.iter().map(|stop| (*stop).to_owned()).collect::<Vec<_>>());
        let mut streamed = Streamed::after(&tokenizer, &[65, 32], &stops).unwrap();
        let mut pieces = Vec::new();
        for byte in text {
            pieces.push(streamed.push(u32::from(*byte)).unwrap());
            if streamed.stopped() {
                break;
            }
        }
        pieces.push(streamed.rest());
        assert_eq!(pieces.concat(), streamed.text());
        pieces
    }

    #[test]
    fn a_character_is_shown_when_it_is_whole() {
        assert_eq!(pieces("h\u{e9}\u{1F916}.".as_bytes(), &[]), ["h", "", "\u{e9}", "", "", "", "\u{1F916}", ".", ""]);
        // One that never becomes whole is not shown at all.
        assert_eq!(pieces(&"a\u{1F916}".as_bytes()[..4], &[]).concat(), "a");
        // What is no text at all is said to be none, and holds up nothing.
        let pieces = pieces(b"a\xFF\xFF\xFF\xFF\xFF\xFFb", &[]).concat();
        assert!(pieces.starts_with("a\u{FFFD}") && pieces.ends_with("\u{FFFD}b"), "{pieces:?}");
    }

    #[test]
    fn what_may_begin_a_stop_string_waits() {
        assert_eq!(pieces(b"ab", &["bc"]), ["a", "", "b"]);
        assert_eq!(pieces(b"abcd", &["bc"]), ["a", "", "", ""]);
        assert_eq!(pieces(b"abbcd", &["bc"]), ["a", "", "b", "", ""]);
        assert_eq!(pieces(b"aabaac", &["aac"]), ["", "", "aab", "", "", "", ""]);
        // The first that comes, whichever it is of several.
        assert_eq!(pieces(b"xyz", &["z", "yz"]).concat(), "x");
        let split = "a\u{1F916}b".as_bytes();
        assert_eq!(pieces(split, &["\u{1F916}"]), ["a", "", "", "", "", ""]);
        // Half of a character may begin it too.
        assert_eq!(pieces("\u{e9}x".as_bytes(), &["\u{ea}"]), ["", "\u{e9}", "x", ""]);
    }
}
