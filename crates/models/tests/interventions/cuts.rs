//! Cells, heads and whole layers cut out.

use attnscope_inspect::{At, SiteKind, Trace};
use attnscope_kernel::{Isa, KeyPadding, Params, View, forward};
use attnscope_models::{Heads, Interventions};

use crate::support::{Tiny, every, outputs, take_head, trace, vectors};

/// A cut of cells that no query sees anyway goes all the way through, and changes nothing.
#[test]
fn cutting_nothing_changes_nothing_to_the_last_bit() {
    let mut seen = 0;
    for tiny in Tiny::all() {
        for (name, case) in &tiny.cases {
            let before = vectors(&tiny.model, case, Interventions::NONE);
            let mut cut = Interventions::default();
            assert!(cut.is_empty());
            for kind in tiny.kinds() {
                if kind == SiteKind::SelfAttention && tiny.model.shape().causal {
                    cut = cut.cut(every(kind), Some(2), Some(3));
                }
                if let (Some(real), true) = (&case.real, kind != SiteKind::SelfAttention || case.decoder_ids.is_none())
                {
                    cut = cut.cut(every(kind), None, real.iter().position(|real| !real));
                }
            }
            assert!(before == vectors(&tiny.model, case, &cut), "{} {name}", tiny.name);
            seen += usize::from(!cut.is_empty());
            let kept = trace(&tiny.model, case, &Interventions::default());
            assert_eq!(kept.model.note, "");
        }
    }
    assert!(seen >= 40, "{seen}");
}

/// Every attention of a trace is what it is with `real` for a mask in the place of its cuts, to the last bit.
fn masked_alike(trace: &Trace, real: &[bool], name: &str) {
    assert!(!trace.sites.is_empty());
    for site in &trace.sites {
        assert!(!site.params.knockouts.is_empty(), "{name}");
        let params = Params { knockouts: Vec::new(), key_padding: Some(KeyPadding::new(real)), ..site.params.clone() };
        let [q, k, v] = [&site.q, &site.k, &site.v].map(|kept| {
            let [len, heads, dim] = kept.shape;
            View::new(&kept.data[..], [1, len, heads, dim]).unwrap()
        });
        let done = forward(q, k, v, &params, Isa::detect()).unwrap();
        assert!(done.out[..] == site.out.data[..] && done.lse[..] == site.lse[..], "{name} layer {}", site.layer);
    }
}

#[test]
fn every_edge_into_a_key_cut_is_that_key_masked() {
    for tiny in Tiny::all() {
        let (model, case) = (&tiny.model, tiny.text());
        for key in [0, 4] {
            let mut masked = case.clone();
            let mut real = vec![true; case.ids.len()];
            real[key] = false;
            masked.real = Some(real);
            // Padding is known of what the encoder reads, and hides it from both halves.
            let kinds: &[SiteKind] = match case.decoder_ids {
                None => &[SiteKind::SelfAttention],
                Some(_) => &[SiteKind::Encoder, SiteKind::Cross],
            };
            let all = kinds.iter().fold(Interventions::default(), |cut, kind| cut.cut(every(*kind), None, Some(key)));
            let got = vectors(model, case, &all);
            if model.shape().causal && case.decoder_ids.is_none() {
                // Padding does not count where a decoder's tokens stand, so it is compared attention by attention.
                masked_alike(&trace(model, case, &all), masked.real.as_deref().unwrap(), &tiny.name);
            } else {
                assert!(got == vectors(model, &masked, Interventions::NONE), "{} key {key}", tiny.name);
            }
            assert!(got != vectors(model, case, Interventions::NONE), "{} key {key}", tiny.name);

            // Edge by edge it is the same.
            let mut edges = Interventions::default();
            for has in model.attentions().into_iter().filter(|has| kinds.contains(&has.kind)) {
                let queries = if has.kind == SiteKind::Cross { case.read().len() } else { case.ids.len() };
                for (layer, head) in (0..has.layers).flat_map(|layer| (0..has.heads).map(move |head| (layer, head))) {
                    let heads = Heads { site: has.kind, layer: Some(layer), head: Some(head) };
                    edges = (0..queries).fold(edges, |cut, query| cut.cut(heads, Some(query), Some(key)));
                }
            }
            assert!(got == vectors(model, case, &edges), "{} key {key}", tiny.name);
        }
    }
}

