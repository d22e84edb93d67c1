//! Rotary embedding: each pair of dimensions of a query or key turns by an angle that grows with its position. (Su et al.
//! 2021) Scalings stretch the angles so that a model reads longer texts than it was first trained on.

use std::f32::consts::PI;

use candle_core::{Device, Tensor};
use candle_nn::rotary_emb;
use serde_json::Value;

use super::keys::Keys;

/// How a model turns its queries and keys.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Rotary {
    /// Length of a query and a key.
    pub(crate) head_dim: usize,
    /// How many of its dimensions turn, the first ones; even.
    pub(crate) dim: usize,
    /// Base of the frequencies.
    pub(crate) theta: f64,
    pub(crate) scaling: Scaling,
}

/// How the frequencies differ from theta^(-2t / dim).
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Scaling {
    /// Not at all.
    None,
    /// All are divided by a factor. (Chen et al. 2023)
    Linear { factor: f32 },
    /// From `context` tokens on the base grows with the length of the text. (bloc97 and emozilla 2023)
    Dynamic { factor: f32, context: usize },
    /// Slow ones are divided, quick ones are not, with a ramp between. (YaRN, Peng et al. 2023)
    Yarn { factor: f32, ramp: (f32, f32), gain: f32, context: usize },
    /// The same with another ramp. (Llama 3.1)
    Llama3 { factor: f32, low: f32, high: f32, context: f32 },
    /// Each is divided by a number of its own: one of the first list in a text of at most `context` tokens, else one of the
    /// second. (LongRoPE, Ding et al. 2024)
    Long { short: Vec<f32>, long: Vec<f32>, context: usize, gain: f32 },
}

