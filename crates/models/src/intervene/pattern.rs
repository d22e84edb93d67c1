//! A head with the weights of another run.

use attnscope_inspect::{Site, SiteKind, Tensor};
use attnscope_kernel::{Isa, Knockout, Params, Recall, View};

use super::Sizes;
use crate::error::{Error, Result};

/// Queries whose weights are held at once.
const ROWS: usize = 64;

/// That the run from which a pattern comes has the same places and masks.
///
/// # Errors
/// Saying what differs.
pub(super) fn check(site: &Site, v: View, params: &Params, sizes: Sizes) -> Result<()> {
    let (kind, layer) = (site.kind, site.layer);
    let Sizes { len, kv_len, heads, before } = sizes;
    let theirs = [site.q_len(), site.kv_len()];
    // A cache reads a text in parts: each is given the rows of its own positions.
    let fits = match before {
        None => theirs == [len, kv_len],
        Some(before) => {
            before + len <= theirs[0] && if kind == SiteKind::Cross { kv_len == theirs[1] } else { kv_len <= theirs[1] }
        }
    };
    if !fits {
        let reaches = before.unwrap_or(0) + len;
        return Err(Error::Text(format!(
            "the pattern for layer {layer} {kind} is of {} queries and {} keys, but this run has {reaches} and {kv_len}; \
             take it from a text of as many tokens",
            theirs[0], theirs[1]
        )));
    }
    if [site.q_heads(), site.kv_heads()] != [heads, v.shape()[2]] {
        return Err(Error::Text(format!(
            "the pattern for layer {layer} {kind} is of a layer with {} query and {} kv heads, but this one has {heads} \
             and {}; take it from a run of the same model",
            site.q_heads(),
            site.kv_heads(),
            v.shape()[2]
        )));
    }
    let but_for_cuts = |params: &Params| Params { knockouts: Vec::new(), ..params.clone() };
    if but_for_cuts(&site.params) != but_for_cuts(params) {
        return Err(Error::Text(format!(
            "the pattern for layer {layer} {kind} comes from a run with another mask or scale (padding, say); \
             take it from a run of the same model, padded alike"
        )));
    }
    Ok(())
}

/// Mixes this run's values by the weights of another run: into one head of `out`, (len, heads, v_head_dim). Sums are in f64.
pub(super) fn mix(site: &Site, head: usize, v: View, sizes: Sizes, out: &mut [f32]) -> Result<()> {
    let recall = recall(site).map_err(attnscope_inspect::Error::from)?;
    let (dim, kv_head, before) = (v.shape()[3], site.kv_head(head), sizes.before.unwrap_or(0));
    for start in (0..sizes.len).step_by(ROWS) {
        let queries = start..(start + ROWS).min(sizes.len);
        let theirs = before + queries.start..before + queries.end;
        let tile = recall.tile(0, head, theirs, 0..sizes.kv_len).map_err(attnscope_inspect::Error::from)?;
        for (query, weights) in queries.zip(tile.weights.chunks_exact(sizes.kv_len)) {
            let mut mixed = vec![0.0_f64; dim];
            for (key, weight) in weights.iter().enumerate().filter(|(_, weight)| **weight != 0.0) {
                let value = v.row(0, key, kv_head);
                mixed.iter_mut().zip(value).for_each(|(sum, x)| *sum += weight * f64::from(*x));
            }
            let row = &mut out[(query * sizes.heads + head) * dim..][..dim];
            row.iter_mut().zip(mixed).for_each(|(x, sum)| *x = sum as f32);
        }
    }
    Ok(())
}

fn recall(site: &Site) -> Result<Recall<'_>, attnscope_kernel::Error> {
    fn view(tensor: &Tensor) -> Result<View<'_>, attnscope_kernel::Error> {
        let [len, heads, dim] = tensor.shape;
        View::new(&tensor.data, [1, len, heads, dim])
    }
    Recall::new(view(&site.q)?, view(&site.k)?, &site.lse, &site.params, Isa::detect())
}

/// An attention as it is kept: the head's weights are brought back from the other run's q, k and lse. Query heads then no
/// longer share keys, so each has its own.
pub(super) fn keep(site: &Site, head: usize, kept: Site, sizes: Sizes) -> Site {
    let before = sizes.before.unwrap_or(0);
    let theirs = site.kv_head(head);
    let q = of_each(&kept.q, sizes.heads, |position, own| match own == head {
        true => row(&site.q, before + position, head),
        false => row(&kept.q, position, own),
    });
    let k = of_each(&kept.k, sizes.heads, |position, own| match own == head {
        true => row(&site.k, position, theirs),
        false => row(&kept.k, position, kept.kv_head(own)),
    });
    let v = of_each(&kept.v, sizes.heads, |position, own| row(&kept.v, position, kept.kv_head(own)));
    let mut lse = kept.lse.to_vec();
    lse[head * sizes.len..][..sizes.len].copy_from_slice(&site.lse[head * site.q_len() + before..][..sizes.len]);
    let cut_there = site.params.knockouts.iter().filter(|rule| rule.head.is_none_or(|cut| cut == head));
    let cut_there = cut_there.filter_map(|rule| sizes.own(Knockout { head: Some(head), ..*rule }));
    let mut params = kept.params.clone();
    params.knockouts.extend(cut_there);
    Site { q, k, v, lse: lse.into(), params, ..kept }
}

/// A tensor (len, heads, dim) made of rows.
fn of_each<'a>(like: &Tensor, heads: usize, row: impl Fn(usize, usize) -> &'a [f32]) -> Tensor {
    let [len, _, dim] = like.shape;
    let places = (0..len).flat_map(|position| (0..heads).map(move |head| (position, head)));
    let data: Vec<f32> = places.flat_map(|(position, head)| row(position, head).iter().copied()).collect();
    Tensor::new(data, [len, heads, dim])
}

fn row(tensor: &Tensor, position: usize, head: usize) -> &[f32] {
    let [_, heads, dim] = tensor.shape;
    &tensor.data[(position * heads + head) * dim..][..dim]
}
