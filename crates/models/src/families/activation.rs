use candle_core::Tensor;

use super::keys::Keys;
use crate::error::Result;
use crate::sigmoid::Of;

/// The function between two layers of a feed-forward net.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Activation {
    /// x sigmoid(x). (Elfwing et al. 2017)
    Silu,
    /// x Phi(x), with the error function. (Hendrycks and Gimpel 2016)
    Gelu,
    /// The same by its approximation with tanh.
    GeluTanh,
    /// max(x, 0).
    Relu,
}

/// As configurations name them.
const ACTIVATIONS: [(&str, Activation); 7] = [
    ("silu", Activation::Silu),
    ("swish", Activation::Silu),
    ("gelu", Activation::Gelu),
    ("gelu_new", Activation::GeluTanh),
    ("gelu_fast", Activation::GeluTanh),
    ("gelu_pytorch_tanh", Activation::GeluTanh),
    ("relu", Activation::Relu),
];

impl Activation {
    pub(crate) fn read<'a>(keys: &Keys<'a>, key: &str, usual: &'a str) -> Result<Self, String> {
        keys.one_of(key, usual, &ACTIVATIONS)
    }

    pub(crate) fn on(self, x: &Tensor) -> candle_core::Result<Tensor> {
        match self {
            Self::Silu => Of::X.each(x),
            Self::Gelu => x.gelu_erf(),
            Self::GeluTanh => Of::Cubic.each(x),
            Self::Relu => x.relu(),
        }
    }

    /// Of `x`, times `by`: what passes a gated net. (Shazeer 2020)
    pub(crate) fn gated(self, x: &Tensor, by: &Tensor) -> candle_core::Result<Tensor> {
        match self {
            Self::Silu => Of::X.gated(x, by),
            Self::GeluTanh => Of::Cubic.gated(x, by),
            Self::Gelu | Self::Relu => self.on(x)? * by,
        }
    }
}
