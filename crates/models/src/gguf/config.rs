//! A header told as the config.json of a Hugging Face folder: what decoders of all architectures call the same. Families
//! add what is theirs, and read the whole as they read a folder's.

use serde_json::{Map, Value as Json, json};

use super::keys::Keys;
use super::rotary::{self, Turning};
use super::tensors::Tensors;
use super::value::Value;
use crate::error::Result;

/// A header and its tensors, before a family has read them.
pub(crate) struct Header<'a> {
    pub(crate) keys: Keys<'a>,
    pub(super) tensors: &'a Tensors,
}

/// Options that shape the numbers and that no architecture here computes, with the value at which each is off.
const OFF: [(&str, f64); 10] = [
    (".expert_count", 0.0),
    (".attention.clamp_kqv", 0.0),
    (".attention.max_alibi_bias", 0.0),
    (".attention.temperature_length", 0.0),
    (".attention.temperature_scale", 0.0),
    (".attention.shared_kv_layers", 0.0),
    (".logit_scale", 1.0),
    (".residual_scale", 1.0),
    (".embedding_scale", 1.0),
    (".rope.scaling.yarn_log_multiplier", 0.0),
];

impl Header<'_> {
    /// What decoders with RMSNorm and rotary embedding say.
    pub(crate) fn decoder(&self, turning: Turning) -> Result<Map<String, Json>> {
        let keys = &self.keys;
        for (key, off) in OFF {
            keys.refuse(key, off)?;
        }
        if keys.optional_flag(".attention.causal")? == Some(false) {
            return Err(keys.fail(format!("{} that sees both ways is not supported yet", keys.architecture)));
        }
        let mut config = Map::new();
        let mut set = |key: &str, value: Json| config.insert(key.to_owned(), value);
        set("vocab_size", json!(self.vocabulary()?));
        set("hidden_size", json!(keys.size(".embedding_length")?));
        set("num_hidden_layers", json!(keys.size(".block_count")?));
        let heads = keys.size(".attention.head_count")?;
        set("num_attention_heads", json!(heads));
        set("num_key_value_heads", json!(keys.optional_size(".attention.head_count_kv")?.unwrap_or(heads)));
        set("head_dim", json!(self.head_dim()?));
        set("intermediate_size", json!(keys.size(".feed_forward_length")?));
        set("max_position_embeddings", json!(keys.size(".context_length")?));
        set("rms_norm_eps", json!(keys.number(".attention.layer_norm_rms_epsilon")?));
        set("rope_parameters", rotary::settings(self, turning)?);
        // Where there is no head of its own, it is the embedding.
        set("tie_word_embeddings", json!(true));
        Ok(config)
    }

    /// Whether there is a tensor of this name in the file.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.keys.has_tensor(name)
    }

    pub(crate) fn vocabulary(&self) -> Result<usize> {
        Ok(self.keys.list("tokenizer.ggml.tokens")?.len())
    }

    /// The length of queries, keys and values: where the header does not say it, heads share a token's vector evenly.
    pub(crate) fn head_dim(&self) -> Result<usize> {
        let key = self.keys.optional_size(".attention.key_length")?;
        let value = self.keys.optional_size(".attention.value_length")?;
        match (key, value) {
            (Some(key), Some(value)) if key != value => {
                Err(self.keys.fail(format!("keys of {key} and values of {value} dimensions are not supported yet")))
            }
            (Some(dim), _) | (None, Some(dim)) => Ok(dim),
            (None, None) => self.share(),
        }
    }

    /// How much of a token's vector there is for each head.
    pub(crate) fn share(&self) -> Result<usize> {
        let (hidden, heads) = (self.keys.size(".embedding_length")?, self.keys.size(".attention.head_count")?);
        Ok(hidden.checked_div(heads).unwrap_or(0))
    }

    /// How many keys a query sees, itself included, in layers that do not see the whole text; none where all do.
    pub(crate) fn window(&self) -> Result<Option<usize>> {
        // Converters say with 0 that there is none.
        Ok(self.keys.optional_size(".attention.sliding_window")?.filter(|width| *width > 0))
    }

    /// That scores are scaled as by most, and neither they nor logits are bounded.
    pub(crate) fn plain_scores(&self) -> Result<()> {
        for key in [".attn_logit_softcapping", ".final_logit_softcapping", ".attention.scale"] {
            self.keys.refuse(key, 0.0)?;
        }
        Ok(())
    }

    /// That no layer has a window.
    pub(crate) fn no_window(&self) -> Result<()> {
        match self.window()? {
            Some(width) => {
                let architecture = self.keys.architecture;
                Err(self.keys.fail(format!("{architecture}.attention.sliding_window {width} is not supported yet")))
            }
            None => Ok(()),
        }
    }

    /// That every layer has a window, or none.
    pub(crate) fn no_pattern(&self) -> Result<()> {
        match self.layer_types()? {
            Some(_) => {
                let architecture = self.keys.architecture;
                Err(self.keys.fail(format!("{architecture}.attention.sliding_window_pattern is not supported yet")))
            }
            None => Ok(()),
        }
    }

    /// `layer_types`, where the header says which layers have a window: one by one, or all but every n-th.
    pub(crate) fn layer_types(&self) -> Result<Option<Json>> {
        const KEY: &str = ".attention.sliding_window_pattern";
        let keys = &self.keys;
        let name = |windowed: bool| if windowed { "sliding_attention" } else { "full_attention" };
        match keys.get(KEY) {
            None => Ok(None),
            Some(Value::List(_)) => {
                let flag = |value: Value| match value {
                    Value::Flag(flag) => Some(flag),
                    other => other.whole().map(|n| n != 0),
                };
                Ok(keys.listed(KEY, "a list of true and false", flag)?.map(|list| list.into_iter().map(name).collect()))
            }
            Some(_) => {
                let (every, layers) = (keys.size(KEY)?, keys.countable_layers()?);
                // 0 is none of them, 1 every one.
                let full = |layer: usize| every > 0 && (layer + 1).is_multiple_of(every);
                Ok(Some((0..layers).map(|layer| name(!full(layer))).collect()))
            }
        }
    }
}
