//! Which of a model's layers have something: a window, rotary embedding. Nothing here is as long as the number of layers
//! that a configuration claims, which is not believed before the tensors are seen.

use attnscope_kernel::Window;
use serde_json::Value;

use super::keys::Keys;

/// A choice of layers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Layers {
    /// Every one.
    All,
    /// This one and all after it.
    From(usize),
    /// All but the n-th, the 2n-th, and so on.
    AllButEvery(usize),
    /// One by one.
    Listed(Vec<bool>),
    /// All others than those.
    Others(Box<Layers>),
}

impl Layers {
    pub(crate) fn has(&self, layer: usize) -> bool {
        match self {
            Self::All => true,
            Self::From(first) => layer >= *first,
            Self::AllButEvery(n) => !(layer + 1).is_multiple_of(*n),
            Self::Listed(list) => list.get(layer).copied().unwrap_or(false),
            Self::Others(layers) => !layers.has(layer),
        }
    }

    /// What a list with an entry for each layer says, each read by `has`.
    pub(crate) fn listed(
        key: &str,
        list: &[Value],
        layers: usize,
        has: impl Fn(&Value) -> Result<bool, String>,
    ) -> Result<Self, String> {
        if list.len() < layers {
            return Err(format!("{key} has {} entries, but there are {layers} layers", list.len()));
        }
        Ok(Self::Listed(list.iter().map(has).collect::<Result<_, _>>()?))
    }
}

/// How far the queries of some layers see back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Windows {
    /// How many keys a query of those layers sees, itself included; none where nothing is limited.
    pub(crate) width: Option<usize>,
    pub(crate) layers: Layers,
}

impl Windows {
    pub(crate) const NONE: Self = Self { width: None, layers: Layers::All };

    pub(crate) fn new(width: Option<usize>, layers: Layers) -> Result<Self, String> {
        match width {
            Some(0) => Err("sliding_window is 0: no token would see any".to_owned()),
            width => Ok(Self { width, layers }),
        }
    }

    /// Windows of `width` keys in the layers that `layer_types` names, or `usual` where there is no such list.
    pub(crate) fn from_hf(keys: &Keys, layers: usize, width: Option<usize>, usual: Layers) -> Result<Self, String> {
        let sliding = |value: &Value| match value.as_str() {
            Some("full_attention") => Ok(false),
            Some("sliding_attention") if width.is_some() => Ok(true),
            Some("sliding_attention") => {
                Err("layer_types has \"sliding_attention\", but sliding_window is null".to_owned())
            }
            _ => Err(format!(
                "layer_types has {value}, which is not supported; \"full_attention\" and \"sliding_attention\" are"
            )),
        };
        let layers = match keys.list("layer_types")? {
            Some(list) => Layers::listed("layer_types", list, layers, sliding)?,
            None => usual,
        };
        Self::new(width, layers)
    }

    pub(crate) fn of(&self, layer: usize) -> Option<Window> {
        let width = self.width.filter(|_| self.layers.has(layer))?;
        Some(Window { left: width - 1, right: 0 })
    }
}
