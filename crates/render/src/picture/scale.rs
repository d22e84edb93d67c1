//! From a weight to a place on the colour ramp, as on the page (`ui/scales.js`). A scale changes what is seen, never what
//! is stored.

use attnscope_inspect::Rectangle;
use rayon::prelude::*;

use super::field::{Field, share};
use super::left_out::{between, touches};
use super::{Place, Source, Top};
use crate::Error;

/// How weights become colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Colour grows with the weight.
    Linear,
    /// Colour grows with the square root of the weight.
    Sqrt,
    /// Each step of colour is ten times the weight.
    Log,
    /// Each row from 0 to its own largest weight.
    Row,
    /// Each row in order, from its smallest visible weight to its largest.
    Rank,
}

/// The smallest part of the top that the logarithmic scale still tells from nothing.
const LOG_FLOOR: f32 = 1e-5;
/// Colours of a ramp, less one: a rank is told as finely as it can be seen.
const STEPS: usize = 255;
/// Rows of pixels at a time in which the largest weight of a head is looked for; each is one thread's.
const ROWS: usize = 64;

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

    /// Whether each row has a scale of its own.
    pub(super) fn rows(self) -> bool {
        matches!(self, Self::Row | Self::Rank)
    }
}

/// A scale made ready for one map.
pub(super) enum Shades {
    /// One scale for all rows, up to this weight.
    Fixed(Scale, f32),
    /// The largest weight of each row.
    Row(Vec<f32>),
    /// What each row's ranks are read from.
    Rank(Vec<Ranks>),
}

/// How a row's weights lie: the i-th cut is the largest weight whose rank is no more than i.
pub(super) struct Ranks(Vec<f32>);

impl Shades {
    /// For a part of a map, or all of it. A row's scale is that of the whole row, seen or not.
    pub(super) fn new(scale: Scale, top: Top, field: &Field, from: Source) -> Result<Self, Error> {
        if scale.rows() {
            let rows = (0..field.rows).into_par_iter().map(|row| whole_row(field, row, from));
            let rows: Vec<Vec<f32>> = rows.collect::<Result<_, Error>>()?;
            return Ok(Self::of_rows(scale, rows));
        }
        let to_one = top == Top::One && from.left_out.is_empty();
        Ok(Self::Fixed(scale, if to_one { 1.0 } else { largest(from)? }))
    }

    /// For a whole map whose every cell counts, up to 1.
    pub(super) fn whole(scale: Scale, field: &Field) -> Self {
        match scale.rows() {
            true => Self::of_rows(scale, field.cells.chunks(field.columns).map(visible).collect()),
            false => Self::Fixed(scale, 1.0),
        }
    }

    /// Of the visible weights that count, row after row.
    fn of_rows(scale: Scale, rows: Vec<Vec<f32>>) -> Self {
        match scale {
            Scale::Rank => Self::Rank(rows.into_iter().map(Ranks::of).collect()),
            _ => Self::Row(rows.iter().map(|row| row.iter().copied().fold(0.0, f32::max)).collect()),
        }
    }

    /// Where a weight of a row stands, from 0 to 1.
    pub(super) fn place(&self, row: usize, weight: f32) -> f32 {
        match self {
            Self::Fixed(scale, top) => fixed(*scale, weight, *top),
            Self::Row(largest) => fixed(Scale::Linear, weight, largest[row]),
            Self::Rank(rows) => rows[row].place(weight),
        }
    }

    /// What a legend says.
    pub(super) fn says(&self) -> String {
        let (words, top) = match self {
            Self::Fixed(Scale::Sqrt, top) => {
                ("Square-root scale: colour grows with the square root of the weight".to_owned(), *top)
            }
            Self::Fixed(Scale::Log, top) => {
                let floor = short(LOG_FLOOR * top);
                (format!("Log scale: each tick is ten times the weight; all below {floor} looks alike"), *top)
            }
            Self::Fixed(_, top) => ("Linear scale: colour grows with the weight".to_owned(), *top),
            Self::Row(_) => {
                let words = "Per-row scale: each row from 0 to its own largest weight; colours of different rows \
                             cannot be compared.";
                return words.to_owned();
            }
            Self::Rank(_) => {
                let words = "Rank scale: each row in order, from its smallest visible weight to its largest; sizes \
                             are not shown.";
                return words.to_owned();
            }
        };
        if top == 1.0 { format!("{words}.") } else { format!("{words}, up to {}.", short(top)) }
    }

    /// The legend's ticks: (place, words).
    pub(super) fn ticks(&self) -> Vec<(f32, String)> {
        let parts: &[f32] = match self {
            Self::Fixed(Scale::Sqrt, _) => &[0.0, 0.01, 0.1, 0.25, 0.5, 1.0],
            Self::Fixed(Scale::Log, _) => &[1e-5, 1e-4, 1e-3, 0.01, 0.1, 1.0],
            Self::Fixed(..) => &[0.0, 0.25, 0.5, 0.75, 1.0],
            Self::Row(_) => return [(0.0, "0"), (0.5, "half of it"), (1.0, "largest of the row")].map(own).into(),
            Self::Rank(_) => return [(0.0, "smallest"), (0.5, "middle"), (1.0, "largest of the row")].map(own).into(),
        };
        let Self::Fixed(scale, top) = self else { return Vec::new() };
        let tick = |part: &f32| {
            let words = if *top == 1.0 { part.to_string() } else { short(part * top) };
            (fixed(*scale, *part, 1.0), words)
        };
        parts.iter().map(tick).collect()
    }
}

