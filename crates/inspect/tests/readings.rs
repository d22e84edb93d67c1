//! Readings of a trace alone: rollout, what heads do with tokens that occur again, weights times lengths of values.

mod common;

use attnscope_inspect::{
    At, Error, Pick, Repeats, Site, SiteKind, Tensor, Token, Trace, ValueLength, Wanted, example::Example,
};
use attnscope_kernel::{Isa, KeyPadding, Params, View, Window, forward};
use common::{SMALL, Sizes, numbers, site, trace};

/// Every weight of a head, by the plainest way: exp of f64 scores, divided by their sum.
fn naive(trace: &Trace, at: At) -> Vec<Vec<f64>> {
    let site = trace.site(at.site, at.layer).unwrap();
    let params = &site.params;
    let (dim, kv_head) = (site.head_dim(), at.head / (site.q_heads() / site.kv_heads()));
    let row = |tensor: &Tensor, position: usize, head: usize| {
        tensor.data[(position * tensor.shape[1] + head) * dim..][..dim].to_vec()
    };
    let sees = |query: usize, key: usize| {
        let window = params.window.is_none_or(|window| key + window.left >= query && key <= query + window.right);
        let padding = params.key_padding.is_none() || key > 1;
        (!params.causal || key <= query) && window && padding
    };
    let one = |query: usize| {
        let q = row(&site.q, query, at.head);
        let score = |key: usize| {
            let k = row(&site.k, key, kv_head);
            let dot: f64 = q.iter().zip(k).map(|(q, k)| f64::from(*q) * f64::from(k)).sum();
            if sees(query, key) { (f64::from(params.scale) * dot).exp() } else { 0.0 }
        };
        let row: Vec<f64> = (0..site.kv_len()).map(score).collect();
        let sink = params.sinks.as_ref().map_or(0.0, |sinks| f64::from(sinks[at.head]).exp());
        let sum: f64 = row.iter().sum::<f64>() + sink;
        row.iter().map(|x| if sum > 0.0 { x / sum } else { 0.0 }).collect()
    };
    (0..site.q_len()).map(one).collect()
}

fn product(a: &[Vec<f64>], b: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let cell = |row: &Vec<f64>, column: usize| row.iter().zip(b).map(|(x, row)| x * row[column]).sum();
    a.iter().map(|row| (0..b[0].len()).map(|column| cell(row, column)).collect()).collect()
}

/// The product of (A + I) / 2 over all layers, the last on the left.
fn naive_rollout(trace: &Trace, kind: SiteKind) -> Vec<Vec<f64>> {
    let len = trace.query_tokens(kind).len();
    let identity: Vec<Vec<f64>> = (0..len).map(|i| (0..len).map(|j| f64::from(u8::from(i == j))).collect()).collect();
    let layers = trace.sites.iter().filter(|site| site.kind == kind).map(|site| site.layer);
    layers.fold(identity.clone(), |rolled, layer| {
        let heads = trace.site(kind, layer).unwrap().q_heads();
        let maps: Vec<_> = (0..heads).map(|head| naive(trace, At { site: kind, layer, head })).collect();
        let mean = |i: usize, j: usize| maps.iter().map(|map| map[i][j]).sum::<f64>() / heads as f64;
        let half = |i: usize, j: usize| 0.5 * mean(i, j) + 0.5 * identity[i][j];
        let mixed: Vec<Vec<f64>> = (0..len).map(|i| (0..len).map(|j| half(i, j)).collect()).collect();
        product(&mixed, &rolled)
    })
}

const DEEP: Sizes = Sizes { len: 75, layers: 5, ..SMALL };

/// Under every mask, and in a text longer than the rows that are held at a time.
fn traces() -> Vec<(&'static str, Trace)> {
    let plain = Params::for_head_dim(DEEP.head_dim);
    let causal = Params { causal: true, ..plain.clone() };
    let window = Some(Window { left: 6, right: 0 });
    let padded: Vec<bool> = (0..DEEP.len).map(|key| key > 1).collect();
    vec![
        ("bidirectional", trace(DEEP, &plain)),
        ("causal", trace(DEEP, &causal)),
        ("window", trace(DEEP, &Params { window, ..causal.clone() })),
        ("padding", trace(DEEP, &Params { key_padding: Some(KeyPadding::new(&padded[..])), ..causal.clone() })),
        ("sinks", trace(DEEP, &Params { sinks: Some(vec![0.5, -1.0, 1.0, 2.0].into()), ..causal })),
    ]
}

