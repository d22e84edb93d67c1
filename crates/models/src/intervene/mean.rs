//! One vector in the place of a head's output: the mean of what it made at many positions.

use attnscope_inspect::{At, SiteKind, Trace};

use super::{Sizes, within};
use crate::error::{Error, Result};

/// What a head made in a run, averaged over the positions that are no padding: (v_head_dim).
///
/// # Errors
/// If the run has no such head.
pub fn mean_output(run: &Trace, at: At) -> Result<Vec<f32>> {
    let site = run.site(at.site, at.layer)?;
    let heads = site.q_heads();
    within("head", Some(at.head), heads, || format!("the layer has {heads} heads, 0 to {}", heads.saturating_sub(1)))?;
    // Queries and keys of one text are padding together; where they are of two, only keys are ever padded.
    let padding = site.params.key_padding.as_ref().filter(|_| at.site != SiteKind::Cross);
    let [_, _, dim] = site.out.shape;
    Ok(over(site.out.data.chunks_exact(dim).skip(at.head).step_by(heads), padding.map(|padding| padding.real())))
}

/// Puts one vector in the place of a head's output at every position; none is the mean of that output over the tokens that
/// are no padding. `out` is (len, heads, v_head_dim).
///
/// # Errors
/// If the vector is of another length.
pub(super) fn put(
    out: &mut [f32],
    vector: Option<&[f32]>,
    real: Option<&[bool]>,
    head: usize,
    sizes: Sizes,
) -> Result<()> {
    let dim = out.len() / (sizes.len * sizes.heads).max(1);
    let own;
    let vector = match vector {
        Some(given) => given,
        None => {
            own = over(out.chunks_exact(dim).skip(head).step_by(sizes.heads), real);
            &own
        }
    };
    if vector.len() != dim {
        let got = vector.len();
        return Err(Error::Text(format!("the mean output given has {got} numbers, but those of the head have {dim}")));
    }
    for row in out.chunks_exact_mut(dim).skip(head).step_by(sizes.heads) {
        row.copy_from_slice(vector);
    }
    Ok(())
}

/// The mean of rows, summed in f64; of those that are real, where that is known.
fn over<'a>(rows: impl Iterator<Item = &'a [f32]>, real: Option<&[bool]>) -> Vec<f32> {
    let (mut sums, mut count) = (Vec::new(), 0_usize);
    for (position, row) in rows.enumerate() {
        sums.resize(row.len(), 0.0_f64);
        if real.is_none_or(|real| real[position]) {
            count += 1;
            sums.iter_mut().zip(row).for_each(|(sum, x)| *sum += f64::from(*x));
        }
    }
    sums.into_iter().map(|sum| (sum / count.max(1) as f64) as f32).collect()
}
