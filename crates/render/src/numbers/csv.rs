//! CSV as RFC 4180 has it. Numbers are the shortest that read back as the very same f64; a hidden cell is empty.

use std::fmt::{self, Display, Write};

use attnscope_inspect::{Cell, Column, HeadStats, Row, Token, Trace};

use super::Grid;
use crate::escape::one_line;

/// A map: a line a query, a column a key, both with position and token.
pub(crate) fn map_csv(grid: &Grid) -> Result<String, fmt::Error> {
    let (tokens, asked) = (grid.trace.query_tokens(grid.place.site), grid.trace.key_tokens(grid.place.site));
    let mut out = String::from("query,token");
    for key in grid.keys.clone() {
        let token = asked.get(key).map(|token| one_line(&token.text)).unwrap_or_default();
        // The position comes first, so a spreadsheet never takes it for a formula.
        write!(out, ",{}", Field(&format!("{key} {token}")))?;
    }
    out.push_str("\r\n");
    for (query, cells) in grid.rows() {
        write!(out, "{query},{}", token(tokens, query))?;
        for cell in cells {
            write!(out, ",{}", Number(cell.ok()))?;
        }
        out.push_str("\r\n");
    }
    Ok(out)
}

/// A row: a line a key, and one for the sink where the head has one.
pub(crate) fn row_csv(trace: &Trace, row: &Row) -> Result<String, fmt::Error> {
    let mut out = String::from("key,token,weight,score,hidden\r\n");
    for (key, weight) in row.weights.iter().enumerate() {
        let hidden = row.mask[key];
        let (weight, score) = (Number(hidden.is_none().then_some(*weight)), row.scores.as_ref().map(|all| all[key]));
        let token = token(trace.key_tokens(row.site), key);
        write!(out, "{key},{token},{weight},{},{}\r\n", Number(score), hidden.unwrap_or_default())?;
    }
    if let Some(sink) = row.sink {
        write!(out, "sink,,{},,\r\n", Number(Some(sink)))?;
    }
    Ok(out)
}

/// A column: a line a query.
pub(crate) fn column_csv(trace: &Trace, column: &Column) -> Result<String, fmt::Error> {
    let mut out = String::from("query,token,weight,hidden\r\n");
    for (query, weight) in column.weights.iter().enumerate() {
        let hidden = column.mask[query];
        let token = token(trace.query_tokens(column.site), query);
        write!(
            out,
            "{query},{token},{},{}\r\n",
            Number(hidden.is_none().then_some(*weight)),
            hidden.unwrap_or_default()
        )?;
    }
    Ok(out)
}

/// A cell: a line a dimension with the vectors, then a line a number of the calculation, in its order.
pub(crate) fn cell_csv(cell: &Cell) -> Result<String, fmt::Error> {
    let mut out = String::from("dimension,q,k,product,v,out,name,value\r\n");
    let [q, k, v, z] = [&cell.q, &cell.k, &cell.v, &cell.out];
    for dimension in 0..q.len().max(v.len()) {
        let of = |vector: &[f32]| Number(vector.get(dimension).map(|x| f64::from(*x)));
        let product = Number(cell.products.get(dimension).copied());
        write!(out, "{dimension},{},{},{product},{},{},,\r\n", of(q), of(k), of(v), of(z))?;
    }
    let term = |term: Option<f32>| term.map(f64::from);
    let numbers = [
        ("dot", Some(cell.dot)),
        ("scale", Some(f64::from(cell.scale))),
        ("scaled", Some(cell.scaled)),
        ("softcap", term(cell.softcap)),
        ("alibi", term(cell.alibi)),
        ("relative_bias", term(cell.relative_bias)),
        ("bias", term(cell.bias)),
        ("score", Some(cell.score)),
        ("lse", cell.lse),
        ("log_weight", cell.log_weight),
        ("weight", Some(cell.weight)),
        ("row_sum", Some(cell.row_sum)),
        ("sink", cell.sink),
        ("share", Some(cell.share)),
    ];
    // What is not in use has no line.
    for (name, value) in numbers.into_iter().filter(|(_, value)| value.is_some()) {
        write!(out, ",,,,,,{name},{}\r\n", Number(value))?;
    }
    if let Some(hidden) = cell.mask {
        write!(out, ",,,,,,hidden,{hidden}\r\n")?;
    }
    Ok(out)
}

/// The heads: a line each.
pub(crate) fn heads_csv(heads: &[HeadStats]) -> Result<String, fmt::Error> {
    let mut out = String::from("site,layer,head,entropy,first,self,previous,distance,row_sum_error,output_error\r\n");
    for head in heads {
        write!(out, "{},{},{}", head.site, head.layer, head.head)?;
        let proof = [Some(head.proof.row_sum_error), Some(head.proof.output_error)];
        let numbers = [Some(head.entropy), Some(head.first), head.own, head.previous, head.distance];
        for number in numbers.into_iter().chain(proof) {
            write!(out, ",{}", Number(number))?;
        }
        out.push_str("\r\n");
    }
    Ok(out)
}

/// A token as a field by itself. One that a spreadsheet would compute has an apostrophe before it.
fn token(tokens: &[Token], index: usize) -> String {
    let text = tokens.get(index).map(|token| one_line(&token.text)).unwrap_or_default();
    let computed = text.starts_with(['=', '+', '-', '@']);
    Field(&if computed { format!("'{text}") } else { text }).to_string()
}

/// Text, quoted where it must be.
struct Field<'a>(&'a str);

impl Display for Field<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Blanks at the ends are part of a token, and some readers trim what is not quoted.
        let plain = !self.0.contains([',', '"', '\r', '\n']) && self.0.trim() == self.0;
        if plain { f.write_str(self.0) } else { write!(f, "\"{}\"", self.0.replace('"', "\"\"")) }
    }
}

/// A number, or nothing.
struct Number(Option<f64>);

impl Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            None => Ok(()),
            Some(x) if x == 0.0 || (1e-5..1e16).contains(&x.abs()) => write!(f, "{x}"),
            Some(x) => write!(f, "{x:e}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Field, Number, token};
    use attnscope_inspect::Token;

    #[test]
    fn fields_are_quoted_where_they_must_be() {
        assert_eq!(Field("it").to_string(), "it");
        assert_eq!(Field(" a,\"b\"").to_string(), "\" a,\"\"b\"\"\"");
    }

    #[test]
    fn a_spreadsheet_computes_nothing() {
        let tokens = ["=1+1", " the", "\u{1b}\n"].map(|text| Token::plain(None, text));
        assert_eq!(token(&tokens, 0), "'=1+1");
        assert_eq!(token(&tokens, 1), "\" the\"");
        assert_eq!(token(&tokens, 2), "\\u{1b}⏎");
    }

    #[test]
    fn numbers_read_back_as_they_were() {
        for x in [0.0, 0.1 + 0.2, 1e-300, 5e-324, f64::MAX, -1.0 / 3.0, 6.02e-7] {
            assert_eq!(Number(Some(x)).to_string().parse::<f64>().unwrap().to_bits(), x.to_bits());
        }
        assert_eq!(Number(None).to_string(), "");
    }
}
