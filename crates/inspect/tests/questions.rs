//! Questions to a trace: what may be asked, what the answers agree on, and what is said to a wrong one.

mod common;

use attnscope_inspect::{At, Pick, Read, SiteKind, Token, Trace, hidden_code};
use attnscope_kernel::{Bias, Hidden, KeyPadding, Knockout, Params, RelativeBias, Window};
use common::{SMALL, site, tokens, trace};

fn causal() -> Trace {
    trace(SMALL, &Params { causal: true, ..Params::for_head_dim(5) })
}

fn says<T: std::fmt::Debug>(result: Result<T, attnscope_inspect::Error>, parts: &[&str]) {
    let message = result.unwrap_err().to_string();
    assert_eq!(message.lines().count(), 1, "{message}");
    for part in parts {
        assert!(message.contains(part), "{message:?} does not say {part:?}");
    }
}

#[test]
fn what_is_out_of_range_is_answered_with_the_range() {
    let trace = causal();
    let at = |layer, head| At { layer, head, ..At::default() };
    for huge in [2, usize::MAX] {
        let layer = format!("layer {huge} is out of range");
        says(trace.cell(at(huge, 0), 0, 0), &[&layer, "layers 0 to 1"]);
        says(trace.row(at(huge, 0), 0), &[&layer, "layers 0 to 1"]);
        says(trace.picked_row(SiteKind::SelfAttention, huge, Pick::Mean, 0), &[&layer]);
    }
    for huge in [4, usize::MAX] {
        let head = format!("head {huge} is out of range");
        says(trace.cell(at(0, huge), 0, 0), &[&head, "4 heads, 0 to 3"]);
        says(trace.row(at(0, huge), 0), &[&head]);
        says(trace.tile(at(0, huge), 0..1, 0..1), &[&head]);
    }
    for huge in [11, usize::MAX] {
        let (query, key) = (format!("query {huge} is out of range"), format!("key {huge} is out of range"));
        says(trace.cell(at(0, 0), huge, 0), &[&query, "11", "0 to 10"]);
        says(trace.cell(at(0, 0), 0, huge), &[&key, "11", "0 to 10"]);
        says(trace.row(at(0, 0), huge), &[&query, "0 to 10"]);
        says(trace.picked_row(SiteKind::SelfAttention, 0, Pick::Mean, huge), &[&query, "0 to 10"]);
    }
    says(trace.site(SiteKind::Cross, 0), &["no cross attention"]);
}

#[test]
#[allow(clippy::reversed_empty_ranges, reason = "that is what is refused")]
fn a_tile_outside_of_the_map_is_refused() {
    let trace = causal();
    let at = At::default();
    for (queries, keys) in [(0..12, 0..1), (11..12, 0..1), (3..3, 0..1), (3..2, 0..1)] {
        says(trace.tile(at, queries, keys), &["queries", "0..11"]);
    }
    for keys in [0..12, 5..5, 5..4, 0..usize::MAX] {
        says(trace.tile(at, 0..1, keys), &["keys", "0..11"]);
    }
}

