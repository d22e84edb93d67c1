//! Text that stays text, in XML and in HTML.

use std::fmt::{self, Write};

/// Text for the inside of an element or of a quoted attribute, in XML 1.0 and HTML alike. What XML cannot hold at all,
/// and what could turn the order of the text around it, is written as its code.
pub(crate) struct Escaped<'a>(pub(crate) &'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                c if disturbs(c) => write!(f, "{}", c.escape_unicode())?,
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}

/// Control characters, XML's non-characters and what turns text round.
fn disturbs(c: char) -> bool {
    c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{2028}' | '\u{2029}')
        // The last two of each plane are no characters.
        || u32::from(c) & 0xfffe == 0xfffe
}

/// A text in one line: blanks as they are, everything else that cannot be seen by its sign or its code.
pub(crate) fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => line.push('⏎'),
            '\t' => line.push('⇥'),
            '\r' => line.push('␍'),
            c if disturbs(c) => line.extend(c.escape_unicode()),
            c => line.push(c),
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::{Escaped, one_line};

    #[test]
    fn markup_stays_text() {
        assert_eq!(
            Escaped("<img src=x onerror='a(\"&\")'>").to_string(),
            "&lt;img src=x onerror=&#39;a(&quot;&amp;&quot;)&#39;&gt;"
        );
    }

    #[test]
    fn what_xml_cannot_hold_is_its_code() {
        assert_eq!(Escaped("a\0b\u{1b}\u{ffff}\u{85}").to_string(), "a\\u{0}b\\u{1b}\\u{ffff}\\u{85}");
        assert_eq!(one_line("one\ntwo\u{202e}"), "one⏎two\\u{202e}");
    }
}
