//! From a weight to a place on the colour ramp. A scale changes what is seen, never what is stored.

use super::field::Field;

/// How weights become colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Colour grows with the weight.
    Linear,
    /// Colour grows with the square root of the weight.
    Sqrt,
    /// Each step of colour is ten times the weight.
    Log,
    /// Colour grows with the weight's part of the largest in its row.
    Row,
    /// Colour grows with the share of visible cells whose weight is smaller.
    Rank,
}

/// The smallest weight that the logarithmic scale still tells from nothing.
const LOG_FLOOR: f32 = 1e-5;

impl Scale {
    /// Every scale.
    pub const ALL: [Self; 5] = [Self::Linear, Self::Sqrt, Self::Log, Self::Row, Self::Rank];

    /// As it is called on the command line and on the page.
    pub fn name(self) -> &'static str {
        match self {
            Self::Linear => "linear",
            Self::Sqrt => "sqrt",
            Self::Log => "log",
            Self::Row => "row",
            Self::Rank => "rank",
        }
    }

    /// What a legend says of it.
    pub(super) fn says(self) -> &'static str {
        match self {
            Self::Linear => "Linear scale: colour grows with the weight.",
            Self::Sqrt => "Square-root scale: colour grows with the square root of the weight.",
            Self::Log => "Log scale: each tick is ten times the weight; all below 0.00001 looks alike.",
            Self::Row => "Per-row scale: the weight as a part of the largest in its row here.",
            Self::Rank => "Rank scale: each quarter of the ramp holds a quarter of the visible cells.",
        }
    }
}

/// A scale made ready for one map.
pub(super) enum Shades {
    Fixed(Scale),
    /// The largest weight of each row.
    Row(Vec<f32>),
    /// Every visible weight, in order.
    Rank(Vec<f32>),
}

impl Shades {
    pub(super) fn new(scale: Scale, field: &Field) -> Self {
        match scale {
            Scale::Row => {
                let largest = |row: &[f32]| row.iter().copied().fold(0.0, f32::max);
                Self::Row(field.cells.chunks(field.columns).map(largest).collect())
            }
            Scale::Rank => {
                let mut order: Vec<f32> = field.cells.iter().copied().filter(|weight| *weight >= 0.0).collect();
                order.sort_by(f32::total_cmp);
                Self::Rank(order)
            }
            scale => Self::Fixed(scale),
        }
    }

    /// Where a weight of a row stands, from 0 to 1.
    pub(super) fn place(&self, row: usize, weight: f32) -> f32 {
        match self {
            Self::Fixed(scale) => fixed(*scale, weight),
            Self::Row(largest) if largest[row] > 0.0 => weight / largest[row],
            Self::Row(_) => 0.0,
            Self::Rank(order) => {
                let smaller = order.partition_point(|other| *other < weight);
                smaller as f32 / (order.len().saturating_sub(1)).max(1) as f32
            }
        }
    }

    /// The legend's ticks: (place, words).
    pub(super) fn ticks(&self) -> Vec<(f32, String)> {
        let fixed = |scale, ticks: &[f32]| ticks.iter().map(|tick| (fixed(scale, *tick), tick.to_string())).collect();
        match self {
            Self::Fixed(Scale::Sqrt) => fixed(Scale::Sqrt, &[0.0, 0.01, 0.1, 0.25, 0.5, 1.0]),
            Self::Fixed(Scale::Log) => fixed(Scale::Log, &[1e-5, 1e-4, 1e-3, 0.01, 0.1, 1.0]),
            Self::Fixed(_) => fixed(Scale::Linear, &[0.0, 0.25, 0.5, 0.75, 1.0]),
            Self::Row(_) => [0, 25, 50, 75, 100].map(|part| (part as f32 / 100.0, format!("{part} %"))).into(),
            Self::Rank(order) => [0.0, 0.25, 0.5, 0.75, 1.0]
                .into_iter()
                .filter_map(|place| {
                    let weight = order.get((place * order.len().saturating_sub(1) as f32).round() as usize)?;
                    Some((place, short(*weight)))
                })
                .collect(),
        }
    }
}

fn fixed(scale: Scale, weight: f32) -> f32 {
    match scale {
        _ if weight <= 0.0 => 0.0,
        Scale::Sqrt => weight.sqrt().min(1.0),
        Scale::Log => (1.0 - weight.log10() / LOG_FLOOR.log10()).clamp(0.0, 1.0),
        _ => weight.min(1.0),
    }
}

/// Two digits that matter.
fn short(weight: f32) -> String {
    match weight {
        0.0 => "0".to_owned(),
        weight if weight < 1e-3 => format!("{weight:.1e}"),
        weight if weight < 0.1 => format!("{weight:.4}"),
        weight => format!("{weight:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{Scale, Shades};
    use crate::picture::field::Field;

    fn shades(scale: Scale) -> Shades {
        let cells = vec![0.25, 0.75, -1.0, 0.0, 0.5, 0.5];
        Shades::new(scale, &Field { queries: 0..2, keys: 0..3, rows: 2, columns: 3, cells })
    }

    #[test]
    fn each_scale_puts_a_weight_where_its_legend_says() {
        assert_eq!(shades(Scale::Linear).place(0, 0.25), 0.25);
        assert_eq!(shades(Scale::Sqrt).place(0, 0.25), 0.5);
        assert!((shades(Scale::Log).place(0, 0.1) - 0.8).abs() < 1e-6);
        assert_eq!(shades(Scale::Log).place(0, 1e-9), 0.0);
        assert_eq!(shades(Scale::Row).place(0, 0.25), 0.25 / 0.75);
        assert_eq!(shades(Scale::Row).place(1, 0.5), 1.0);
        // 0, 0.25, 0.5, 0.5, 0.75: the hidden cell has no rank.
        assert_eq!(shades(Scale::Rank).place(0, 0.25), 0.25);
        assert_eq!(shades(Scale::Rank).place(0, 0.75), 1.0);
        assert_eq!(shades(Scale::Rank).ticks()[2], (0.5, "0.50".to_owned()));
    }
}