#[test]
fn a_token_is_found_by_position_or_by_a_text_that_occurs_once() {
    let text = |text: &str| Token::plain(None, text);
    let mut tokens = tokens(11);
    (tokens[5], tokens[8], tokens[9]) = (text(" it"), text("it"), text(" 7"));
    let sites = causal().sites;
    let trace = Trace::new(Default::default(), String::new(), tokens, sites).unwrap();
    assert_eq!(trace.find_query(SiteKind::SelfAttention, "t1").unwrap(), 1);
    assert_eq!(trace.find_key(SiteKind::SelfAttention, "  t1 ").unwrap(), 1);
    assert_eq!(trace.find_key(SiteKind::SelfAttention, "[CLS]").unwrap(), 0);
    // An integer is always a position, though a token reads 7 too.
    assert_eq!(trace.find_query(SiteKind::SelfAttention, "7").unwrap(), 7);
    assert_eq!(trace.find_query(SiteKind::SelfAttention, "10").unwrap(), 10);
    says(trace.find_query(SiteKind::SelfAttention, "11"), &["query 11 is out of range", "0 to 10"]);
    says(trace.find_key(SiteKind::SelfAttention, "11"), &["key 11 is out of range"]);
    says(
        trace.find_key(SiteKind::SelfAttention, "it"),
        &["\"it\" occurs 2 times", "positions 5, 8", "position instead"],
    );
    says(trace.find_query(SiteKind::SelfAttention, "robot"), &["no token reads \"robot\"", "\"t1\""]);
    says(trace.find_query(SiteKind::SelfAttention, "99999999999999999999999"), &["out of range", "0 to 10"]);
    says(trace.find_query(SiteKind::SelfAttention, "-1"), &["query -1 is out of range", "0 to 10"]);
    says(trace.find_query(SiteKind::SelfAttention, ""), &["no token reads \"\""]);
    // What is quoted cannot do anything to a terminal.
    says(trace.find_query(SiteKind::SelfAttention, "\u{1b}[31m\n"), &["\\u{1b}[31m"]);
}

#[test]
fn a_long_text_is_not_listed_whole() {
    let len = 500;
    let sizes = common::Sizes { len, layers: 1, ..SMALL };
    let trace = trace(sizes, &Params::for_head_dim(5));
    let message = trace.find_query(SiteKind::SelfAttention, "nowhere").unwrap_err().to_string();
    assert!(message.len() < 600 && message.contains("500 in all"), "{message}");
}

/// The keys of a cross-attention are another text, so a name cannot be looked up among this one's tokens.
#[test]
fn the_range_of_a_cross_attention_is_its_own() {
    let params = Params::for_head_dim(5);
    let sites = vec![site(SiteKind::Cross, 0, 11, 6, SMALL, &params)];
    let trace = Trace::new(Default::default(), String::new(), tokens(11), sites).unwrap();
    let at = At { site: SiteKind::Cross, layer: 0, head: 1 };
    assert_eq!(trace.row(at, 10).unwrap().weights.len(), 6);
    says(trace.cell(at, 0, 6), &["key 6 is out of range", "0 to 5"]);
    says(trace.cell(at, 11, 0), &["query 11 is out of range", "0 to 10"]);
    says(trace.cell(At::default(), 0, 0), &["no self attention"]);
}

/// With what the encoder read, each axis has its own names, and a site must have as many tokens as its text.
#[test]
fn each_axis_of_an_encoder_decoder_has_its_own_tokens() {
    let params = Params::for_head_dim(5);
    let sites = vec![
        site(SiteKind::Encoder, 0, 6, 6, SMALL, &params),
        site(SiteKind::SelfAttention, 0, 11, 11, SMALL, &params),
        site(SiteKind::Cross, 0, 11, 6, SMALL, &params),
    ];
    let trace = Trace::new(Default::default(), String::new(), tokens(11), sites).unwrap();
    let read = |len: usize| Read {
        text: "read".to_owned(),
        tokens: (0..len).map(|index| Token::plain(None, format!("e{index}"))).collect(),
    };
    says(trace.clone().with_encoder(read(7)), &["layer 0 encoder", "(6, 6)", "(7, 7)"]);
    let trace = trace.with_encoder(read(6)).unwrap();
    assert_eq!(trace.find_key(SiteKind::Cross, "e4").unwrap(), 4);
    assert_eq!(trace.find_query(SiteKind::Encoder, "e4").unwrap(), 4);
    says(trace.find_query(SiteKind::Cross, "e4"), &["no token reads \"e4\"", "\"t1\""]);
    says(trace.find_key(SiteKind::SelfAttention, "e4"), &["no token reads \"e4\""]);
    says(trace.find_key(SiteKind::Cross, "6"), &["key 6 is out of range", "0 to 5"]);
    let cell = trace.cell(At { site: SiteKind::Cross, layer: 0, head: 1 }, 1, 4).unwrap();
    assert_eq!((&*cell.query.token, &*cell.key.token), (" t1", "e4"));
    let column = trace.column(SiteKind::Cross, 0, Pick::Mean, 4).unwrap();
    assert_eq!(
        (&*column.key.token, &*column.strongest[0].token),
        ("e4", &*trace.tokens[column.strongest[0].index].text)
    );
}

