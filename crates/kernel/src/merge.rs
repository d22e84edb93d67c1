//! Joining what was found over disjoint sets of keys into what the whole would have given.

use rayon::prelude::*;

use crate::error::{Error, argument};
use crate::view::size;
use crate::{Element, Forward, Isa, Params, View, forward};

/// Joins partial results: the same queries, each state over keys of its own, into the result over all of those keys.
///
/// `shape` is (batch, q_len, q_heads, v_head_dim), that of every state's `out`. For each row
///
/// ```text
/// lse = ln( sum over states of exp(lse_s) )        out = sum over states of exp(lse_s - lse) out_s
/// ```
///
/// which is exact; weights and sums are f64. A state whose lse is -inf saw nothing and adds nothing, whatever its out
/// is. States are added in the order in which they are given, whatever the number of threads. A sink is one more score
/// of its row: exactly one of the states may have counted it. (Dao et al. 2023, Flash-Decoding)
///
/// ```
/// use attnscope_kernel::{Isa, Params, View, forward, merge};
///
/// let x: Vec<f32> = (0..6 * 4).map(|i| (i as f32 * 0.37).sin()).collect();
/// let q = View::new(&x[..4], [1, 1, 1, 4])?;
/// let keys = |from: usize, to: usize| View::new(&x[from * 4..to * 4], [1, to - from, 1, 4]);
/// let params = Params::for_head_dim(4);
///
/// let over = |from, to| forward(q, keys(from, to)?, keys(from, to)?, &params, Isa::detect());
/// let joined = merge(&[&over(0, 2)?, &over(2, 6)?], [1, 1, 1, 4])?;
/// let whole = over(0, 6)?;
/// assert!((joined.lse[0] - whole.lse[0]).abs() < 1e-6 && (joined.out[0] - whole.out[0]).abs() < 1e-6);
/// # Ok::<(), attnscope_kernel::Error>(())
/// ```
///
/// # Errors
/// If there is no state, or one is not as long as the shape says.
pub fn merge<O: Element>(states: &[&Forward<O>], shape: [usize; 4]) -> Result<Forward<O>, Error> {
    let [batch, q_len, q_heads, v_dim] = shape;
    let (Some(outs), Some(rows)) = (size(&shape), size(&[batch, q_len, q_heads])) else {
        return argument("shape", format!("{shape:?}"), "small enough to index");
    };
    if states.is_empty() {
        return argument("states", "none", "at least one");
    }
    for state in states {
        for (name, got, want) in [("out length", state.out.len(), outs), ("lse length", state.lse.len(), rows)] {
            if got != want {
                return argument(name, got, format!("{want}, as shape {shape:?} has"));
            }
        }
    }
    // Where a query's row of a head lies in lse; in out it is row after row.
    let place = |row: usize| {
        let (query, head) = (row / q_heads, row % q_heads);
        (query / q_len * q_heads + head) * q_len + query % q_len
    };
    let mut joined = Forward { out: vec![O::zero(); outs], lse: vec![f64::NEG_INFINITY; rows] };
    if v_dim == 0 {
        for (at, lse) in joined.lse.iter_mut().enumerate() {
            *lse = total(states.iter().map(|state| state.lse[at]));
        }
        return Ok(joined);
    }
    let row = |row: usize, out: &mut [O]| {
        let lses = states.iter().map(|state| state.lse[place(row)]);
        let lse = total(lses.clone());
        let (mut mixed, mut wide) = (vec![0.0; v_dim], vec![0.0; v_dim]);
        for (state, partial) in states.iter().zip(lses) {
            O::widen(&state.out[row * v_dim..(row + 1) * v_dim], &mut wide);
            add(&mut mixed, &wide, partial, lse);
        }
        for (wide, mixed) in wide.iter_mut().zip(mixed) {
            *wide = mixed as f32;
        }
        O::narrow(&wide, out);
        lse
    };
    let lse: Vec<f64> =
        joined.out.par_chunks_mut(v_dim).enumerate().with_min_len(64).map(|(at, out)| row(at, out)).collect();
    for (at, lse) in lse.into_iter().enumerate() {
        joined.lse[place(at)] = lse;
    }
    Ok(joined)
}

