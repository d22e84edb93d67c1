//! The worked example, against its matrices multiplied by hand.

use attnscope_inspect::example::{Example, Matrix, Worked};
use attnscope_inspect::{At, Trace};

fn trace(causal: bool) -> Trace {
    Example::load().trace(causal).unwrap()
}

fn worked(causal: bool) -> Worked {
    Example::load().worked(causal).unwrap()
}

/// a b in f64.
fn product(a: &[Vec<f64>], b: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let entry = |row: &[f64], column: usize| row.iter().zip(b).map(|(a, b)| a * b[column]).sum();
    a.iter().map(|row| (0..b[0].len()).map(|column| entry(row, column)).collect()).collect()
}

fn wide(matrix: &Matrix) -> Vec<Vec<f64>> {
    matrix.iter().map(|row| row.iter().map(|x| f64::from(*x)).collect()).collect()
}

fn close(what: &str, got: &[Vec<f64>], want: &[Vec<f64>], allowed: f64) {
    assert_eq!(got.len(), want.len(), "{what}");
    for (i, (got, want)) in got.iter().zip(want).enumerate() {
        assert_eq!(got.len(), want.len(), "{what}, row {i}");
        for (j, (got, want)) in got.iter().zip(want).enumerate() {
            assert!((got - want).abs() <= allowed, "{what} ({i}, {j}): {got} for {want}");
        }
    }
}

#[test]
fn it_is_the_sentence_with_ten_tokens_and_says_that_it_is_made_by_hand() {
    let trace = trace(false);
    assert_eq!(trace.text, "The robot carried the patient because it was tired.");
    let shown: Vec<&str> = trace.tokens.iter().map(|token| &*token.text).collect();
    assert_eq!(shown, ["The", "robot", "carried", "the", "patient", "because", "it", "was", "tired", "."]);
    assert!(trace.model.note.contains("by hand") && trace.model.note.contains("not trained"), "{}", trace.model.note);
}

#[test]
fn it_attends_most_to_robot_and_then_to_patient() {
    let trace = trace(false);
    let (it, robot) = {
        let kind = attnscope_inspect::SiteKind::SelfAttention;
        (trace.find_query(kind, "it").unwrap(), trace.find_key(kind, "robot").unwrap())
    };
    assert_eq!((it, robot), (6, 1));
    let cell = trace.cell(At::default(), it, robot).unwrap();
    assert!((cell.score - 1.90).abs() <= 0.005, "{}", cell.score);
    assert!((cell.weight - 0.629).abs() <= 0.0005, "{}", cell.weight);
    assert!((cell.row_sum - 1.0).abs() <= 1e-6, "{}", cell.row_sum);
    assert_eq!(cell.mask, None);

    let row = trace.row(At::default(), it).unwrap();
    let scores = row.scores.unwrap();
    let others: f64 = (0..10).filter(|key| *key != robot).map(|key| scores[key].exp()).sum();
    assert!((others - 3.94).abs() <= 0.005, "{others}");
    let order: Vec<&str> = row.strongest.iter().map(|key| &*key.token).collect();
    assert_eq!(order[..2], ["robot", "patient"]);
    assert_eq!(row.visible, 10);
}

#[test]
fn causal_it_spends_all_on_the_first_seven() {
    let trace = trace(true);
    for query in 0..10 {
        let row = trace.row(At::default(), query).unwrap();
        let cells: Vec<_> = (0..10).map(|key| trace.cell(At::default(), query, key).unwrap()).collect();
        for (key, cell) in cells.iter().enumerate() {
            let future = key > query;
            assert_eq!(cell.mask, future.then_some("future"));
            assert_eq!(cell.weight == 0.0, future, "({query}, {key})");
            assert_eq!(cell.log_weight.is_none(), future);
            assert_eq!(row.mask[key], cell.mask);
            assert_eq!(row.weights[key].to_bits(), cell.weight.to_bits());
        }
        let seen: f64 = row.weights[..=query].iter().sum();
        assert!((seen - 1.0).abs() <= 1e-6);
        assert_eq!((row.visible, row.strongest.len()), (query + 1, query + 1));
    }
    // The score of a hidden cell is what it would be.
    let (hidden, seen) =
        (trace.cell(At::default(), 6, 8).unwrap(), self::trace(false).cell(At::default(), 6, 8).unwrap());
    assert_eq!(hidden.score.to_bits(), seen.score.to_bits());
}

#[test]
fn every_matrix_is_the_product_that_it_says() {
    for causal in [false, true] {
        let w = worked(causal);
        let x = w.x.clone();
        for (name, matrix, got) in [("Q", &w.w_q, &w.q), ("K", &w.w_k, &w.k), ("V", &w.w_v, &w.v)] {
            close(name, &wide(got), &product(&x, matrix), 1e-6);
        }
        close("z W_O", &wide(&w.zo), &product(&wide(&w.z), &w.w_o), 1e-6);
        let y: Vec<Vec<f64>> =
            x.iter().zip(wide(&w.zo)).map(|(x, zo)| x.iter().zip(zo).map(|(x, zo)| x + zo).collect()).collect();
        close("y", &wide(&w.y), &y, 1e-6);
        close("z", &wide(&w.z), &product(&w.weights, &wide(&w.v)), 1e-6);
        let k = wide(&w.k);
        let k_transposed: Vec<Vec<f64>> = (0..4).map(|dim| k.iter().map(|k| k[dim] / 2.0).collect()).collect();
        close("scores", &w.scores, &product(&wide(&w.q), &k_transposed), 1e-6);
    }
}

#[test]
fn the_mask_takes_cells_out_and_the_row_renormalises() {
    for causal in [false, true] {
        let w = worked(causal);
        for i in 0..10 {
            let seen = |j: &usize| !causal || *j <= i;
            for j in 0..10 {
                assert_eq!(w.m[i][j], seen(&j).then_some(0.0), "({i}, {j})");
            }
            let all: f64 = w.scores[i].iter().map(|s| s.exp()).sum();
            let visible: f64 = (0..10).filter(seen).map(|j| w.scores[i][j].exp()).sum();
            for j in 0..10 {
                assert!((w.weights_unmasked[i][j] - w.scores[i][j].exp() / all).abs() < 1e-7);
                let want = if seen(&j) { w.scores[i][j].exp() / visible } else { 0.0 };
                assert!((w.weights[i][j] - want).abs() < 1e-7, "({i}, {j})");
            }
        }
    }
}

#[test]
fn the_two_ways_share_everything_before_the_mask() {
    let (both, causal) = (worked(false), worked(true));
    assert_eq!((&both.q, &both.k, &both.v, &both.scores), (&causal.q, &causal.k, &causal.v, &causal.scores));
    assert_eq!(both.weights, both.weights_unmasked);
    assert_eq!(causal.weights_unmasked, both.weights);
    // The last token sees everything either way.
    assert_eq!(both.weights[9], causal.weights[9]);
}

#[test]
fn its_numbers_are_short_enough_for_a_page() {
    let w = worked(false);
    for x in [&w.x, &w.w_q, &w.w_k, &w.w_v, &w.w_o].into_iter().flatten().flatten() {
        assert!(x.to_string().len() <= 5, "{x}");
    }
    for x in [&w.q, &w.k, &w.v].into_iter().flatten().flatten() {
        assert!(x.to_string().len() <= 5, "{x}");
    }
    assert_eq!((w.dims.x.len(), w.dims.qk.len(), w.dims.v.len()), (6, 4, 3));
    assert_eq!((w.dim_notes.x.len(), w.dim_notes.qk.len(), w.dim_notes.v.len()), (6, 4, 3));
}