#[test]
fn cell_row_and_tile_are_one_number() {
    let window = Some(Window { left: 3, right: 1 });
    for params in [Params::for_head_dim(5), Params { causal: true, window, ..Params::for_head_dim(5) }] {
        let trace = trace(SMALL, &params);
        for head in 0..4 {
            let at = At { layer: 1, head, ..At::default() };
            let whole = trace.tile(at, 0..11, 0..11).unwrap();
            for query in 0..11 {
                let row = trace.row(at, query).unwrap();
                assert!((row.row_sum - 1.0).abs() < 1e-6);
                for key in 0..11 {
                    let cell = trace.cell(at, query, key).unwrap();
                    assert_eq!(cell.weight.to_bits(), row.weights[key].to_bits());
                    assert_eq!(cell.score.to_bits(), row.scores.as_ref().unwrap()[key].to_bits());
                    assert_eq!((cell.mask, cell.lse, cell.row_sum), (row.mask[key], row.lse, row.row_sum));
                    assert_eq!(cell.kv_head, head / 2);
                    let part = trace.tile(at, query..query + 1, key..key + 1).unwrap();
                    assert_eq!(part.cells, [whole.cells[query * 11 + key]]);
                    assert_eq!(whole.cells[query * 11 + key].max(0.0), cell.weight as f32);
                }
            }
        }
    }
}

#[test]
fn a_cell_is_worked_out_step_by_step() {
    let trace = causal();
    let at = At { layer: 1, head: 3, ..At::default() };
    let (query, key) = (9, 4);
    let cell = trace.cell(at, query, key).unwrap();
    assert_eq!((cell.layer, cell.head, cell.kv_head), (1, 3, 1));
    assert_eq!((cell.query.index, &*cell.query.token, cell.key.index), (9, " t9", 4));
    let products: Vec<f64> = cell.q.iter().zip(&cell.k).map(|(q, k)| f64::from(*q) * f64::from(*k)).collect();
    assert_eq!(cell.products, products);
    assert_eq!(cell.dot, products.iter().sum::<f64>());
    assert!((cell.score - cell.dot * f64::from(cell.scale)).abs() < 1e-6);
    assert_eq!(cell.log_weight, Some(cell.score - cell.lse.unwrap()));
    assert_eq!(cell.weight, cell.log_weight.unwrap().exp());
    // Its part of the output, and all parts together.
    let shares: f64 = (0..11).map(|key| trace.cell(at, query, key).unwrap().share).sum();
    assert!((shares - 1.0).abs() < 1e-9, "{shares}");
    let length = |v: &[f32]| v.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt();
    let all: f64 = (0..11).map(|key| trace.cell(at, query, key).unwrap()).map(|c| c.weight * length(&c.v)).sum();
    assert!((cell.share - cell.weight * length(&cell.v) / all).abs() < 1e-12);
    for dim in 0..3 {
        let sum: f64 =
            (0..11).map(|key| trace.cell(at, query, key).unwrap()).map(|c| c.weight * f64::from(c.v[dim])).sum();
        assert!((sum - f64::from(cell.out[dim])).abs() < 1e-6);
    }
}

