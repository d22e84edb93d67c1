//! Tokens that a person can read, and that cannot do anything to a terminal.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// A token with its blanks made visible and nothing in it that a terminal would obey: a space is `·`, a new line `⏎`,
/// a tab `⇥`, any other control or direction character its code.
pub fn readable(token: &str) -> String {
    let mut text = String::with_capacity(token.len());
    for c in token.chars() {
        match c {
            ' ' => text.push('·'),
            '\n' => text.push('⏎'),
            '\t' => text.push('⇥'),
            '\r' => text.push('␍'),
            // Invisible, or able to turn the order of what follows.
            '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' => {
                text.extend(c.escape_unicode());
            }
            c if c.is_control() => text.extend(c.escape_unicode()),
            c => text.push(c),
        }
    }
    text
}

/// Text in exactly `width` columns: padded on the left, or cut with `…`.
pub fn fit(text: &str, width: usize) -> String {
    let columns = text.width();
    if columns <= width {
        return " ".repeat(width - columns) + text;
    }
    let (mut cut, mut used) = (String::new(), 0);
    for c in text.chars() {
        let wide = c.width().unwrap_or(0);
        if used + wide + 1 > width {
            break;
        }
        used += wide;
        cut.push(c);
    }
    if width > 0 {
        cut.push('…');
        used += 1;
    }
    " ".repeat(width.saturating_sub(used)) + &cut
}

#[cfg(test)]
mod tests {
    use super::{fit, readable};

    #[test]
    fn blanks_are_seen_and_nothing_is_obeyed() {
        assert_eq!(readable(" the\n"), "·the⏎");
        assert_eq!(readable("\u{1b}[31m"), "\\u{1b}[31m");
        assert_eq!(readable("\u{202e}abc"), "\\u{202e}abc");
        assert_eq!(readable("ሰላም 漢"), "ሰላም·漢");
    }

    #[test]
    fn every_label_has_its_width() {
        assert_eq!(fit("it", 5), "   it");
        assert_eq!(fit("because", 5), "beca…");
        assert_eq!(fit("漢字漢字", 6), " 漢字…");
        assert_eq!(fit("abc", 0), "");
    }
}