#[test]
fn rollout_is_the_product_of_all_layers() {
    for (name, trace) in traces() {
        let want = naive_rollout(&trace, SiteKind::SelfAttention);
        for query in [0, 1, 31, 32, 40, 74] {
            let got = trace.rollout(SiteKind::SelfAttention, query, Wanted::ALWAYS).unwrap();
            let off = got.weights.iter().zip(&want[query]).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(off < 1e-6, "{name} query {query}: off by {off}");
            assert_eq!((got.layers, got.query.index), (5, query));
            let sum: f64 = want[query].iter().sum();
            assert!((got.sum - sum).abs() < 1e-6, "{name}: {} is not {sum}", got.sum);
            let best = got.strongest[0].index;
            assert!(got.weights.iter().all(|weight| *weight <= got.weights[best]));
        }
    }
}

/// With sinks a row of a layer sums to less than 1, and what is lost stays lost.
#[test]
fn what_sinks_take_is_not_given_back() {
    let traces = traces();
    let sum = |name: &str| {
        let (_, trace) = traces.iter().find(|(other, _)| *other == name).unwrap();
        trace.rollout(SiteKind::SelfAttention, 50, Wanted::ALWAYS).unwrap().sum
    };
    assert!((sum("causal") - 1.0).abs() < 1e-6, "{}", sum("causal"));
    assert!(sum("sinks") < 0.99 && sum("sinks") > 0.03, "{}", sum("sinks"));
}

#[test]
fn rollout_wants_every_layer_of_one_text() {
    let whole = trace(SMALL, &Params::for_head_dim(5));
    let refused = |trace: &Trace, kind, query| trace.rollout(kind, query, Wanted::ALWAYS).unwrap_err().to_string();
    assert!(refused(&whole, SiteKind::SelfAttention, 11).contains("query 11 is out of range"));
    assert!(refused(&whole, SiteKind::Encoder, 0).contains("no encoder attention"));
    assert!(refused(&whole, SiteKind::Cross, 0).contains("from one text to another"));
    let mut later = whole.clone();
    later.sites.remove(0);
    assert!(refused(&later, SiteKind::SelfAttention, 0).contains("no layer 0"));
    let mut part = whole.clone();
    part.sites = vec![site(SiteKind::Encoder, 0, 3, 11, SMALL, &Params::for_head_dim(5))];
    assert!(refused(&part, SiteKind::Encoder, 0).contains("layer 0 has 3 queries and 11 keys"));
    let left = whole.rollout(SiteKind::SelfAttention, 3, Wanted::while_true(&|| false));
    assert!(matches!(left, Err(Error::NotWanted)));
}

/// A trace of one layer with one head a list of keys: at each position it attends to that key and to no other.
fn attending(text: &str, heads: &[Vec<usize>]) -> Trace {
    let words: Vec<&str> = text.split(' ').collect();
    let (len, q_heads) = (words.len(), heads.len());
    // A key is a direction of its own, and a query a long arrow in that of its key.
    let mut q = vec![0.0; len * q_heads * len];
    for (head, keys) in heads.iter().enumerate() {
        keys.iter().enumerate().for_each(|(query, key)| q[(query * q_heads + head) * len + key] = 100.0);
    }
    let k: Vec<f32> = (0..len * len).map(|i| f32::from(u8::from(i / len == i % len))).collect();
    let v = numbers(1, len);
    let params = Params { causal: true, scale: 1.0, ..Params::for_head_dim(len) };
    let view = |data, shape| View::new(data, shape).unwrap();
    let (q_shape, k_shape, v_shape) = ([1, len, q_heads, len], [1, len, 1, len], [1, len, 1, 1]);
    let done = forward(view(&q, q_shape), view(&k, k_shape), view(&v, v_shape), &params, Isa::detect()).unwrap();
    let site = Site {
        kind: SiteKind::SelfAttention,
        layer: 0,
        params,
        q: Tensor::new(q, [len, q_heads, len]),
        k: Tensor::new(k, [len, 1, len]),
        v: Tensor::new(v, [len, 1, 1]),
        out: Tensor::new(done.out, [len, q_heads, 1]),
        lse: done.lse.into(),
    };
    let tokens = words.iter().map(|word| Token::plain(None, *word)).collect();
    Trace::new(attnscope_inspect::Model::default(), text.to_owned(), tokens, vec![site]).unwrap()
}