#[test]
fn a_mean_is_the_mean_of_the_heads_and_sums_to_1() {
    let trace = causal();
    for query in 0..11 {
        let mean = trace.picked_row(SiteKind::SelfAttention, 1, Pick::Mean, query).unwrap();
        let rows: Vec<_> =
            (0..4).map(|head| trace.row(At { layer: 1, head, ..At::default() }, query).unwrap()).collect();
        for key in 0..11 {
            let want = rows.iter().map(|row| row.weights[key]).sum::<f64>() / 4.0;
            assert!((mean.weights[key] - want).abs() < 1e-12);
            assert_eq!(mean.mask[key], (key > query).then_some("future"));
        }
        assert!((mean.row_sum - 1.0).abs() < 1e-6);
        assert_eq!((mean.head, mean.scores, mean.lse, mean.visible), (Pick::Mean, None, None, query + 1));
        let entropy: f64 = mean.weights.iter().filter(|a| **a > 0.0).map(|a| -a * a.ln()).sum();
        assert!((mean.entropy - entropy).abs() < 1e-12);
        assert!(mean.strongest.iter().is_sorted_by(|a, b| a.weight >= b.weight));
        assert!(mean.strongest.iter().all(|key| key.index <= query));

        let tile = trace.picked_tile(SiteKind::SelfAttention, 1, Pick::Mean, query..query + 1, 0..11).unwrap();
        for key in 0..11 {
            let want = if key > query { -1.0 } else { mean.weights[key] as f32 };
            assert!((tile.cells[key] - want).abs() < 1e-6, "{} for {want}", tile.cells[key]);
        }
    }
    let one = trace.picked_row(SiteKind::SelfAttention, 1, Pick::Head(2), 5).unwrap();
    assert_eq!(one, trace.row(At { layer: 1, head: 2, ..At::default() }, 5).unwrap());
    assert_eq!(serde_json::to_value(&one).unwrap()["head"], 2);
    let mean = trace.picked_row(SiteKind::SelfAttention, 1, Pick::Mean, 5).unwrap();
    assert_eq!(serde_json::to_value(&mean).unwrap()["head"], "mean");
}

/// Many heads that share one mask: the mean of -1 and -1 and so on must still be read as -1.
#[test]
fn hidden_cells_of_a_tile_are_codes_in_one_head_and_in_the_mean() {
    let window = Some(Window { left: 2, right: 5 });
    let sizes = common::Sizes { q_heads: 7, kv_heads: 7, ..SMALL };
    let trace = trace(sizes, &Params { causal: true, window, ..Params::for_head_dim(5) });
    let picks = [Pick::Head(6), Pick::Mean];
    let tiles = picks.map(|pick| trace.picked_tile(SiteKind::SelfAttention, 0, pick, 0..11, 0..11).unwrap());
    for query in 0..11 {
        for key in 0..11 {
            for tile in &tiles {
                let cell = tile.cells[query * 11 + key];
                match () {
                    () if key > query => assert_eq!(cell, hidden_code(Hidden::Future)),
                    () if key + 2 < query => assert_eq!(cell, hidden_code(Hidden::OutsideWindow)),
                    () => assert!(cell > 0.0),
                }
            }
        }
    }
    assert_eq!([hidden_code(Hidden::Future), hidden_code(Hidden::OutsideWindow)], [-1.0, -2.0]);
}

/// A row that sees nothing has no sum, no entropy and no lse, and says why for every key.
#[test]
fn a_row_that_sees_nothing_says_so() {
    let params = Params { causal: true, ..Params::for_head_dim(5) };
    let sites = vec![site(SiteKind::Encoder, 0, 9, 4, SMALL, &params)];
    let trace = Trace::new(Default::default(), String::new(), tokens(9), sites).unwrap();
    let at = At { site: SiteKind::Encoder, layer: 0, head: 1 };
    let row = trace.row(at, 2).unwrap();
    assert_eq!((row.row_sum, row.entropy, row.lse, row.visible), (0.0, 0.0, None, 0));
    assert_eq!(row.mask, [Some("future"); 4]);
    assert!(row.strongest.is_empty());
    let cell = trace.cell(at, 2, 0).unwrap();
    assert_eq!((cell.weight, cell.row_sum, cell.share), (0.0, 0.0, 0.0));
    assert_eq!((cell.lse, cell.log_weight, cell.mask), (None, None, Some("future")));
    assert_eq!(cell.out, [0.0; 3]);
    let mean = trace.picked_row(SiteKind::Encoder, 0, Pick::Mean, 2).unwrap();
    assert_eq!((mean.row_sum, mean.entropy, mean.visible), (0.0, 0.0, 0));
}

