//! The readers that are tried, and what is done with what they have read.

use std::path::Path;

use attnscope_inspect::{At, Pick, SiteKind, Trace};
use attnscope_models::{Keep, Model, Prompt, Tokenizer};

/// A reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Target {
    /// GGUF files.
    Gguf,
    /// Hugging Face folders.
    Folder,
    /// tokenizer.json alone.
    Tokenizer,
    /// Trace files.
    Trace,
}

const TEXT: &str = "the other robot, 42\u{e9}";

impl Target {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Gguf, Self::Folder, Self::Tokenizer, Self::Trace];

    /// What it is called on the command line and in `corpus`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gguf => "gguf",
            Self::Folder => "folder",
            Self::Tokenizer => "tokenizer",
            Self::Trace => "trace",
        }
    }

    /// Whether a file of this name is part of an input.
    pub(crate) fn reads(self, name: &str) -> bool {
        match self {
            Self::Gguf => name == "model.gguf",
            Self::Tokenizer => name == "tokenizer.json",
            Self::Trace => name == "trace.safetensors",
            Self::Folder => {
                let others =
                    ["config.json", "generation_config.json", "tokenizer.json", "model.safetensors.index.json"];
                others.contains(&name) || (name.ends_with(".safetensors") && name != "expected.safetensors")
            }
        }
    }

    /// Opens what lies in a folder, and uses it; whether all of that went well. An error is as good an answer as any.
    pub fn open(self, folder: &Path) -> bool {
        match self {
            Self::Gguf => model(&folder.join("model.gguf")),
            Self::Folder => model(folder),
            Self::Tokenizer => tokenizer(&folder.join("tokenizer.json")),
            Self::Trace => trace(&folder.join("trace.safetensors")),
        }
    }
}

fn model(path: &Path) -> bool {
    Model::glance(path);
    Model::glance_name(path);
    let read = || {
        let model = Model::open(path)?;
        model.trace(&Prompt::Text(TEXT.to_owned()), Keep::All, &|_, _| true)?;
        model.trace(&Prompt::Ids(vec![1, 0, 2]), Keep::Only(0), &|_, _| true)
    };
    shown(read().map_err(|error| error.to_string()))
}

fn tokenizer(path: &Path) -> bool {
    let read = || {
        let tokenizer = Tokenizer::open(path)?;
        let ids = tokenizer.encode(TEXT)?;
        tokenizer.tokens(&ids);
        tokenizer.tokens(&[0, 1, 2, 7, u32::MAX]);
        tokenizer.decode(&ids)?;
        tokenizer.one("the");
        tokenizer.encode_pair(TEXT, "a")
    };
    shown(read().map_err(|error| error.to_string()))
}

fn trace(path: &Path) -> bool {
    let read = || {
        let trace = Trace::open(path)?;
        for site in trace.sites.iter().take(3) {
            let at = At { site: site.kind, layer: site.layer, head: site.q_heads() - 1 };
            let (query, key) = (site.q_len().saturating_sub(1), site.kv_len().saturating_sub(1));
            trace.cell(at, query, key)?;
            trace.row(at, query)?;
            trace.column(at.site, at.layer, Pick::Mean, key)?;
            trace.tile(at, 0..site.q_len().min(4), 0..site.kv_len().min(4))?;
            trace.heads(Some(at.layer))?;
        }
        trace.find_query(SiteKind::SelfAttention, "it")
    };
    shown(read().map_err(|error| error.to_string()))
}

/// A message is for people and terminals, whatever it quotes.
fn shown<T>(done: Result<T, String>) -> bool {
    if let Err(message) = &done {
        assert!(message.len() < 2000, "a message of {} bytes", message.len());
        assert!(!message.chars().any(|c| c.is_control() && c != '\n'), "a message that could command a terminal");
    }
    done.is_ok()
}
