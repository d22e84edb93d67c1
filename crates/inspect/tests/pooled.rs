//! Pooled maps and columns against the cells they stand for.

use attnscope_inspect::example::Example;
mod common;

use std::sync::atomic::{AtomicUsize, Ordering};

use attnscope_inspect::{At, Error, Pick, Rectangle, SiteKind, Trace, Wanted};
use attnscope_kernel::Params;

/// Pools by hand, cell by cell.
fn by_hand(trace: &Trace, rows: usize, columns: usize) -> (Vec<f32>, Vec<f32>) {
    let tile = trace.tile(At::default(), 0..10, 0..10).unwrap();
    let mut answer = (Vec::new(), Vec::new());
    for row in 0..rows {
        for column in 0..columns {
            let block: Vec<f32> = (row * 10 / rows..(row + 1) * 10 / rows)
                .flat_map(|q| (column * 10 / columns..(column + 1) * 10 / columns).map(move |k| (q, k)))
                .map(|(q, k)| tile.cells[q * 10 + k])
                .collect();
            let visible: Vec<f32> = block.iter().copied().filter(|cell| *cell >= 0.0).collect();
            let mean = visible.iter().map(|cell| f64::from(*cell)).sum::<f64>() / visible.len() as f64;
            answer.0.push(visible.iter().copied().reduce(f32::max).unwrap_or(-1.0));
            answer.1.push(if visible.is_empty() { -1.0 } else { mean as f32 });
        }
    }
    answer
}

#[test]
fn a_pixel_is_the_mean_and_the_largest_of_its_visible_cells() {
    for causal in [false, true] {
        let trace = Example::load().trace(causal).unwrap();
        for (rows, columns) in [(10, 10), (3, 4), (1, 1), (2, 10)] {
            let pooled = trace.pooled(At::default(), 0..10, 0..10, rows, columns).unwrap();
            assert_eq!((pooled.rows, pooled.columns), (rows, columns));
            let (max, mean) = by_hand(&trace, rows, columns);
            assert_eq!(pooled.max, max, "{rows} x {columns}, causal {causal}");
            for (got, want) in pooled.mean.iter().zip(&mean) {
                assert!((got - want).abs() < 1e-7, "{rows} x {columns}: {got} for {want}");
            }
        }
    }
}

#[test]
fn the_mean_of_heads_is_pooled_from_every_cell() {
    let params = Params { causal: true, ..Params::for_head_dim(5) };
    let trace = common::trace(common::SMALL, &params);
    let len = common::SMALL.len;
    let tile = trace.picked_tile(SiteKind::SelfAttention, 1, Pick::Mean, 0..len, 0..len).unwrap();
    for (rows, columns) in [(len, len), (3, 4), (1, 2)] {
        let rectangle = Rectangle { queries: 0..len, keys: 0..len, rows, columns };
        let pooled = trace.picked_pooled(SiteKind::SelfAttention, 1, Pick::Mean, &rectangle, Wanted::ALWAYS).unwrap();
        for (at, (max, mean)) in pooled.max.iter().zip(&pooled.mean).enumerate() {
            let (row, column) = (at / columns, at % columns);
            let seen: Vec<f32> = (row * len / rows..(row + 1) * len / rows)
                .flat_map(|q| (column * len / columns..(column + 1) * len / columns).map(move |k| q * len + k))
                .map(|cell| tile.cells[cell])
                .filter(|cell| *cell >= 0.0)
                .collect();
            assert_eq!(*max, seen.iter().copied().reduce(f32::max).unwrap_or(-1.0), "{rows} x {columns}, {at}");
            let want = if seen.is_empty() { -1.0 } else { seen.iter().sum::<f32>() / seen.len() as f32 };
            assert!((mean - want).abs() < 1e-6, "{rows} x {columns}, {at}: {mean} for {want}");
        }
    }
}

#[test]
fn a_map_that_is_wanted_no_longer_is_not_made() {
    let trace = common::trace(common::SMALL, &Params::for_head_dim(5));
    let asked = AtomicUsize::new(0);
    let still = || asked.fetch_add(1, Ordering::Relaxed) < 5;
    let rectangle = Rectangle { queries: 0..11, keys: 0..11, rows: 11, columns: 11 };
    let left = trace.picked_pooled(SiteKind::SelfAttention, 0, Pick::Mean, &rectangle, Wanted::while_true(&still));
    assert!(matches!(left, Err(Error::NotWanted)), "{left:?}");
}

#[test]
fn a_map_is_never_pooled_to_more_pixels_than_cells() {
    let trace = Example::load().trace(true).unwrap();
    let pooled = trace.pooled(At::default(), 2..5, 0..10, 100, 100).unwrap();
    assert_eq!((pooled.rows, pooled.columns), (3, 10));
    let error = trace.pooled(At::default(), 2..11, 0..10, 4, 4).unwrap_err().to_string();
    assert_eq!(error, "queries is 2..11, but must be a non-empty range within 0..10");
    #[allow(clippy::reversed_empty_ranges)] // what a careless caller asks for
    let reversed = trace.pooled(At::default(), 5..3, 0..10, 4, 4);
    assert!(reversed.is_err());
}

#[test]
fn a_column_is_what_the_rows_say_of_it() {
    let trace = Example::load().trace(true).unwrap();
    let column = trace.column(SiteKind::SelfAttention, 0, Pick::Head(0), 4).unwrap();
    for query in 0..10 {
        let row = trace.row(At::default(), query).unwrap();
        assert_eq!(column.weights[query], row.weights[4]);
        assert_eq!(column.mask[query], row.mask[4]);
    }
    assert_eq!(column.visible, 6, "queries 4 to 9 see key 4");
    assert_eq!(column.mask[3], Some("future"));
    assert_eq!(column.received, column.weights.iter().sum::<f64>());
    assert_eq!(column.strongest.len(), 6);
    assert!(column.strongest.windows(2).all(|pair| pair[0].weight >= pair[1].weight));
    assert!(trace.column(SiteKind::SelfAttention, 0, Pick::Head(0), 10).is_err());
}
