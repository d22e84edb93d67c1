//! One HTML file that needs nothing else: no script, nothing from the network, and a policy that forbids both.

use std::fmt::{self, Write};

use attnscope_inspect::{HeadStats, Token, Trace};

use super::Grid;
use crate::escape::{Escaped, one_line};
use crate::picture::{Label, hidden_word};
use crate::{CAVEAT, Theme};

/// A table of more tokens than this is no longer read; the numbers are in the other formats.
pub(crate) const MOST_IN_TABLE: usize = 64;
const STYLE: &str = include_str!("html.css");
/// SHA-256 of `STYLE`, so that the policy allows this style sheet and no other. A test holds it right.
const STYLE_HASH: &str = "2AK2ZhhoM/oybnpNMT31O+XjhL2HxxxOorQL128PGFM=";

/// A picture, and below it the numbers where they are few enough to read.
pub(crate) fn picture_page(title: &str, theme: Theme, svg: &str, grid: Option<&Grid>) -> Result<String, fmt::Error> {
    let mut out = head(title, theme)?;
    writeln!(out, "<figure>\n{svg}</figure>")?;
    if let Some(grid) = grid {
        table(&mut out, grid)?;
    }
    out.push_str("</body>\n</html>\n");
    Ok(out)
}

/// The statistics of heads, as a table.
pub(crate) fn heads_page(trace: &Trace, heads: &[HeadStats], theme: Theme) -> Result<String, fmt::Error> {
    let name = one_line(&trace.model.name);
    let mut out = head(&format!("{name}: every head"), theme)?;
    writeln!(out, "<h1>{}</h1>\n<p>{} heads.</p>", Escaped(&name), heads.len())?;
    for words in [&trace.text, &trace.model.note].into_iter().filter(|words| !words.is_empty()) {
        writeln!(out, "<p>{}</p>", Escaped(&one_line(words)))?;
    }
    out.push_str("<div class=\"table\"><table>\n<thead><tr>");
    for column in
        ["site", "layer", "head", "entropy", "first", "self", "previous", "distance", "row sum error", "output error"]
    {
        write!(out, "<th scope=\"col\">{column}</th>")?;
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for head in heads {
        write!(out, "<tr><td>{}</td><td>{}</td><th scope=\"row\">{}</th>", head.site, head.layer, head.head)?;
        for number in [Some(head.entropy), Some(head.first), head.own, head.previous, head.distance] {
            write!(out, "<td>{}</td>", number.map_or_else(|| "–".to_owned(), |number| format!("{number:.4}")))?;
        }
        writeln!(out, "<td>{:.1e}</td><td>{:.1e}</td></tr>", head.proof.row_sum_error, head.proof.output_error)?;
    }
    write!(out, "</tbody></table></div>\n<p>{CAVEAT}</p>\n</body>\n</html>\n")?;
    Ok(out)
}

fn head(title: &str, theme: Theme) -> Result<String, fmt::Error> {
    let mut out = String::new();
    write!(
        out,
        r#"<!doctype html>
<html lang="en" class="{}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-{STYLE_HASH}'; img-src data:; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{}</title>
<style>{STYLE}</style>
</head>
<body>
"#,
        theme.name(),
        Escaped(title),
    )?;
    Ok(out)
}

fn table(out: &mut String, grid: &Grid) -> fmt::Result {
    out.push_str("<h2>The weights</h2>\n<p>Queries down, keys across. A dash is a hidden key; point at it to see why, and at a number for all of its digits.</p>\n");
    out.push_str("<div class=\"table\"><table>\n<thead><tr><td></td>");
    let (ask, asked) = (grid.trace.query_tokens(grid.place.site), grid.trace.key_tokens(grid.place.site));
    let named = |tokens: &[Token], index: usize| {
        let Label { token, index } = Label::new(tokens, index);
        format!("{} <small>{index}</small>", Escaped(&token))
    };
    for key in grid.keys.clone() {
        write!(out, "<th scope=\"col\">{}</th>", named(asked, key))?;
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for (query, cells) in grid.rows() {
        write!(out, "<tr><th scope=\"row\">{}</th>", named(ask, query))?;
        for cell in cells {
            match cell {
                Ok(weight) => write!(out, "<td title=\"{weight:e}\">{weight:.4}</td>")?,
                Err(reason) => write!(out, "<td class=\"hidden\" title=\"hidden: {}\">–</td>", hidden_word(reason))?,
            }
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody></table></div>\n");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{STYLE, STYLE_HASH};
    use sha2::Digest;

    #[test]
    fn the_policy_allows_this_style_sheet() {
        assert_eq!(STYLE_HASH, crate::paint::base64(&sha2::Sha256::digest(STYLE)));
    }
}
