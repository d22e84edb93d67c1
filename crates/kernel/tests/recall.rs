//! Questions about more than a cell, against every weight of the f64 reference, on every instruction set.

mod common;

use attnscope_kernel::{Error, Isa, Knockout, Mask, Params, Recall, Rectangle, View, forward, reference};
use common::{Case, case, case_of, normal};
use proptest::prelude::*;

/// All weights of a few heads, each (q_len x kv_len), from the reference.
fn weights(case: &Case, batch: usize, heads: &[usize]) -> Vec<Vec<f64>> {
    let (q, k, v) = case.views();
    let all = reference::attention(q, k, v, &case.params).unwrap().weights;
    let cells = case.q_shape[1] * case.k_shape[1];
    heads.iter().map(|head| all[(batch * case.q_shape[2] + head) * cells..][..cells].to_vec()).collect()
}

/// A range that is not empty.
fn range(len: usize, picks: [u16; 2]) -> std::ops::Range<usize> {
    let start = usize::from(picks[0]) % len;
    start..start + 1 + usize::from(picks[1]) % (len - start)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(128) })]

    #[test]
    fn a_pixel_is_the_mean_and_the_largest_of_its_visible_cells(
        case in case(),
        picks in any::<[u16; 4]>(),
        (rows, columns) in (1..40usize, 1..40usize),
        several in any::<bool>(),
    ) {
        let (q, k, v) = case.views();
        let ([batch, q_len, q_heads, _], kv_len) = (case.q_shape, case.k_shape[1]);
        let (batch, last) = (batch - 1, q_heads - 1);
        let heads: Vec<usize> = if several { (0..q_heads).collect() } else { vec![last] };
        let (queries, keys) = (range(q_len, [picks[0], picks[1]]), range(kv_len, [picks[2], picks[3]]));
        let rectangle = Rectangle { queries: queries.clone(), keys: keys.clone(), rows, columns };
        let want = weights(&case, batch, &heads);
        let mask = Mask::new(&case.params, q_len, kv_len);
        for isa in Isa::all() {
            let done = forward(q, k, v, &case.params, isa).unwrap();
            let recall = Recall::new(q, k, &done.lse, &case.params, isa).unwrap();
            let pooled = if several {
                recall.pooled_while(batch, &heads, &rectangle, &|| Ok::<_, Error>(())).unwrap()
            } else {
                recall.pooled(batch, last, &rectangle).unwrap()
            };
            prop_assert_eq!((pooled.rows, pooled.columns), (rows.min(queries.len()), columns.min(keys.len())));
            for at in 0..pooled.rows * pooled.columns {
                let (row, column) = (at / pooled.columns, at % pooled.columns);
                let part = |range: &std::ops::Range<usize>, part: usize, parts: usize| {
                    range.start + part * range.len() / parts..range.start + (part + 1) * range.len() / parts
                };
                let cells: Vec<(usize, usize)> = part(&queries, row, pooled.rows)
                    .flat_map(|i| part(&keys, column, pooled.columns).map(move |j| (i, j)))
                    .collect();
                let seen = |(i, j): &(usize, usize)| heads.iter().any(|h| mask.hidden(batch, *h, *i, *j).is_none());
                let of = |(i, j): (usize, usize)| {
                    want.iter().map(|head| head[i * kv_len + j]).sum::<f64>() / heads.len() as f64
                };
                let visible: Vec<f64> = cells.iter().copied().filter(seen).map(of).collect();
                let (max, mean) = (f64::from(pooled.max[at]), f64::from(pooled.mean[at]));
                if visible.is_empty() {
                    let (i, j) = cells[0];
                    prop_assert_eq!(pooled.hidden[at], mask.hidden(batch, *heads.last().unwrap(), i, j));
                    prop_assert_eq!((max, mean), (0.0, 0.0));
                    continue;
                }
                prop_assert_eq!(pooled.hidden[at], None, "{}: pixel {}", isa.name(), at);
                let want_max = visible.iter().copied().fold(0.0, f64::max);
                let want_mean = visible.iter().sum::<f64>() / visible.len() as f64;
                prop_assert!((max - want_max).abs() <= 2e-5, "{}: max {max} for {want_max}", isa.name());
                prop_assert!((mean - want_mean).abs() <= 2e-5, "{}: mean {mean} for {want_mean}", isa.name());
            }
        }
    }

    #[test]
    fn a_column_over_all_queries_is_the_reference_s(case in case_of(1..400, 1..120), pick in any::<[u16; 2]>()) {
        let (q, k, v) = case.views();
        let ([batch, q_len, q_heads, _], kv_len) = (case.q_shape, case.k_shape[1]);
        let (head, key) = (usize::from(pick[0]) % q_heads, usize::from(pick[1]) % kv_len);
        let want = &weights(&case, batch - 1, &[head])[0];
        for isa in Isa::all() {
            let done = forward(q, k, v, &case.params, isa).unwrap();
            let recall = Recall::new(q, k, &done.lse, &case.params, isa).unwrap();
            let column = recall.tile(batch - 1, head, 0..q_len, key..key + 1).unwrap();
            for (i, got) in column.weights.iter().enumerate() {
                let want = want[i * kv_len + key];
                prop_assert!((got - want).abs() <= 2e-5, "{}: query {i}: {got} for {want}", isa.name());
                let alone = recall.cell(batch - 1, head, i, key).unwrap();
                prop_assert_eq!(alone.weight.to_bits(), got.to_bits(), "{}: query {}", isa.name(), i);
            }
        }
    }
}

