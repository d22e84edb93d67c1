//! A head's output replaced by its mean.

use attnscope_inspect::{At, SiteKind, Trace};
use attnscope_models::{Heads, Interventions, Mean, mean_output};
use candle_core::{DType, Tensor};

use crate::support::{Tiny, apart, outputs, take_head, trace, vectors};

const HEAD: usize = 1;

/// The mean of what a head made at the positions that are no padding, one addition after another.
fn by_hand(trace: &Trace, at: At, real: Option<&[bool]>) -> Vec<f32> {
    let site = trace.site(at.site, at.layer).unwrap();
    let [len, heads, dim] = site.out.shape;
    let rows: Vec<usize> = (0..len).filter(|row| real.is_none_or(|real| real[*row])).collect();
    let number = |row: usize, d: usize| f64::from(site.out.data[(row * heads + at.head) * dim + d]);
    (0..dim).map(|d| (rows.iter().map(|row| number(*row, d)).sum::<f64>() / rows.len() as f64) as f32).collect()
}

#[test]
fn the_mean_of_this_run_is_the_mean_by_hand() {
    for tiny in Tiny::all() {
        for (name, case) in &tiny.cases {
            let plain = trace(&tiny.model, case, Interventions::NONE);
            for site in tiny.kinds() {
                let layer = tiny.last(site);
                let (at, heads) =
                    (At { site, layer, head: HEAD }, Heads { site, layer: Some(layer), head: Some(HEAD) });
                let of_encoder = site == SiteKind::Encoder || case.decoder_ids.is_none();
                let mean = by_hand(&plain, at, case.real.as_deref().filter(|_| of_encoder));
                let own = Interventions::default().mean(heads, Mean::OfThisRun);
                let given = Interventions::default().mean(heads, Mean::Given(mean.clone()));
                let got = vectors(&tiny.model, case, &own);
                assert!(got == vectors(&tiny.model, case, &given), "{} {name} {site}", tiny.name);
                assert!(got != vectors(&tiny.model, case, Interventions::NONE), "{} {name} {site}", tiny.name);
                let theirs = mean_output(&plain, at).unwrap();
                assert_eq!(theirs, mean, "{} {name} {site}", tiny.name);
                // What is kept is what the head itself made.
                let kept = trace(&tiny.model, case, &own);
                assert_eq!(kept.model.note, format!("output of {site} {layer}.1 its mean"));
                assert_eq!(
                    kept.site(site, layer).unwrap().out.data[..],
                    plain.site(site, layer).unwrap().out.data[..],
                    "{} {name} {site}",
                    tiny.name
                );
            }
        }
    }
}

/// Where the projection back has a bias, a mean output is the head's columns zeroed and their product with the mean in the bias.
#[test]
fn a_mean_output_is_a_bias() {
    let mut seen = 0;
    for tiny in Tiny::all().filter(|tiny| !tiny.name.starts_with("albert") && tiny.kinds().len() == 1) {
        let heads = tiny.model.shape().q_heads;
        let (at, case) = (At { layer: tiny.last(SiteKind::SelfAttention), head: HEAD, ..At::default() }, tiny.text());
        let mean = by_hand(&trace(&tiny.model, case, Interventions::NONE), at, None);
        let mut biased = false;
        let model = tiny.with(|tensors| {
            for (name, transposed) in outputs(tensors, Some(at.layer)) {
                let bias_name = name.replace(".weight", ".bias");
                let Some(bias) = tensors.get(&bias_name).cloned() else { continue };
                let (own, rest) = take_head(&tensors[&name], transposed, HEAD, heads);
                let own = if transposed { own.t().unwrap() } else { own };
                let column = Tensor::from_slice(&mean, (mean.len(), 1), own.device()).unwrap();
                let moved = own.contiguous().unwrap().matmul(&column).unwrap().flatten_all().unwrap();
                tensors.insert(bias_name, (bias.to_dtype(DType::F32).unwrap() + moved).unwrap());
                tensors.insert(name, rest);
                biased = true;
            }
        });
        if biased {
            let heads = Heads { site: at.site, layer: Some(at.layer), head: Some(HEAD) };
            let got = vectors(&tiny.model, case, &Interventions::default().mean(heads, Mean::OfThisRun));
            let off = apart(&got, &vectors(&model, case, Interventions::NONE));
            assert!(off < 1e-5, "{}: {off}", tiny.name);
            seen += 1;
        }
    }
    assert!(seen >= 9, "{seen}");
}