/// Every layer at once (ALBERT's share their matrices), then one layer alone.
#[test]
fn a_head_knocked_out_is_its_columns_of_the_output_matrix_zeroed() {
    for tiny in Tiny::all() {
        for (layer, head) in [(None, 0), (None, 1), (Some(0), 1)] {
            if layer.is_some() && tiny.name.starts_with("albert") {
                continue;
            }
            let zeroed = tiny.with(|tensors| {
                for (name, transposed) in outputs(tensors, layer) {
                    let rest = take_head(&tensors[&name], transposed, head, tiny.heads_of(&name)).1;
                    tensors.insert(name, rest);
                }
            });
            let cut = tiny.kinds().into_iter().fold(Interventions::default(), |cut, site| {
                cut.cut(Heads { site, layer, head: Some(head) }, None, None)
            });
            let got = vectors(&tiny.model, tiny.text(), &cut);
            let same = got == vectors(&zeroed, tiny.text(), Interventions::NONE);
            assert!(same, "{} {layer:?}.{head}", tiny.name);
            assert!(got != vectors(&tiny.model, tiny.text(), Interventions::NONE), "{}", tiny.name);
        }
    }
}

#[test]
fn with_all_attention_cut_a_token_changes_no_other_position() {
    for tiny in Tiny::all() {
        let (model, case) = (&tiny.model, tiny.text());
        let deaf = model.without_attention();
        let before = vectors(model, case, &deaf);
        let mut other = case.clone();
        let id = &mut other.read_mut()[5];
        *id = if *id == 20 { 21 } else { 20 };
        for (position, (a, b)) in before.iter().zip(vectors(model, &other, &deaf)).enumerate() {
            assert_eq!(*a == b, position != 5, "{} at {position}", tiny.name);
        }
        if case.decoder_ids.is_some() {
            // Nor does anything that the encoder reads.
            let mut other = case.clone();
            other.ids[3] = if other.ids[3] == 20 { 21 } else { 20 };
            assert!(before == vectors(model, &other, &deaf), "{}", tiny.name);
            assert_ne!(
                vectors(model, case, Interventions::NONE),
                vectors(model, &other, Interventions::NONE),
                "{}",
                tiny.name
            );
        }
    }
}

/// A query that is cut sees nothing in that layer, and no other row of it knows.
#[test]
fn a_cut_query_is_a_row_that_sees_nothing() {
    for tiny in Tiny::all() {
        let (model, case) = (&tiny.model, tiny.text());
        let before = trace(model, case, Interventions::NONE);
        for site in tiny.kinds() {
            let cut = Interventions::default().cut(Heads { site, layer: Some(0), head: Some(1) }, Some(3), None);
            let after = trace(model, case, &cut);
            assert_eq!(after.model.note, format!("cut {site} 0.1.3.*"));
            let at = At { site, layer: 0, head: 1 };
            let row = after.row(at, 3).unwrap();
            assert!(row.weights.iter().all(|weight| *weight == 0.0) && row.visible == 0, "{} {site}", tiny.name);
            assert!(row.mask.contains(&Some("knocked_out")), "{} {site}", tiny.name);
            assert_eq!(after.row(at, 4).unwrap(), before.row(at, 4).unwrap(), "{} {site}", tiny.name);
            assert_eq!(after.row(At { head: 0, ..at }, 3).unwrap(), before.row(At { head: 0, ..at }, 3).unwrap());
            assert!(after.heads(None).unwrap().iter().all(|head| head.proof.holds()), "{} {site}", tiny.name);
        }
    }
}