fn scores(trace: &Trace) -> Vec<Repeats> {
    trace.repeats(None, Wanted::ALWAYS).unwrap()
}

#[test]
fn heads_that_do_one_thing_have_a_score_of_1() {
    //          0 1 2 3 4 5 6 7
    let text = "a b c d a b c d";
    let own = |query: usize| query;
    let previous: Vec<usize> = (0..8).map(|query: usize| query.saturating_sub(1)).collect();
    let duplicate: Vec<usize> = (0..8).map(|query| if query > 3 { query - 4 } else { own(query) }).collect();
    let induction: Vec<usize> = (0..8).map(|query| if query > 3 { query - 3 } else { own(query) }).collect();
    let found = scores(&attending(text, &[previous, duplicate, induction]));
    let near = |got: Option<f64>, want: f64| (got.unwrap() - want).abs() < 1e-9;
    assert!(near(found[0].previous, 1.0), "{found:?}");
    assert!(near(found[1].duplicate, 1.0) && near(found[1].induction, 0.0) && near(found[1].previous, 0.0));
    assert!(near(found[2].induction, 1.0) && near(found[2].duplicate, 0.0), "{found:?}");
    // One that looks at the token before it has found what followed the last occurrence nowhere here.
    assert!(near(found[0].induction, 0.0) && near(found[0].duplicate, 0.0), "{found:?}");
}

#[test]
fn one_token_alone_has_no_score() {
    let found = scores(&attending("a", &[vec![0]]));
    assert_eq!((found[0].previous, found[0].duplicate, found[0].induction), (None, None, None));
}

#[test]
fn every_earlier_occurrence_counts_and_no_later_one() {
    //          0 1 2 3 4 5
    let text = "a b a c a a";
    // Duplicates are asked of 2, 4 and 5; what followed an `a` of 2 (b), 4 (b, c) and 5 (b, c; itself is left aside).
    let keys = vec![0, 0, 1, 2, 3, 4];
    let found = scores(&attending(text, &[keys, vec![0, 1, 0, 0, 2, 0]]));
    let near = |got: Option<f64>, want: f64| assert!((got.unwrap() - want).abs() < 1e-9, "{found:?}");
    near(found[0].duplicate, 1.0 / 3.0);
    near(found[0].induction, 2.0 / 3.0);
    near(found[1].duplicate, 1.0);
    near(found[1].induction, 0.0);
    // Without a word that occurs twice there is nothing to be measured, which is not 0.
    let once = &scores(&attending("a b c", &[vec![0, 0, 1]]))[0];
    assert_eq!((once.duplicate, once.induction), (None, None));
    // The second of two words that are the same follows the first, but is the query's own.
    let twice = &scores(&attending("b a a", &[vec![0, 0, 1]]))[0];
    assert_eq!((twice.duplicate.map(f64::round), twice.induction), (Some(1.0), None));
}

/// The number of a token says which it is, where there is one, and not its text.
#[test]
fn tokens_that_only_read_the_same_are_not_the_same() {
    let mut told = attending("a b a", &[vec![0, 0, 0]]);
    for (id, token) in (0..).zip(&mut told.tokens) {
        token.id = Some(id);
    }
    assert_eq!(scores(&told)[0].duplicate, None);
    told.tokens[2].id = Some(0);
    told.tokens[2].text = "A".to_owned();
    assert!(scores(&told)[0].duplicate.unwrap() > 0.999);
}

