use attnscope_inspect::{At, Pick, SiteKind, ValueLength, Wanted};
use attnscope_models::Error;

use crate::support::{Tiny, dot};

type Matrix = Vec<Vec<f64>>;

/// The product of (A + I) / 2 over all layers, with transformers' own maps for A.
fn rolled(tiny: &Tiny, kind: SiteKind) -> Option<Matrix> {
    let expected = tiny.expected();
    let mut product: Option<Matrix> = None;
    for layer in 0.. {
        let Some(maps) = expected.get(&format!("text.{kind}.{layer}")) else { break };
        let maps: Vec<Vec<Vec<f32>>> = maps.to_vec3().unwrap();
        let len = maps[0].len();
        let mean = |i: usize, j: usize| maps.iter().map(|map| f64::from(map[i][j])).sum::<f64>() / maps.len() as f64;
        let mixed = |i: usize, j: usize| 0.5 * mean(i, j) + if i == j { 0.5 } else { 0.0 };
        let mixed: Matrix = (0..len).map(|i| (0..len).map(|j| mixed(i, j)).collect()).collect();
        product = Some(match product {
            None => mixed,
            Some(before) => {
                let column = |j: usize| before.iter().map(|row| row[j]).collect::<Vec<f64>>();
                mixed.iter().map(|row| (0..len).map(|j| dot(row, &column(j))).collect()).collect()
            }
        });
    }
    product
}

#[test]
fn rollout_is_the_product_of_transformers_own_maps() {
    let mut seen = 0;
    for tiny in Tiny::all() {
        let trace = tiny.trace();
        for kind in [SiteKind::SelfAttention, SiteKind::Encoder] {
            let Some(want) = rolled(&tiny, kind) else { continue };
            for query in 0..want.len() {
                let got = trace.rollout(kind, query, Wanted::ALWAYS).unwrap();
                let off = got.weights.iter().zip(&want[query]).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                assert!(off < 1e-5, "{} {kind} query {query}: off by {off}", tiny.name);
                assert!((got.sum - 1.0).abs() < 1e-5, "{}: {}", tiny.name, got.sum);
            }
            seen += 1;
        }
    }
    // Every checkpoint, and both halves of those that have two.
    assert!(seen >= 38, "{seen}");
}

#[test]
fn values_are_as_long_as_by_hand_behind_their_slice() {
    for tiny in Tiny::all() {
        let trace = tiny.trace();
        for site in &trace.sites {
            let ((w_o, _), dim) = (tiny.w_o(site.kind, site.layer), site.v_head_dim());
            for head in 0..site.q_heads() {
                let at = At { site: site.kind, layer: site.layer, head };
                let got = tiny.model.value_lengths(&trace, at).unwrap();
                let values = trace.values(at).unwrap();
                assert_eq!(got.len(), values.len());
                for (got, v) in got.iter().zip(values) {
                    let v: Vec<f64> = v.iter().map(|x| f64::from(*x)).collect();
                    let moved = w_o.iter().map(|row| dot(&row[head * dim..][..dim], &v).powi(2)).sum::<f64>().sqrt();
                    assert!((got - moved).abs() < 1e-5 * moved.max(1.0), "{} {at:?}: {got}, not {moved}", tiny.name);
                }
            }
        }
    }
}

/// Weighted values of a row sum, as vectors, to what the head adds; their lengths bound how long that is.
#[test]
fn a_row_by_value_has_weight_times_length() {
    let tiny = Tiny::named("llama-tied");
    let trace = tiny.trace();
    let by = |pick| {
        let lengths = |at| tiny.model.value_lengths(&trace, at);
        trace.by_value((SiteKind::SelfAttention, 1, pick), 20, ValueLength::Projected, lengths).unwrap()
    };
    let mut mean = vec![0.0; trace.tokens.len()];
    for head in 0..4 {
        let at = At { layer: 1, head, ..At::default() };
        let (row, got) = (trace.row(at, 20).unwrap(), by(Pick::Head(head)));
        for key in 0..mean.len() {
            let want = row.weights[key] * got.lengths.as_ref().unwrap()[key];
            assert!((got.moved[key] - want).abs() < 1e-12);
            mean[key] += want / 4.0;
        }
        assert!(got.moved[21..].iter().all(|moved| *moved == 0.0), "a later key moves nothing");
    }
    assert!(by(Pick::Mean).moved.iter().zip(mean).all(|(a, b)| (a - b).abs() < 1e-12));
}

#[test]
fn values_of_another_model_are_refused() {
    let (tiny, other) = (Tiny::named("t5-relu"), Tiny::named("llama-tied"));
    let refused = |at| -> Error { tiny.model.value_lengths(&other.trace(), at).unwrap_err() };
    assert!(refused(At::default()).to_string().contains("another model"));
    assert!(refused(At { layer: 9, ..At::default() }).to_string().contains("layer 9"));
}
