/// How a panel's values stand on its upright axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum YScale {
    /// From 0 to 1, or as far as they go.
    Ratio,
    /// In powers of ten.
    Log(Unit),
}

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Seconds,
    Bytes,
}

/// A labelled place on an axis, from 0 (its start) to 1 (its end).
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tick {
    pub(super) at: f64,
    pub(super) label: String,
}

/// An axis that holds certain values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Axis {
    scale: YScale,
    low: f64,
    high: f64,
}

impl Axis {
    pub(super) fn holding(scale: YScale, values: impl Iterator<Item = f64> + Clone) -> Self {
        let largest = values.clone().fold(f64::MIN_POSITIVE, f64::max);
        let (low, high) = match scale {
            YScale::Ratio => (0.0, (largest.max(1.0) * 5.0 - 1e-9).ceil() / 5.0),
            YScale::Log(_) => (values.fold(f64::MAX, f64::min).log10().floor(), largest.log10().ceil()),
        };
        Self { scale, low, high: if high > low { high } else { low + 1.0 } }
    }

    pub(super) fn at(self, value: f64) -> f64 {
        let value = if self.scale == YScale::Ratio { value } else { value.log10() };
        (value - self.low) / (self.high - self.low)
    }

    pub(super) fn ticks(self) -> Vec<Tick> {
        let (step, steps) = match self.scale {
            YScale::Ratio => (0.2, ((self.high - self.low) / 0.2).round()),
            YScale::Log(_) => (1.0, self.high - self.low),
        };
        let tick = |index| {
            let value = self.low + step * f64::from(index);
            let label = match self.scale {
                YScale::Ratio => format!("{value:.1}"),
                YScale::Log(unit) => power(unit, value.round() as i32),
            };
            Tick { at: (value - self.low) / (self.high - self.low), label }
        };
        (0..=steps as u32).map(tick).collect()
    }
}

/// A power of ten with its unit: 3 is `1 kB`.
fn power(unit: Unit, exponent: i32) -> String {
    let thousand = exponent.div_euclid(3);
    let units: &[(i32, &str)] = match unit {
        Unit::Seconds => &[(-3, "ns"), (-2, "µs"), (-1, "ms"), (0, "s")],
        Unit::Bytes => &[(0, "B"), (1, "kB"), (2, "MB"), (3, "GB"), (4, "TB")],
    };
    match units.iter().find(|(of, _)| *of == thousand) {
        Some((_, name)) => format!("{} {name}", 10i32.pow(exponent.rem_euclid(3) as u32)),
        None => format!("1e{exponent}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{Axis, Unit, YScale, power};

    #[test]
    fn powers_of_ten_are_read_out_in_their_unit() {
        assert_eq!(
            [-6, -4, -3, -1, 0, 2].map(|e| power(Unit::Seconds, e)),
            ["1 µs", "100 µs", "1 ms", "100 ms", "1 s", "100 s"]
        );
        assert_eq!([3, 4, 8, 20].map(|e| power(Unit::Bytes, e)), ["1 kB", "10 kB", "100 MB", "1e20"]);
    }

    #[test]
    fn an_axis_holds_its_values() {
        for (scale, values, labels) in [
            (YScale::Ratio, [0.5, 0.9], "0.0 0.2 0.4 0.6 0.8 1.0"),
            (YScale::Ratio, [0.5, 1.2], "0.0 0.2 0.4 0.6 0.8 1.0 1.2"),
            (YScale::Log(Unit::Seconds), [0.002, 0.3], "1 ms,10 ms,100 ms,1 s"),
            (YScale::Log(Unit::Bytes), [1000.0, 1000.0], "1 kB,10 kB"),
        ] {
            let axis = Axis::holding(scale, values.into_iter());
            assert!(values.iter().all(|value| (0.0..=1.0).contains(&axis.at(*value))), "{axis:?}");
            let found: Vec<String> = axis.ticks().into_iter().map(|tick| tick.label).collect();
            assert_eq!(found.join(if labels.contains(',') { "," } else { " " }), labels);
        }
    }
}
