use attnscope_models::Choice;
use clap::{Args, ValueEnum};

/// In which form a quantised model's weights are computed with.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct Weights {
    /// How a quantised model's weights are computed with [default: auto]
    #[arg(long, value_enum, value_name = "FORM")]
    weights: Option<Form>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Form {
    /// In f32 where they take at most 4 GiB so, else as the file has them
    Auto,
    /// In f32, exactly as the file says them
    F32,
    /// As the file has them: less memory, and products off by up to about a hundredth, which is measured and said
    Quantised,
}

impl Weights {
    pub(crate) fn choice(self) -> Choice {
        match self.weights {
            None | Some(Form::Auto) => Choice::Auto,
            Some(Form::F32) => Choice::F32,
            Some(Form::Quantised) => Choice::Quantised,
        }
    }

    pub(crate) fn given(self) -> bool {
        self.weights.is_some()
    }
}