/// What holds in a family where a configuration says nothing.
pub(crate) struct Usual {
    /// Under which key the base stands outside of the rotary settings, and what it is.
    pub(crate) theta: (&'static str, f64),
    /// The same of the share of a head's dimensions that turn; none where only all can.
    pub(crate) partial: Option<(&'static str, f64)>,
    /// Length of a query and a key.
    pub(crate) head_dim: usize,
    /// The longest text that the model was first trained on, where that is not `max_position_embeddings`.
    pub(crate) original: Option<usize>,
}

impl Usual {
    /// All dimensions turn, on a base of 10,000.
    pub(crate) fn for_head_dim(head_dim: usize) -> Self {
        Self { theta: ("rope_theta", 10_000.0), partial: None, head_dim, original: None }
    }
}

/// A position that no text reaches.
const FAR: usize = 1 << 24;
/// More pairs of dimensions than a head has, unless its configuration is refused later.
const PAIRS: usize = 1 << 12;

impl Rotary {
    /// Turning of all dimensions without scaling.
    pub(crate) fn plain(head_dim: usize, theta: f64) -> Self {
        Self { head_dim, dim: head_dim, theta, scaling: Scaling::None }
    }

    /// What config.json says: newer ones in `rope_parameters`, older ones in `rope_scaling` and beside it.
    pub(crate) fn from_hf(config: &Keys, usual: &Usual) -> Result<Self, String> {
        match config.get("rope_scaling") {
            Some(scaling) => Self::within(config, ("rope_scaling", scaling), usual),
            None => {
                Self::within(config, ("rope_parameters", config.get("rope_parameters").unwrap_or(&Value::Null)), usual)
            }
        }
    }

    /// The same of rotary settings that were found.
    pub(crate) fn within(config: &Keys, (place, rope): (&str, &Value), usual: &Usual) -> Result<Self, String> {
        if !rope.is_null() && !rope.is_object() {
            return Err(format!("{place} must be an object, not {rope}"));
        }
        let rope = &Keys(rope);
        let head_dim = usual.head_dim;
        let (theta_key, theta) = usual.theta;
        let theta = rope.number_or("rope_theta", config.number_or(theta_key, theta)?)?;
        let (partial_key, all) = usual.partial.unwrap_or(("partial_rotary_factor", 1.0));
        let share = rope.number_or("partial_rotary_factor", config.number_or(partial_key, all)?)?;
        if usual.partial.is_none() && share != 1.0 {
            return Err(format!("{partial_key} {share} is not supported in this family; 1 is"));
        }
        if !(share > 0.0 && share <= 1.0) {
            return Err(format!("{partial_key} is {share}, which is no share of a head's dimensions"));
        }
        let mut rotary = Self { head_dim, dim: (head_dim as f64 * share) as usize, theta, scaling: Scaling::None };
        rotary.check()?;
        rotary.scaling =
            Scaling::from_hf(config, rope, usual, &rotary).map_err(|problem| format!("{place}: {problem}"))?;
        rotary.check_turns().map_err(|problem| format!("{place}: {problem}"))?;
        Ok(rotary)
    }

    /// That no setting, right in itself, makes numbers that f32 cannot hold.
    fn check_turns(&self) -> Result<(), String> {
        for len in [1, FAR] {
            let (frequencies, gain) = self.frequencies(len, (0..self.dim / 2).take(PAIRS));
            if let Some(wrong) = frequencies.iter().find(|frequency| !(len as f32 * **frequency).is_finite()) {
                return Err(format!(
                    "queries would turn by {wrong} with each position; check rope_theta and the factors"
                ));
            }
            if !(gain * gain).is_normal() {
                return Err(format!("what turns would grow {gain} times; check attention_factor and mscale"));
            }
        }
        Ok(())
    }

    pub(crate) fn check(&self) -> Result<(), String> {
        let Self { head_dim, dim, theta, .. } = *self;
        if !(theta.is_finite() && theta > 0.0) {
            return Err(format!("its configuration says {theta} for the base of the rotary frequencies"));
        }
        if dim == 0 || !dim.is_multiple_of(2) {
            let share = if dim == head_dim { String::new() } else { format!(", of which {dim} turn") };
            return Err(format!(
                "its configuration says head_dim {head_dim}{share}, but rotary embedding needs an even number"
            ));
        }
        Ok(())
    }

    /// The longest text that a model reads whose configuration says `context`: some scalings leave there what it was.
    pub(crate) fn reach(&self, context: usize) -> usize {
        let stretched = |context: usize, factor: f32| (context as f64 * f64::from(factor)) as usize;
        match self.scaling {
            Scaling::Dynamic { factor, context: original } => context.max(stretched(original, factor)),
            Scaling::Yarn { factor, context: original, .. } => context.max(stretched(original, factor)),
            _ => context,
        }
    }

    /// How far some pairs of dimensions turn with each position, in a text of `len` tokens, in the f32 arithmetic that
    /// models were trained with; and what both cosines and sines are multiplied by.
    fn frequencies(&self, len: usize, pairs: impl Iterator<Item = usize>) -> (Vec<f32>, f32) {
        let dim = self.dim as f32;
        let theta = match self.scaling {
            Scaling::Dynamic { factor, context } if len > context => {
                let stretch = factor * len as f32 / context as f32 - (factor - 1.0);
                self.theta as f32 * stretch.powf(dim / (dim - 2.0))
            }
            _ => self.theta as f32,
        };
        let wave = |t: usize| theta.powf((2 * t) as f32 / dim);
        let frequencies = pairs.map(|t| match &self.scaling {
            Scaling::None | Scaling::Dynamic { .. } => 1.0 / wave(t),
            Scaling::Linear { factor } => 1.0 / wave(t) / factor,
            Scaling::Yarn { factor, ramp: (low, high), .. } => {
                let quick = 1.0 - ((t as f32 - low) / (high - low)).clamp(0.0, 1.0);
                1.0 / (factor * wave(t)) * (1.0 - quick) + 1.0 / wave(t) * quick
            }
            Scaling::Llama3 { factor, low, high, context } => {
                let frequency = 1.0 / wave(t);
                let length = 2.0 * PI / frequency;
                let smooth = (context / length - low) / (high - low);
                match length {
                    _ if length > context / low => frequency / factor,
                    _ if length < context / high => frequency,
                    _ => (1.0 - smooth) * frequency / factor + smooth * frequency,
                }
            }
            Scaling::Long { short, long, context, .. } => {
                let own = if len > *context { long } else { short };
                1.0 / (own[t] * wave(t))
            }
        });
        let gain = match self.scaling {
            Scaling::Yarn { gain, .. } | Scaling::Long { gain, .. } => gain,
            _ => 1.0,
        };
        (frequencies.collect(), gain)
    }

    /// The turns of tokens at these positions, the last of which is that of the text so far.
    pub(crate) fn turns(&self, positions: &[u32]) -> candle_core::Result<Turns> {
        let len = positions.iter().max().map_or(0, |last| *last as usize + 1);
        let (frequencies, gain) = self.frequencies(len, 0..self.dim / 2);
        let angles = positions.iter().flat_map(|position| frequencies.iter().map(move |f| *position as f32 * f));
        let angles = Tensor::from_iter(angles, &Device::Cpu)?.reshape((positions.len(), self.dim / 2))?;
        let [cos, sin] = [angles.cos()?, angles.sin()?];
        match gain == 1.0 {
            true => Ok(Turns { cos, sin }),
            false => Ok(Turns { cos: (cos * f64::from(gain))?, sin: (sin * f64::from(gain))? }),
        }
    }
}

impl Scaling {
    const NAMES: &[&str] = &["default", "linear", "dynamic", "yarn", "llama3", "longrope"];

    fn from_hf(config: &Keys, rope: &Keys, usual: &Usual, rotary: &Rotary) -> Result<Self, String> {
        let key = if rope.get("rope_type").is_some() { "rope_type" } else { "type" };
        let kind = rope.word_or(key, "default")?;
        let context = config.size("max_position_embeddings")?;
        let original = || -> Result<usize, String> {
            let key = "original_max_position_embeddings";
            let size = config.size_or(key, rope.size_or(key, usual.original.unwrap_or(context))?)?;
            if size == 0 { Err(format!("{key} is 0")) } else { Ok(size) }
        };
        let factor = || positive("factor", rope.number("factor")?);
        match kind {
            "default" => Ok(Self::None),
            "linear" => Ok(Self::Linear { factor: factor()? as f32 }),
            "dynamic" if rotary.dim == 2 => Err("dynamic scaling needs more than 2 dimensions that turn".to_owned()),
            "dynamic" => Ok(Self::Dynamic { factor: factor()? as f32, context }),
            "yarn" => Self::yarn(rope, rotary, factor()?, original()?),
            "llama3" => {
                let number = |key: &str| positive(key, rope.number(key)?);
                let (low, high) = (number("low_freq_factor")?, number("high_freq_factor")?);
                if high <= low {
                    return Err(format!("high_freq_factor {high} must be above low_freq_factor {low}"));
                }
                let [factor, low, high] = [factor()?, low, high].map(|x| x as f32);
                Ok(Self::Llama3 { factor, low, high, context: original()? as f32 })
            }
            // Two older names of the same.
            "longrope" | "su" => Self::long(rope, rotary, context, original()?),
            other => Err(format!("{key} {other:?} is not supported; supported are {}", Self::NAMES.join(", "))),
        }
    }

    fn yarn(rope: &Keys, rotary: &Rotary, factor: f64, context: usize) -> Result<Self, String> {
        let (dim, theta) = (rotary.dim as f64, rotary.theta);
        // The pair of dimensions that turns this often within the original context.
        let turning =
            |times: f64| dim * (context as f64 / (times * 2.0 * std::f64::consts::PI)).ln() / (2.0 * theta.ln());
        let often =
            |key: &str, usual: f64| Ok::<_, String>(rope.optional_number(key)?.filter(|x| *x != 0.0).unwrap_or(usual));
        let (mut low, mut high) = (turning(often("beta_fast", 32.0)?), turning(often("beta_slow", 1.0)?));
        if rope.flag_or("truncate", true)? {
            (low, high) = (low.floor(), high.ceil());
        }
        (low, high) = (low.max(0.0), high.min(dim - 1.0));
        if low == high {
            // No ramp of no length.
            high += 0.001;
        }
        let grown = |strength: f64| if factor <= 1.0 { 1.0 } else { 0.1 * strength * factor.ln() + 1.0 };
        let given = |key: &str| Ok::<_, String>(rope.optional_number(key)?.filter(|x| *x != 0.0));
        let gain = match (rope.optional_number("attention_factor")?, given("mscale")?, given("mscale_all_dim")?) {
            (Some(gain), ..) => gain,
            (None, Some(some), Some(all)) => grown(some) / grown(all),
            _ => grown(1.0),
        };
        positive("attention_factor", gain)?;
        Ok(Self::Yarn { factor: factor as f32, ramp: (low as f32, high as f32), gain: gain as f32, context })
    }

    fn long(rope: &Keys, rotary: &Rotary, context: usize, original: usize) -> Result<Self, String> {
        let factors = |key: &str| {
            let list = rope.numbers(key)?;
            match list.len() == rotary.dim / 2 && list.iter().all(|x| x.is_finite() && *x > 0.0) {
                true => Ok(list.into_iter().map(|x| x as f32).collect()),
                false => Err(format!(
                    "{key} has {} numbers, but must have {} above 0: one for each two of {} dimensions",
                    list.len(),
                    rotary.dim / 2,
                    rotary.dim
                )),
            }
        };
        let factor = rope.number_or("factor", context as f64 / original as f64)?;
        let gain = match rope.optional_number("attention_factor")? {
            Some(gain) => gain,
            None if factor <= 1.0 => 1.0,
            None => (1.0 + factor.ln() / (original as f64).ln()).sqrt(),
        };
        positive("attention_factor", gain)?;
        let (short, long) = (factors("short_factor")?, factors("long_factor")?);
        Ok(Self::Long { short, long, context: original, gain: gain as f32 })
    }
}

fn positive(key: &str, number: f64) -> Result<f64, String> {
    match number.is_finite() && number > 0.0 {
        true => Ok(number),
        false => Err(format!("{key} is {number}, which must be above 0")),
    }
}

/// Cosines and sines of the angles of a few positions, (len, dim / 2) each.
pub(crate) struct Turns {
    cos: Tensor,
    sin: Tensor,
}

impl Turns {
    /// Turns (1, len, heads, head_dim): of the dimensions that turn, each with the one that is half of them further on.
    pub(crate) fn apply(&self, x: &Tensor) -> candle_core::Result<Tensor> {
        let (all, dim) = (x.dim(3)?, 2 * self.cos.dim(1)?);
        if dim == all {
            return rotary_emb::rope_thd(x, &self.cos, &self.sin);
        }
        let turned = rotary_emb::rope_thd(&x.narrow(3, 0, dim)?.contiguous()?, &self.cos, &self.sin)?;
        Tensor::cat(&[&turned, &x.narrow(3, dim, all - dim)?], 3)
    }
}