/// Attention of many texts that begin alike: `batch` sequences of queries, each over one long prefix, read once for
/// all of them, and a suffix of its own.
///
/// `q` is (batch, q_len, q_heads, head_dim); `prefix`, keys and values, (1, prefix_len, kv_heads, head_dim) and (...,
/// v_head_dim); `suffix` (batch, suffix_len, kv_heads, ...). Every query sees the whole prefix. `params` shape the
/// suffix, as [`forward`] would read it there: the causal rule is aligned to the suffix's end, padding, segments (many
/// suffixes of any lengths packed into one batch), bias and knockouts name the suffix's keys. scale, softcap and sinks
/// are those of the whole. The result is that of [`forward`] over prefix and suffix in one, out as there and lse
/// (batch, q_heads, q_len), up to rounding.
///
/// # Errors
/// As [`forward`]; if prefix and suffix do not fit each other; if a parameter depends on how far a key is away (window,
/// ALiBi, relative bias), which the prefix, read once for queries at different places, does not know; or if the causal
/// rule would hide a part of the prefix, because there are more queries than keys in a suffix.
pub fn forward_shared_prefix<T: Element>(
    q: View<T>,
    prefix: (View<T>, View<T>),
    suffix: (View<T>, View<T>),
    params: &Params,
    isa: Isa,
) -> Result<Forward, Error> {
    let [batch, q_len, q_heads, head_dim] = q.shape();
    for (name, there) in [("prefix k batch", prefix.0.batch()), ("prefix v batch", prefix.1.batch())] {
        if there != 1 {
            return argument(name, there, "1: it is shared");
        }
    }
    for (name, got, want) in
        [("prefix k heads", prefix.0.heads(), suffix.0.heads()), ("prefix v head_dim", prefix.1.dim(), suffix.1.dim())]
    {
        if got != want {
            return argument(name, got, format!("{want}, as in the suffix"));
        }
    }
    for (name, there) in [
        ("window", params.window.is_some()),
        ("alibi_slopes", params.alibi_slopes.is_some()),
        ("relative_bias", params.relative_bias.is_some()),
    ] {
        if there {
            return argument(name, "given", "None beside a shared prefix");
        }
    }
    let own = forward(q, suffix.0, suffix.1, params, isa)?;
    if params.causal {
        check_reach(params, q_len, suffix.0.len())?;
    }
    // The queries of all sequences, one after another: to the prefix they are the queries of one text.
    let mut stacked = Vec::with_capacity(batch * q_len * q_heads * head_dim);
    for batch in 0..batch {
        for query in 0..q_len {
            for head in 0..q_heads {
                stacked.extend_from_slice(q.row(batch, query, head));
            }
        }
    }
    let stacked = View::new(&stacked, [1, batch * q_len, q_heads, head_dim])?;
    let seen = Params { softcap: params.softcap, scale: params.scale, ..Params::for_head_dim(head_dim) };
    let mut shared: Forward = forward(stacked, prefix.0, prefix.1, &seen, isa)?;
    // Its lse lie head after head over all sequences; the others' sequence after sequence.
    shared.lse = (0..batch)
        .flat_map(|batch| (0..q_heads).map(move |head| (batch, head)))
        .flat_map(|(batch, head)| {
            let first = (head * batch_len(&shared, q_heads)) + batch * q_len;
            shared.lse[first..first + q_len].iter().copied()
        })
        .collect();
    merge(&[&shared, &own], [batch, q_len, q_heads, suffix.1.dim()])
}

/// That every query stands at a key of its suffix or before it sees none, never within the prefix.
fn check_reach(params: &Params, q_len: usize, suffix_len: usize) -> Result<(), Error> {
    let whole = (&[0, q_len][..], &[0, suffix_len][..]);
    let (q, kv) = params.segments.as_ref().map_or(whole, |segments| segments.ends());
    for (q, kv) in q.windows(2).zip(kv.windows(2)) {
        let (queries, keys) = (q[1] - q[0], kv[1] - kv[0]);
        if queries > keys {
            return argument("suffix len", keys, format!("at least {queries}, the queries that stand in it"));
        }
    }
    Ok(())
}

/// Queries in all of a state with one batch.
fn batch_len(state: &Forward, q_heads: usize) -> usize {
    state.lse.len() / q_heads.max(1)
}

/// The log-sum-exp of log-sum-exps; -inf for none.
pub(crate) fn total(lses: impl Iterator<Item = f64> + Clone) -> f64 {
    let max = lses.clone().fold(f64::NEG_INFINITY, f64::max);
    let seen = lses.filter(|lse| *lse != f64::NEG_INFINITY);
    if seen.clone().next().is_none() {
        return f64::NEG_INFINITY;
    }
    max + seen.map(|lse| (lse - max).exp()).sum::<f64>().ln()
}

/// Adds one state's output, by its share of the whole.
pub(crate) fn add(mixed: &mut [f64], out: &[f32], lse: f64, total: f64) {
    if lse == f64::NEG_INFINITY {
        return;
    }
    let share = (lse - total).exp();
    for (mixed, out) in mixed.iter_mut().zip(out) {
        *mixed += share * f64::from(*out);
    }
}
