//! The gradients of the sinks.

use super::operands::Operands;

/// A sink is a score that mixes nothing: its gradient is -delta times its weight, summed over the rows of its head.
pub(super) fn d_sinks<T, G>(operands: &Operands<T, G>, sinks: &[f32]) -> Vec<f32> {
    let rows = operands.shape.q_len;
    let of_head = |(head, sink): (usize, &f32)| {
        let batches = 0..operands.shape.batch;
        let rows = batches.flat_map(|batch| operands.row(batch, head, 0)..operands.row(batch, head, 0) + rows);
        let sum: f64 = rows.map(|row| (f64::from(*sink) - operands.lse[row]).exp() * operands.delta[row]).sum();
        -sum as f32
    };
    sinks.iter().enumerate().map(of_head).collect()
}