/// A trace with everything that a score can be made of.
fn everything() -> Trace {
    let table = (0..8 * 4).map(|at| at as f32 / 30.0).collect::<Vec<f32>>();
    let bias = (0..121).map(|at| (at % 7) as f32 / 9.0).collect::<Vec<f32>>();
    let params = Params {
        causal: true,
        softcap: Some(1.5),
        key_padding: Some(KeyPadding::new((0..11).map(|key| key != 2).collect::<Vec<_>>())),
        bias: Some(Bias::new(bias, [1, 1, 11, 11]).unwrap()),
        alibi_slopes: Some([0.5, 0.25, 0.125, 0.0625].into()),
        relative_bias: Some(RelativeBias::new(table, 8, 32, true).unwrap()),
        sinks: Some([0.1, -0.2, 0.3, 2.0].into()),
        knockouts: vec![Knockout { head: Some(3), query: None, key: Some(1) }],
        ..Params::for_head_dim(5)
    };
    trace(SMALL, &params)
}

#[test]
fn a_cell_names_every_term_of_its_score() {
    let trace = everything();
    let at = At { site: SiteKind::SelfAttention, layer: 1, head: 2 };
    let cell = trace.cell(at, 7, 4).unwrap();
    let steps = cell.steps();
    assert_eq!(steps.len(), 5, "scale, softcap, ALiBi, relative position, bias: {steps:?}");
    assert_eq!(steps[4].1, cell.score);
    let c = 1.5f64;
    let added = [cell.alibi, cell.relative_bias, cell.bias].map(|term| f64::from(term.unwrap()));
    assert_eq!(added[0], -0.125 * 3.0);
    assert!((f64::from(cell.scale) * cell.dot - cell.scaled).abs() < 1e-6);
    assert!((c * (cell.scaled / c).tanh() + added.iter().sum::<f64>() - cell.score).abs() < 1e-6);
    assert!((cell.row_sum + cell.sink.unwrap() - 1.0).abs() < 1e-6, "{} + {:?}", cell.row_sum, cell.sink);
    assert!((cell.weight - (cell.score - cell.lse.unwrap()).exp()).abs() < 1e-12);
    // A head without any of it has none to name.
    let plain = common::trace(SMALL, &Params::for_head_dim(5)).cell(at, 7, 4).unwrap();
    assert_eq!(
        (plain.softcap, plain.alibi, plain.relative_bias, plain.bias, plain.sink),
        (None, None, None, None, None)
    );
    assert_eq!(plain.steps().len(), 1);
}

#[test]
fn padding_and_knockouts_are_said_wherever_they_hide() {
    let trace = everything();
    let (site, layer) = (SiteKind::SelfAttention, 1);
    let row = |head| trace.picked_row(site, layer, Pick::Head(head), 7).unwrap();
    assert_eq!(row(0).mask[..4], [None, None, Some("padding"), None]);
    assert_eq!(row(3).mask[..4], [None, Some("knocked_out"), Some("padding"), None]);
    assert_eq!((row(0).visible, row(3).visible), (7, 6));
    assert!(row(3).strongest.iter().all(|key| key.index != 1 && key.index != 2));
    // The mean sees what any head sees.
    let mean = trace.picked_row(site, layer, Pick::Mean, 7).unwrap();
    assert_eq!((mean.mask[1], mean.mask[2], mean.visible), (None, Some("padding"), 7));
    let expected = (0..4).map(|head| row(head).weights[1]).sum::<f64>() / 4.0;
    assert!((mean.weights[1] - expected).abs() < 1e-12);
    let tile = trace.picked_tile(site, layer, Pick::Mean, 7..8, 0..4).unwrap();
    assert!((f64::from(tile.cells[1]) - expected).abs() < 1e-6);
    assert_eq!(tile.cells[2], -3.0);
    assert_eq!(trace.tile(At { site, layer, head: 3 }, 7..8, 1..2).unwrap().cells, [-5.0]);
    let column = trace.column(site, layer, Pick::Head(3), 1).unwrap();
    assert_eq!((column.mask[7], column.visible), (Some("knocked_out"), 0));
    // A sink's share is no error.
    for head in trace.heads(Some(1)).unwrap() {
        assert!(head.proof.row_sum_error < 1e-6 && head.proof.output_error < 1e-5, "{:?}", head.proof);
    }
}

