//! In which form a quantised file's weights are computed with.

use std::fmt;
use std::path::Path;

use crate::error::{Error, Result};

/// What is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// f32 where the weights take at most 4 GiB so, else as the file has them.
    #[default]
    Auto,
    /// f32: quantised weights are turned into numbers when they are read. The form of every parity and speed figure.
    F32,
    /// As the file has them.
    Quantised,
}

/// What is computed with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// f32.
    F32,
    /// Quantised weights, and vectors that are rounded to 8 bits for each product.
    Quantised,
}

/// How the weights of a model from a quantised file are kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Kept {
    /// What is computed with.
    pub form: Form,
    /// How they are quantised in the file, most of them first, such as `Q4_K` and `Q6_K`.
    pub quantisations: Vec<&'static str>,
    /// How far products of each quantised matrix are from those of the same numbers in f32, relative to their length;
    /// none in f32.
    pub errors: Vec<f64>,
}

/// The most that weights take in f32 where nothing else is asked for, in bytes.
const MOST: usize = 4 << 30;

impl Choice {
    /// The form for a file of so many numbers, quantised so.
    pub(crate) fn of_quantised(self, numbers: usize, quantisations: &[&str], path: &Path) -> Result<Form> {
        match self {
            Self::F32 => Ok(Form::F32),
            Self::Auto if numbers <= MOST / 4 || quantisations.is_empty() => Ok(Form::F32),
            Self::Quantised if quantisations.is_empty() => Err(refused(path)),
            Self::Auto | Self::Quantised => Ok(Form::Quantised),
        }
    }

    /// That a folder, whose weights are not quantised, can be what is asked for.
    pub(crate) fn of_folder(self, path: &Path) -> Result<()> {
        if self == Self::Quantised { Err(refused(path)) } else { Ok(()) }
    }
}

fn refused(path: &Path) -> Error {
    Error::file(path, "its weights are not quantised; leave out --weights, or say --weights f32")
}

impl Kept {
    /// The largest of the errors that were measured.
    pub fn worst(&self) -> Option<f64> {
        self.errors.iter().copied().reduce(f64::max)
    }
}

impl fmt::Display for Kept {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let kinds = self.quantisations.join(", ");
        match (self.form, self.worst()) {
            (Form::F32, _) => write!(f, "weights: {kinds}, computed in f32"),
            (Form::Quantised, worst) => {
                let (worst, count) = (worst.unwrap_or(0.0), self.errors.len());
                write!(f, "weights: {kinds}, computed as they are; ")?;
                write!(f, "products are off f32 by {:.2}% at most, measured on {count} matrices", 100.0 * worst)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_gibibytes_of_f32_are_the_most_that_is_taken_unasked() {
        let form = |choice: Choice, numbers, kinds: &[&str]| choice.of_quantised(numbers, kinds, Path::new("m.gguf"));
        let kinds = ["Q4_K"];
        assert_eq!(form(Choice::Auto, 1 << 30, &kinds).unwrap(), Form::F32);
        assert_eq!(form(Choice::Auto, (1 << 30) + 1, &kinds).unwrap(), Form::Quantised);
        assert_eq!(form(Choice::F32, 1 << 40, &kinds).unwrap(), Form::F32);
        assert_eq!(form(Choice::Quantised, 1, &kinds).unwrap(), Form::Quantised);
        // Where nothing is quantised, there is no other form.
        assert_eq!(form(Choice::Auto, 1 << 40, &[]).unwrap(), Form::F32);
        assert!(form(Choice::Quantised, 1, &[]).unwrap_err().to_string().contains("not quantised"));
    }
}