#[test]
fn scores_are_means_of_the_maps_own_weights() {
    for (name, mut trace) in traces() {
        // t0 to t24, three times.
        for (at, token) in trace.tokens.iter_mut().enumerate() {
            *token = Token::plain(Some(at as u32 % 25), "");
        }
        let found = scores(&trace);
        assert_eq!(found.len(), 20);
        let statistics = trace.heads(None).unwrap();
        for (found, statistics) in found.iter().zip(statistics) {
            assert!((found.previous.unwrap() - statistics.previous.unwrap()).abs() < 1e-9, "{name}");
            let map = naive(&trace, At { site: found.site, layer: found.layer, head: found.head });
            let mean = |shift: usize| {
                let weight = |query: usize| {
                    let earlier = (1..=2).filter_map(|turn| query.checked_sub(25 * turn));
                    earlier.map(|key| map[query][key + shift]).sum::<f64>()
                };
                (25..75).map(weight).sum::<f64>() / 50.0
            };
            assert!((found.duplicate.unwrap() - mean(0)).abs() < 1e-6, "{name} {found:?} is not {}", mean(0));
            assert!((found.induction.unwrap() - mean(1)).abs() < 1e-6, "{name} {found:?} is not {}", mean(1));
        }
    }
    assert_eq!(scores(&traces()[1].1).len(), 20);
    let one = traces()[1].1.repeats(Some(3), Wanted::ALWAYS).unwrap();
    assert!(one.len() == 4 && one.iter().all(|head| head.layer == 3));
    assert!(traces()[1].1.repeats(Some(5), Wanted::ALWAYS).unwrap_err().to_string().contains("layer 5"));
}

#[test]
fn a_row_by_value_is_weight_times_length() {
    let trace = trace(SMALL, &Params { causal: true, ..Params::for_head_dim(5) });
    let by = |pick| {
        let lengths = |at| trace.value_lengths(at);
        trace.by_value((SiteKind::SelfAttention, 1, pick), 8, ValueLength::Value, lengths).unwrap()
    };
    let v = &trace.site(SiteKind::SelfAttention, 1).unwrap().v;
    let mut mean = [0.0; 11];
    for head in 0..4 {
        let got = by(Pick::Head(head));
        let weights = &naive(&trace, At { layer: 1, head, ..At::default() })[8];
        for key in 0..11 {
            let value = &v.data[(key * 2 + head / 2) * 3..][..3];
            let length = value.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt();
            assert!((got.lengths.as_ref().unwrap()[key] - length).abs() < 1e-9);
            assert!((got.moved[key] - weights[key] * length).abs() < 1e-6);
            mean[key] += weights[key] * length / 4.0;
        }
        assert!((got.shares.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        // As the cell says it.
        let cell = trace.cell(At { layer: 1, head, ..At::default() }, 8, 4).unwrap();
        assert!((cell.share - got.shares[4]).abs() < 1e-9);
    }
    let got = by(Pick::Mean);
    assert_eq!(got.lengths, None);
    assert!(got.moved.iter().zip(mean).all(|(a, b)| (a - b).abs() < 1e-6));
}

/// The example is read in both ways, and answers all of this.
#[test]
fn the_worked_example_has_readings_too() {
    for causal in [false, true] {
        let trace = Example::load().trace(causal).unwrap();
        let want = naive_rollout(&trace, SiteKind::SelfAttention);
        let got = trace.rollout(SiteKind::SelfAttention, 6, Wanted::ALWAYS).unwrap();
        assert!(got.weights.iter().zip(&want[6]).all(|(a, b)| (a - b).abs() < 1e-6));
        assert_eq!(got.query.token.trim(), "it");
        // "The" is not "the".
        assert_eq!((scores(&trace)[0].duplicate, scores(&trace)[0].induction), (None, None));
    }
}

/// A damaged row has no shares, and none are made up for it.
#[test]
fn weights_that_are_no_numbers_stay_none() {
    let mut trace = trace(SMALL, &Params { causal: true, ..Params::for_head_dim(5) });
    let lse: Vec<f64> = trace.sites[0].lse.iter().map(|_| f64::NAN).collect();
    trace.sites[0].lse = lse.into();
    let lengths = |at| trace.value_lengths(at);
    let got = trace.by_value((SiteKind::SelfAttention, 0, Pick::Head(1)), 4, ValueLength::Value, lengths).unwrap();
    assert!(got.shares[..5].iter().all(|share| share.is_nan()), "{got:?}");
    assert!(trace.rollout(SiteKind::SelfAttention, 4, Wanted::ALWAYS).unwrap().sum.is_nan());
    assert!(scores(&trace)[1].previous.unwrap().is_nan());
}