fn own((place, words): (f32, &str)) -> (f32, String) {
    (place, words.to_owned())
}

impl Ranks {
    /// The rank of a weight is how many others of its row are smaller, in steps of the ramp.
    fn of(mut weights: Vec<f32>) -> Self {
        weights.sort_by(f32::total_cmp);
        let others = weights.len().saturating_sub(1);
        let cut = |step: usize| match ((step + 1) * others).div_ceil(STEPS) {
            // A weight that is alone in its row is the largest of it.
            0 => -1.0,
            below => weights[below - 1],
        };
        Self((0..STEPS).map(cut).collect())
    }

    fn place(&self, weight: f32) -> f32 {
        self.0.partition_point(|cut| *cut < weight) as f32 / STEPS as f32
    }
}

/// The visible weights of a row that count, of all its keys: of a part of a map, the rest is recalled.
fn whole_row(field: &Field, row: usize, from: Source) -> Result<Vec<f32>, Error> {
    let Place { site, layer, head } = from.place;
    let len = from.trace.site(site, layer)?.kv_len();
    let recalled;
    let cells = if field.keys == (0..len) {
        &field.cells[row * field.columns..][..field.columns]
    } else {
        let columns = len.div_ceil(field.keys.len().div_ceil(field.columns));
        let queries = share(&field.queries, row, field.rows);
        let rectangle = Rectangle { queries, keys: 0..len, rows: 1, columns };
        recalled = field.blocks.of(from.trace.picked_pooled(site, layer, head, &rectangle, from.wanted)?);
        &recalled
    };
    let counts = |column: &usize| !touches(from.left_out, &share(&(0..len), *column, cells.len()));
    let counted = (0..cells.len()).filter(counts).map(|column| cells[column]);
    Ok(counted.filter(|weight| *weight >= 0.0).collect())
}

/// The largest weight of the whole head outside the columns that are left out.
fn largest(Source { trace, place: Place { site, layer, head }, wanted, left_out }: Source) -> Result<f32, Error> {
    let found = trace.site(site, layer)?;
    let (queries, mut top) = (0..found.q_len(), 0.0_f32);
    for keys in between(left_out, found.kv_len()) {
        let rectangle = Rectangle { queries: queries.clone(), keys, rows: ROWS, columns: 1 };
        let most = trace.picked_pooled(site, layer, head, &rectangle, wanted)?.max;
        top = most.into_iter().fold(top, f32::max);
    }
    Ok(top)
}

fn visible(cells: &[f32]) -> Vec<f32> {
    cells.iter().copied().filter(|weight| *weight >= 0.0).collect()
}

fn fixed(scale: Scale, weight: f32, top: f32) -> f32 {
    if weight <= 0.0 || top <= 0.0 {
        return 0.0;
    }
    let part = weight / top;
    match scale {
        Scale::Sqrt => part.sqrt().min(1.0),
        Scale::Log => (1.0 - part.log10() / LOG_FLOOR.log10()).clamp(0.0, 1.0),
        _ => part.min(1.0),
    }
}

/// Digits that matter.
fn short(weight: f32) -> String {
    match weight {
        0.0 => "0".to_owned(),
        weight if (weight.log10().round() - weight.log10()).abs() < 1e-6 && weight >= 1e-5 => weight.to_string(),
        weight if weight < 1e-3 => format!("{weight:.1e}"),
        weight => format!("{weight:.4}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{Scale, Shades};
    use crate::picture::Blocks;
    use crate::picture::field::Field;

    fn shades(scale: Scale) -> Shades {
        let cells = vec![0.25, 0.75, -1.0, 0.0, 0.5, 0.5];
        Shades::whole(scale, &Field { queries: 0..2, keys: 0..3, rows: 2, columns: 3, cells, blocks: Blocks::Largest })
    }

    #[test]
    fn each_scale_puts_a_weight_where_its_legend_says() {
        assert_eq!(shades(Scale::Linear).place(0, 0.25), 0.25);
        assert_eq!(shades(Scale::Sqrt).place(0, 0.25), 0.5);
        assert!((shades(Scale::Log).place(0, 0.1) - 0.8).abs() < 1e-6);
        assert_eq!(shades(Scale::Log).place(0, 1e-9), 0.0);
        assert_eq!(shades(Scale::Row).place(0, 0.25), 0.25 / 0.75);
        assert_eq!(shades(Scale::Row).place(1, 0.5), 1.0);
        // Within its row, and the hidden cell has no rank: 0.25 is the smaller of two.
        assert_eq!(shades(Scale::Rank).place(0, 0.25), 0.0);
        assert_eq!(shades(Scale::Rank).place(0, 0.75), 1.0);
        // One of the two others is smaller: half of the ramp, in whole steps.
        assert_eq!(shades(Scale::Rank).place(1, 0.5), 127.0 / 255.0);
        assert_eq!(shades(Scale::Rank).ticks()[2].1, "largest of the row");
    }

    #[test]
    fn a_scale_ends_at_its_top() {
        let shades = Shades::Fixed(Scale::Linear, 0.5);
        assert_eq!((shades.place(0, 0.25), shades.place(0, 0.9)), (0.5, 1.0));
        assert_eq!(shades.ticks()[4], (1.0, "0.5000".to_owned()));
        assert_eq!(shades.says(), "Linear scale: colour grows with the weight, up to 0.5000.");
        assert_eq!(Shades::Fixed(Scale::Sqrt, 0.0).place(0, 0.5), 0.0, "nothing is visible");
    }
}
