use attnscope_inspect::{Pick, Trace};
use attnscope_render::{Format, Place, What};

use crate::support::{MAP, PLACE, everything, example, hostile, questions, text};

/// CSV as RFC 4180 has it.
fn parse(csv: &str) -> Vec<Vec<String>> {
    let (mut records, mut record, mut field, mut quoted) = (Vec::new(), Vec::new(), String::new(), false);
    let mut chars = csv.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => field.extend(chars.next()),
            '"' => quoted = !quoted,
            ',' if !quoted => record.push(std::mem::take(&mut field)),
            '\r' if !quoted => {
                assert_eq!(chars.next(), Some('\n'));
                record.push(std::mem::take(&mut field));
                records.push(std::mem::take(&mut record));
            }
            c => field.push(c),
        }
    }
    assert!(!quoted && field.is_empty() && record.is_empty(), "the last line ends as every other");
    records
}

fn holds_every_bit(trace: &Trace, place: Place, records: &[Vec<String>]) {
    for (query, record) in records[1..].iter().enumerate() {
        let row = trace.picked_row(place.site, place.layer, place.head, query).unwrap();
        assert_eq!(record.len(), 2 + row.weights.len());
        assert_eq!(record[0], query.to_string());
        for (key, cell) in record[2..].iter().enumerate() {
            match row.mask[key] {
                Some(_) => assert_eq!(cell, "", "a hidden cell is empty"),
                None => assert_eq!(cell.parse::<f64>().unwrap().to_bits(), row.weights[key].to_bits()),
            }
        }
    }
}

#[test]
fn a_map_reads_back_bit_for_bit() {
    for (causal, head) in [(true, Pick::Head(0)), (false, Pick::Head(0)), (true, Pick::Mean)] {
        let (trace, place) = (example(causal), Place { head, ..PLACE });
        let records = parse(&text(&trace, &What::Map { place, queries: None, keys: None }, Format::Csv));
        assert_eq!(records[0][..4], ["query", "token", "0 The", "1 robot"]);
        assert_eq!(records[7][..2], ["6", "it"]);
        holds_every_bit(&trace, place, &records);
    }
}

#[test]
fn hostile_tokens_stay_in_their_fields() {
    let trace = hostile();
    let records = parse(&text(&trace, &MAP, Format::Csv));
    assert_eq!(records.len(), 11);
    holds_every_bit(&trace, PLACE, &records);
    assert_eq!(records[0][5], "3 =1+1");
    let tokens: Vec<&str> = records[1..].iter().map(|record| record[1].as_str()).collect();
    assert_eq!(tokens[..5], ["\"", crate::support::MARKUP, "\\u{0}\\u{1b}\\u{ffff}", "'=1+1", " a,b⏎"]);
}

#[test]
fn a_range_is_that_part_of_the_map() {
    let whole = parse(&text(&example(true), &MAP, Format::Csv));
    let part = What::Map { place: PLACE, queries: Some(4..7), keys: Some(1..3) };
    let part = parse(&text(&example(true), &part, Format::Csv));
    assert_eq!(part.len(), 4);
    for (record, from) in part[1..].iter().zip(&whole[5..]) {
        assert_eq!(record[..2], from[..2]);
        assert_eq!(record[2..], from[3..5]);
    }
}

#[test]
fn rows_cells_and_heads_have_their_numbers() {
    let trace = example(true);
    let [_, row, column, cell, heads] = questions().map(|what| parse(&text(&trace, &what, Format::Csv)));
    let found = trace.picked_row(PLACE.site, 0, PLACE.head, 6).unwrap();
    assert_eq!(row[0], ["key", "token", "weight", "score", "hidden"]);
    assert_eq!(row[2][2].parse::<f64>().unwrap().to_bits(), found.weights[1].to_bits());
    assert_eq!(row[2][3].parse::<f64>().unwrap().to_bits(), found.scores.unwrap()[1].to_bits());
    assert_eq!((row[10][2].as_str(), row[10][4].as_str()), ("", "future"));
    let listens = trace.column(PLACE.site, 0, PLACE.head, 1).unwrap();
    assert_eq!(column[0], ["query", "token", "weight", "hidden"]);
    assert_eq!(column[7][2].parse::<f64>().unwrap().to_bits(), listens.weights[6].to_bits());
    assert_eq!((column[1][2].as_str(), column[1][3].as_str()), ("", "future"));
    let products: f64 = cell[1..5].iter().map(|record| record[3].parse::<f64>().unwrap()).sum();
    let at = attnscope_inspect::At::default();
    assert!((products - trace.cell(at, 6, 1).unwrap().dot).abs() < 1e-12);
    assert_eq!(cell[0], ["dimension", "q", "k", "product", "v", "out", "name", "value"]);
    assert!(cell.iter().all(|record| record.len() == 8));
    let said =
        |name: &str| cell.iter().find(|record| record[6] == name).map(|record| record[7].parse::<f64>().unwrap());
    let found = trace.cell(at, 6, 1).unwrap();
    assert_eq!(said("score"), Some(found.score));
    assert_eq!((said("lse"), said("log_weight"), said("weight")), (found.lse, found.log_weight, Some(found.weight)));
    assert_eq!((said("row_sum"), said("sink"), said("softcap")), (Some(found.row_sum), None, None));
    assert_eq!(cell[1][4].parse::<f32>().unwrap(), found.v[0]);
    let stats = &trace.heads(None).unwrap()[0];
    assert_eq!(heads[1][..3], ["self", "0", "0"]);
    assert_eq!(heads[1][3].parse::<f64>().unwrap().to_bits(), stats.entropy.to_bits());
}

#[test]
fn a_sink_has_its_line() {
    let trace = everything();
    let found = trace.picked_row(PLACE.site, 0, PLACE.head, 9).unwrap();
    let row = parse(&text(&trace, &What::Row { place: PLACE, query: 9 }, Format::Csv));
    assert_eq!(row.len(), 12);
    assert_eq!((row[11][0].as_str(), row[11][2].parse::<f64>().unwrap()), ("sink", found.sink.unwrap()));
    let shown = text(&trace, &What::Row { place: PLACE, query: 9 }, Format::Svg);
    assert!(shown.contains(&format!("the head&#39;s sink takes {:.6}", found.sink.unwrap())), "{shown}");
    let what = What::Cell { at: attnscope_inspect::At::default(), query: 9, key: 8 };
    let cell = parse(&text(&trace, &what, Format::Csv));
    let names: Vec<&str> = cell.iter().map(|record| record[6].as_str()).filter(|name| !name.is_empty()).collect();
    assert!(["softcap", "alibi", "relative_bias", "bias", "sink"].iter().all(|name| names.contains(name)), "{names:?}");
}

#[test]
fn a_picture_says_that_a_row_is_damaged() {
    let mut trace = example(true);
    trace.sites[0].lse = trace.sites[0].lse.iter().map(|lse| lse + 0.5).collect::<Vec<_>>().into();
    for what in &questions()[..4] {
        let shown = text(&trace, what, Format::Svg);
        let row = matches!(what, What::Row { .. } | What::Cell { .. });
        assert_eq!(shown.contains("the weights sum to 0.606531"), row, "{what:?}");
    }
}
