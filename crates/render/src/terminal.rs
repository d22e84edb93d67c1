//! Heat maps and bars in character cells.

use std::fmt::Write;

use attnscope_inspect::{MapTile, Token};

use crate::{fit, readable};

/// Whether a terminal shows 24-bit colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// Shades of colour behind blanks.
    Full,
    /// Characters alone.
    None,
}

/// Columns of a row's label: position, blank, token.
const LABEL: usize = 18;
/// From nothing to everything, where there is no colour.
const SHADES: [char; 6] = ['·', '░', '▒', '▓', '█', '█'];

/// A map, queries down and keys across, two columns a cell. A map that is wider than `columns` is pooled: each
/// character shows the largest weight of its square, and the head line says so.
pub fn heat_map(tile: &MapTile, tokens: &[Token], columns: usize, colour: Colour) -> String {
    let n = tile.keys.len();
    let room = (columns.saturating_sub(LABEL + 1) / 2).max(1);
    let pool = n.div_ceil(room).max(1);
    let mut text = String::new();
    let _ = writeln!(text, "{}", head(tile, pool));
    if pool == 1 {
        column_numbers(&mut text, tile);
    }
    for first in (0..tile.queries.len()).step_by(pool) {
        let query = tile.queries.start + first;
        let token = tokens.get(query).map(|token| readable(&token.text)).unwrap_or_default();
        let _ = write!(text, "{query:>5} {} ", fit(&token, LABEL - 6));
        for left in (0..n).step_by(pool) {
            let rows = first..tile.queries.len().min(first + pool);
            let cells = rows.flat_map(|row| &tile.cells[row * n + left..row * n + n.min(left + pool)]);
            cell(&mut text, cells.copied().fold(f32::NEG_INFINITY, f32::max), colour);
        }
        text.push('\n');
    }
    text
}

fn head(tile: &MapTile, pool: usize) -> String {
    let size = format!("{} queries (down) x {} keys (across)", tile.queries.len(), tile.keys.len());
    match pool {
        1 => size,
        _ => format!("{size}; each mark is the largest weight of {pool} x {pool} cells"),
    }
}

fn column_numbers(text: &mut String, tile: &MapTile) {
    let digits = if tile.keys.end > 100 { 3 } else { 2 };
    for place in (0..digits).rev() {
        let unit = 10usize.pow(place);
        let _ = write!(text, "{}", " ".repeat(LABEL + 1));
        for key in tile.keys.clone() {
            // The ones for every column, tens and hundreds where they change.
            let shown = unit == 1 || (key % unit == 0 && key > 0);
            let _ = if shown { write!(text, "{:<2}", key / unit % 10) } else { write!(text, "  ") };
        }
        text.truncate(text.trim_end_matches(' ').len());
        text.push('\n');
    }
}

fn cell(text: &mut String, weight: f32, colour: Colour) {
    if weight < 0.0 {
        text.push_str("  ");
        return;
    }
    match colour {
        Colour::Full => {
            let shade = colorous::INFERNO.eval_continuous(f64::from(weight).sqrt());
            let _ = write!(text, "\x1b[48;2;{};{};{}m  \x1b[0m", shade.r, shade.g, shade.b);
        }
        Colour::None => {
            let shade = SHADES[(weight.clamp(0.0, 1.0).sqrt() * 5.0).round() as usize];
            let _ = write!(text, "{shade}{shade}");
        }
    }
}

/// A bar of at most `width` columns, an eighth of a column fine.
pub fn bar(part: f64, width: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (part.clamp(0.0, 1.0) * (width * 8) as f64).round() as usize;
    "█".repeat(eighths / 8) + EIGHTHS[eighths % 8]
}

#[cfg(test)]
mod tests {
    use super::{Colour, bar, heat_map};
    use attnscope_inspect::{MapTile, Token};

    fn map(n: usize) -> (MapTile, Vec<Token>) {
        let cells = (0..n * n).map(|at| if at % n > at / n { -1.0 } else { 1.0 / (at / n + 1) as f32 }).collect();
        (MapTile { queries: 0..n, keys: 0..n, cells }, (0..n).map(|i| Token::plain(None, format!(" t{i}"))).collect())
    }

    #[test]
    fn a_small_map_shows_every_cell() {
        let (tile, tokens) = map(3);
        let lines: Vec<String> = heat_map(&tile, &tokens, 80, Colour::None).lines().map(str::to_owned).collect();
        assert_eq!(lines[0], "3 queries (down) x 3 keys (across)");
        assert_eq!(lines[2], format!("{}0 1 2", " ".repeat(19)));
        assert_eq!(lines[3], "    0          ·t0 ██    ");
        assert_eq!(lines[5], "    2          ·t2 ▓▓▓▓▓▓");
    }

    #[test]
    fn a_large_map_is_pooled_and_says_so() {
        let (tile, tokens) = map(200);
        let text = heat_map(&tile, &tokens, 80, Colour::None);
        assert!(
            text.starts_with("200 queries (down) x 200 keys (across); each mark is the largest weight of 7 x 7 cells")
        );
        assert!(text.lines().skip(1).all(|line| line.chars().count() <= 80));
    }

    #[test]
    fn bars_are_as_long_as_their_part() {
        assert_eq!(bar(1.0, 4), "████");
        assert_eq!(bar(0.5, 3), "█▌");
        assert_eq!(bar(0.0, 3), "");
    }
}
