//! Making traces.

use std::sync::Arc;
use std::time::Instant;

use attnscope_models::{Ask, DEFAULT_TEXT, Prompt};
use serde::Deserialize;

use crate::app::App;
use crate::entry::{Item, Kind};
use crate::error::Error;
use crate::queue::{RunName, Turn};
use crate::shelf::{Kept, Wish};
use crate::work::{Waiting, blocking};

/// What the page asks for.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Request {
    source: String,
    /// For models; others have a text of their own.
    #[serde(default)]
    text: Option<String>,
    /// For the example; others are what they are.
    #[serde(default)]
    causal: Option<bool>,
    /// What the page calls this run, to ask how far it is.
    #[serde(default)]
    run: Option<RunName>,
}

/// The trace that is asked for, made unless it is still here. Stops if whoever asked leaves.
///
/// # Errors
/// If there is no such source, it does not open, or it cannot read the text.
pub(crate) async fn make(app: Arc<App>, request: Request) -> Result<Arc<Kept>, Error> {
    let item = app.item(&request.source)?.clone();
    let Request { source, text, causal, run: name } = request;
    let wish = wish(&item, source, text, causal)?;
    if let Some(kept) = app.shelf.find(&wish) {
        return Ok(kept);
    }
    let asker = app.asker();
    let turn = match item.kind {
        Kind::Model => Some(app.models.turn(name).await?),
        _ => None,
    };
    let waiting = asker.waiting();
    blocking(move || {
        // Held until the work ends, not until the asker leaves: the next model waits for the memory, too.
        let turn = turn;
        // Another page may have asked for the same, and been before us.
        match app.shelf.find(&wish) {
            Some(kept) => Ok(kept),
            None => run(&item, wish, &waiting, turn.as_ref()).map(|kept| app.shelf.keep(kept)),
        }
    })
    .await
}

/// Leaves out what the source has no choice in.
fn wish(item: &Item, source: String, text: Option<String>, causal: Option<bool>) -> Result<Wish, Error> {
    let text = match item.kind {
        Kind::Model => Some(text.unwrap_or_else(|| DEFAULT_TEXT.to_owned())),
        _ => None,
    };
    if text.as_ref().is_some_and(|text| text.trim().is_empty()) {
        return Err(Error::bad_request("the text is empty; write a few words and run again"));
    }
    let causal = (item.kind == Kind::Example).then(|| causal.unwrap_or(false));
    Ok(Wish { source, text, causal })
}

fn run(item: &Item, wish: Wish, waiting: &Waiting, turn: Option<&Turn>) -> Result<Kept, Error> {
    let source = item.open()?;
    waiting.check()?;
    let begun = Instant::now();
    let prompt = wish.text.clone().map(Prompt::Text);
    let progress = |done, all| {
        if let Some(turn) = turn {
            turn.progress(done, all);
        }
        waiting.still()
    };
    let trace = source.trace(Ask { prompt, causal: wish.causal, progress: &progress, ..Ask::default() })?;
    let seconds = begun.elapsed().as_secs_f64();
    tracing::debug!(source = item.name, tokens = trace.tokens.len(), seconds, "a trace was made");
    Ok(Kept { id: wish.id(&item.name), wish, kind: item.kind, trace, seconds })
}