/// One head of 300 tokens.
fn long(params: &Params, ask: impl Fn(Recall) -> Result<(), Error>) -> Result<(), Error> {
    let x = normal(1, 300 * 8, 1.0);
    let x = View::new(&x, [1, 300, 1, 8])?;
    let done = forward(x, x, x, params, Isa::detect())?;
    ask(Recall::new(x, x, &done.lse, params, Isa::detect())?)
}

#[test]
fn a_cell_that_any_head_sees_is_visible_in_their_mean() {
    let x = normal(1, 4 * 2 * 8, 1.0);
    let x = View::new(&x, [1, 4, 2, 8]).unwrap();
    let cut = |head| Knockout { head, query: Some(3), key: Some(1) };
    let whole = Rectangle { queries: 0..4, keys: 0..4, rows: 4, columns: 4 };
    for (knockouts, visible) in [(vec![cut(Some(0))], true), (vec![cut(None)], false)] {
        let params = Params { knockouts, ..Params::for_head_dim(8) };
        let done = forward(x, x, x, &params, Isa::detect()).unwrap();
        let recall = Recall::new(x, x, &done.lse, &params, Isa::detect()).unwrap();
        let pooled = recall.pooled_while(0, &[0, 1], &whole, &|| Ok::<_, Error>(())).unwrap();
        assert_eq!(pooled.hidden[13].is_none(), visible);
        let half = recall.cell(0, 1, 3, 1).unwrap().weight / 2.0;
        assert!((f64::from(pooled.max[13]) - half).abs() < 1e-7);
    }
}

#[test]
fn what_is_refused_ends_the_pooling_and_wrong_arguments_are_named() {
    long(&Params::for_head_dim(8), |recall| {
        let rectangle = |queries, keys| Rectangle { queries, keys, rows: 4, columns: 4 };
        let whole = rectangle(0..300, 0..300);
        let message = |pooled: Result<_, Error>| pooled.map(|_| ()).unwrap_err().to_string();
        let stop = || Err(Error::Argument { argument: "patience", got: "none".into(), want: "some".into() });
        assert_eq!(message(recall.pooled_while(0, &[0], &whole, &stop)), "patience is none, but must be some");
        assert_eq!(message(recall.pooled(0, 1, &whole)), "head is 1, but must be 0 to 0");
        assert_eq!(message(recall.pooled(1, 0, &whole)), "batch is 1, but must be 0 to 0");
        assert_eq!(
            message(recall.pooled(0, 0, &rectangle(5..5, 0..300))),
            "queries is 5..5, but must be a non-empty range within 0..300"
        );
        assert_eq!(
            message(recall.pooled(0, 0, &rectangle(0..300, 9..301))),
            "keys is 9..301, but must be a non-empty range within 0..300"
        );
        assert_eq!(
            message(recall.pooled_while(0, &[], &whole, &|| Ok::<_, Error>(()))),
            "heads is none, but must be at least one"
        );
        Ok(())
    })
    .unwrap();
}

/// A causal head of many strips: what lies above the diagonal is said to be in the future.
#[test]
fn a_pixel_without_visible_cells_says_why() {
    let causal = Params { causal: true, ..Params::for_head_dim(8) };
    long(&causal, |recall| {
        let whole = Rectangle { queries: 0..300, keys: 0..300, rows: 3, columns: 3 };
        let pooled = recall.pooled(0, 0, &whole)?;
        let why: Vec<_> = pooled.hidden.iter().map(|hidden| hidden.map(|hidden| hidden.name())).collect();
        let future = Some("future");
        assert_eq!(why, [None, future, future, None, None, future, None, None, None]);
        assert_eq!(pooled.max[0], 1.0, "the first query sees itself alone");
        Ok(())
    })
    .unwrap();
}
