//! The worked example, run with other numbers.

use attnscope_inspect::example::{Example, ExtraScore, KnockOut, Matrix, Setting, Worked};
use axum::response::Response;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::extract::Told;
use crate::routes::json;

/// The largest number that may be put in, and the largest score that may come out. Beyond, products of products would
/// leave the range of f32, and the logarithm of a row's sum would be lost beside its largest score.
const LARGEST: f64 = 1e6;
/// The smallest scale at which something can be added to a score, which is done by way of q and k.
const SMALLEST_SCALE: f32 = 1e-6;

/// What is changed; the rest stays as it is built in.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Changed {
    #[serde(default)]
    causal: bool,
    #[serde(default)]
    scale: Option<f32>,
    #[serde(default)]
    extra_score: Option<Extra>,
    #[serde(default)]
    x: Option<Matrix<f64>>,
    #[serde(default)]
    w_q: Option<Matrix<f64>>,
    #[serde(default)]
    w_k: Option<Matrix<f64>>,
    #[serde(default)]
    w_v: Option<Matrix<f64>>,
    #[serde(default)]
    w_o: Option<Matrix<f64>>,
    #[serde(default)]
    k: Option<Matrix<f64>>,
    #[serde(default)]
    v: Option<Matrix<f64>>,
    #[serde(default)]
    knock_out: Option<KnockOut>,
}

/// Something added to one score.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Extra {
    query: usize,
    key: usize,
    add: f32,
}

#[derive(Serialize)]
struct Answer {
    #[serde(flatten)]
    worked: Worked,
    /// Whether every weight is the built-in example's, to the last bit.
    same_weights_as_built_in: bool,
}

/// `POST /api/scratch/example`
pub(crate) async fn example(Told(changed): Told<Changed>) -> Result<Response, Error> {
    json(move || {
        let built_in = Example::load();
        let mut example = built_in.clone();
        let Changed { causal, scale, extra_score, x, w_q, w_k, w_v, w_o, k, v, knock_out } = changed;
        for (name, place, new) in [
            ("x", &mut example.x, x),
            ("w_q", &mut example.w_q, w_q),
            ("w_k", &mut example.w_k, w_k),
            ("w_v", &mut example.w_v, w_v),
            ("w_o", &mut example.w_o, w_o),
        ] {
            if let Some(new) = new {
                check_matrix(name, place, &new)?;
                *place = new;
            }
        }
        let k = narrowed("k", k, &example, &example.w_k)?;
        let v = narrowed("v", v, &example, &example.w_v)?;
        check_scores(scale, extra_score, example.tokens.len())?;
        check_knock_out(knock_out, extra_score, example.tokens.len())?;
        let extra_score = extra_score.map(|Extra { query, key, add }| ExtraScore { query, key, add });
        let (k, v) = (k.as_ref(), v.as_ref());
        let worked = example.worked_as(&Setting { causal, scale, extra_score, k, v, knock_out })?;
        if worked.scores.iter().flatten().any(|score| score.abs() > LARGEST) {
            return Err(Error::bad_request("these numbers make scores beyond 1e6; choose smaller ones"));
        }
        let same_weights_as_built_in = worked.weights == built_in.worked(causal)?.weights;
        Ok(Answer { worked, same_weights_as_built_in })
    })
    .await
}

/// A matrix may change its numbers, not its shape.
fn check_matrix(name: &str, old: &Matrix<f64>, new: &Matrix<f64>) -> Result<(), Error> {
    check_numbers(name, (old.len(), old[0].len()), new)
}

/// One row a token, as wide as what it stands for, and of the kernel's own numbers.
fn narrowed(
    name: &str,
    new: Option<Matrix<f64>>,
    example: &Example,
    weights: &Matrix<f64>,
) -> Result<Option<Matrix>, Error> {
    let Some(new) = new else { return Ok(None) };
    check_numbers(name, (example.tokens.len(), weights[0].len()), &new)?;
    Ok(Some(new.iter().map(|row| row.iter().map(|x| *x as f32).collect()).collect()))
}

fn check_numbers(name: &str, (rows, columns): (usize, usize), new: &Matrix<f64>) -> Result<(), Error> {
    if new.len() != rows || new.iter().any(|row| row.len() != columns) {
        return Err(Error::bad_request(format!("{name} must have {rows} rows of {columns} numbers")));
    }
    if new.iter().flatten().any(|x| x.abs() > LARGEST) {
        return Err(Error::bad_request(format!("the numbers of {name} must lie between -1e6 and 1e6")));
    }
    Ok(())
}

/// What is done to the scores must leave them numbers.
fn check_scores(scale: Option<f32>, extra: Option<Extra>, tokens: usize) -> Result<(), Error> {
    let too_large = |x: f32| f64::from(x.abs()) > LARGEST;
    if scale.is_some_and(too_large) {
        return Err(Error::bad_request("scale must lie between -1e6 and 1e6"));
    }
    let Some(Extra { query, key, add }) = extra else { return Ok(()) };
    if query.max(key) >= tokens {
        return Err(Error::bad_request(format!("extra_score must name tokens 0 to {}", tokens - 1)));
    }
    if too_large(add) {
        return Err(Error::bad_request("what extra_score adds must lie between -1e6 and 1e6"));
    }
    if scale.is_some_and(|scale| scale.abs() < SMALLEST_SCALE) {
        return Err(Error::bad_request("nothing can be added to a score at a scale below 1e-6; give a larger scale"));
    }
    Ok(())
}

/// A hidden cell has no score that anything could be added to.
fn check_knock_out(edge: Option<KnockOut>, extra: Option<Extra>, tokens: usize) -> Result<(), Error> {
    let Some(KnockOut { query, key }) = edge else { return Ok(()) };
    if query.max(key) >= tokens {
        return Err(Error::bad_request(format!("knock_out must name tokens 0 to {}", tokens - 1)));
    }
    if extra.is_some() {
        return Err(Error::bad_request("knock_out and extra_score cannot be had at once"));
    }
    Ok(())
}