#[test]
fn what_a_sink_takes_is_no_ones_attention() {
    let trace = everything();
    let row = trace.row(At { site: SiteKind::SelfAttention, layer: 1, head: 3 }, 7).unwrap();
    let sink = row.sink.unwrap();
    assert!((row.row_sum + sink - 1.0).abs() < 1e-6 && sink > 0.05, "{sink}");
    assert_eq!(row.doubt(), None);
    // The spread is that of what the keys have.
    let shares = row.weights.iter().map(|weight| weight / row.row_sum).filter(|share| *share > 0.0);
    let entropy: f64 = shares.map(|share| -share * share.ln()).sum();
    assert!((row.effective().unwrap() - entropy.exp()).abs() < 1e-9);
    assert!(row.effective().unwrap() <= row.visible as f64);
    // A query that sees no key leaves it all to the sink, or to nobody.
    let cut = |sinks: Option<Vec<f32>>| {
        let knockouts = vec![Knockout { query: Some(7), ..Default::default() }];
        let sinks = sinks.map(Into::into);
        common::trace(SMALL, &Params { knockouts, sinks, ..Params::for_head_dim(5) }).row(At::default(), 7).unwrap()
    };
    let row = cut(Some(vec![0.5; 4]));
    assert_eq!((row.row_sum, row.sink, row.due, row.doubt(), row.effective()), (0.0, Some(1.0), 1.0, None, None));
    let row = cut(None);
    assert_eq!((row.row_sum, row.sink, row.due, row.doubt(), row.effective()), (0.0, None, 0.0, None, None));
    assert!(row.entropy.is_sign_positive());
}

#[test]
fn a_damaged_row_is_said_to_be_one() {
    let at = At::default();
    let damaged = |lse: f64| {
        let mut trace = causal();
        let mut all = trace.sites[0].lse.to_vec();
        all[7] = lse;
        trace.sites[0].lse = all.into();
        trace
    };
    let fine = causal().row(at, 7).unwrap().lse.unwrap();
    let off = damaged(fine + 0.5);
    let doubt = off.row(at, 7).unwrap().doubt().unwrap();
    assert!(doubt.contains("the weights sum to 0.606531") && doubt.contains("lse does not fit"), "{doubt}");
    assert_eq!(off.cell(at, 7, 2).unwrap().doubt(), Some(doubt));
    assert_eq!(off.row(at, 6).unwrap().doubt(), None);
    assert!(!off.heads(Some(0)).unwrap()[0].proof.holds() && off.heads(Some(1)).unwrap()[0].proof.holds());
    // Whatever the lse is if it is none, the weight is none either.
    for lse in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let trace = damaged(lse);
        let (cell, row) = (trace.cell(at, 7, 2).unwrap(), trace.row(at, 7).unwrap());
        assert_eq!((cell.lse, cell.log_weight), (None, None));
        assert!(cell.weight.is_nan() && row.weights[2].is_nan() && row.effective().is_none(), "{lse}");
        assert_eq!(row.weights[8], 0.0, "a hidden cell stays hidden");
        assert!(trace.tile(at, 7..8, 2..3).unwrap().cells[0].is_nan());
        assert!(trace.column(SiteKind::SelfAttention, 0, Pick::Head(0), 2).unwrap().weights[7].is_nan());
        for doubt in [cell.doubt(), row.doubt()] {
            assert!(doubt.unwrap().contains("not numbers"));
        }
        assert!(serde_json::to_value(&cell).unwrap()["weight"].is_null());
        assert!(!trace.heads(Some(0)).unwrap()[0].proof.holds());
    }
}
