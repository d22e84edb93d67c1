//! How a text is read: as it stands, or as a turn of a conversation.

use anyhow::bail;
use attnscope_models::{Chat, DEFAULT_TEXT, Prompt};
use clap::Args;

/// What cannot be read as a turn.
const NO_TURN: [&str; 4] = ["ids", "second", "target", "target_ids"];

#[derive(Debug, Args)]
pub(crate) struct TextArgs {
    /// Read the text as a user's turn, put together by the model's own chat template
    #[arg(long, conflicts_with_all = NO_TURN)]
    pub(crate) chat: bool,
    /// What the system says before that
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, requires = "chat", conflicts_with_all = NO_TURN)]
    pub(crate) system: Option<String>,
    /// Read the text without the marks that the model expects around it
    #[arg(long, conflicts_with_all = ["ids", "chat"])]
    pub(crate) no_special_tokens: bool,
}

impl TextArgs {
    /// What to read, of what would be read as it stands. `go_on` asks for the mark after which the model speaks.
    pub(crate) fn apply(&self, prompt: Option<Prompt>, go_on: bool) -> anyhow::Result<Option<Prompt>> {
        if self.no_special_tokens {
            let prompt = match prompt {
                None if go_on => return Ok(None),
                prompt => prompt.unwrap_or_else(|| Prompt::Text(DEFAULT_TEXT.to_owned())),
            };
            return Ok(Some(unmarked(prompt)));
        }
        if !self.chat {
            return Ok(prompt);
        }
        let text = match prompt {
            None if go_on => return Ok(None),
            None => DEFAULT_TEXT.to_owned(),
            Some(Prompt::Text(text)) => text,
            Some(_) => bail!("--chat reads one text as the user's turn; give it with --text or --file"),
        };
        Ok(Some(Prompt::Chat(Chat::of(self.system.as_deref(), &text, go_on))))
    }
}

fn unmarked(prompt: Prompt) -> Prompt {
    match prompt {
        Prompt::Text(_) | Prompt::Pair(..) => Prompt::Unmarked(Box::new(prompt)),
        Prompt::Halves { encoder, decoder } => {
            Prompt::Halves { encoder: Box::new(unmarked(*encoder)), decoder: Box::new(unmarked(*decoder)) }
        }
        other => other,
    }
}
