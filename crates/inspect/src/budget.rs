//! What the weights of a row and its head's sink come to, and what is said where that is not what it must be.

/// What rounding never makes of a sum.
const OFF: f64 = 1e-3;

/// Why the weights of a row cannot be those of the run; none where they can. `due` is what they and the sink must sum
/// to: 1, or 0 for a row that sees nothing.
pub(crate) fn doubt(row_sum: f64, sink: Option<f64>, due: f64) -> Option<String> {
    let sum = row_sum + sink.unwrap_or(0.0);
    if !sum.is_finite() {
        return Some(
            "the weights of this row are not numbers: the trace, or the model that made it, is damaged".to_owned(),
        );
    }
    let what = if sink.is_some() { "the weights and the sink sum" } else { "the weights sum" };
    ((sum - due).abs() > OFF).then(|| format!("{what} to {sum:.6}: its lse does not fit its scores"))
}

/// A weight, or NaN where its score or the row's lse is no number, whatever their difference comes to.
pub(crate) fn number(weight: f64, score: f64, lse: f64) -> f64 {
    if (score - lse).is_finite() { weight } else { f64::NAN }
}

/// As spread out as so many equal weights: exp of the entropy of the weights as shares of their sum. None where they
/// have no sum.
pub(crate) fn effective(weights: &[f64]) -> Option<f64> {
    let sum: f64 = weights.iter().sum();
    let shares = weights.iter().map(|weight| weight / sum).filter(|share| *share > 0.0);
    (sum.is_finite() && sum > 0.0).then(|| shares.map(|share| -share * share.ln()).sum::<f64>().max(0.0).exp())
}
