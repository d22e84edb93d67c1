//! What the lesson asks of a real model. One at a time, as every run of a model; whoever leaves stops it.

use std::sync::Arc;

use attnscope_models::lesson::Step;
use attnscope_models::{Model, Source};
use axum::extract::State;
use axum::response::Response;
use serde::{Deserialize, Serialize};

use super::json;
use crate::app::App;
use crate::error::Error;
use crate::extract::Told;
use crate::queue::RunName;

/// The most tokens generated for one answer.
const TOKENS: usize = 32;

/// Asked by a model between its steps, with (done, in all): whether to go on.
type Going<'a> = &'a (dyn Fn(usize, usize) -> bool + Sync);

/// Runs something on a model.
async fn on_model<T, W>(app: Arc<App>, source: String, run: Option<RunName>, work: W) -> Result<Response, Error>
where
    T: Serialize,
    W: FnOnce(&Model, Going) -> Result<T, attnscope_models::Error> + Send + 'static,
{
    let item = app.item(&source)?.clone();
    let asker = app.asker();
    let turn = app.models.turn(run).await?;
    let waiting = asker.waiting();
    json(move || match item.open()? {
        Source::Model(model) => {
            waiting.check()?;
            Ok(work(model, &|done, all| {
                turn.progress(done, all);
                waiting.still()
            })?)
        }
        _ => Err(Error::bad_request(format!("{} is no model; choose one that reads any text", item.name))),
    })
    .await
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TwoTexts {
    source: String,
    texts: [String; 2],
    word: String,
    #[serde(default)]
    run: Option<RunName>,
}

/// `POST /api/lesson/words`
pub(crate) async fn words(State(app): State<Arc<App>>, Told(told): Told<TwoTexts>) -> Result<Response, Error> {
    let TwoTexts { source, texts, word, run } = told;
    on_model(app, source, run, move |model, going| model.words(&texts, &word, going)).await
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Replaced {
    source: String,
    text: String,
    position: usize,
    replace: String,
    #[serde(default)]
    run: Option<RunName>,
}

/// `POST /api/lesson/cut`
pub(crate) async fn cut(State(app): State<Arc<App>>, Told(told): Told<Replaced>) -> Result<Response, Error> {
    let Replaced { source, text, position, replace, run } = told;
    on_model(app, source, run, move |model, going| model.cut(&text, position, &replace, going)).await
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Continued {
    source: String,
    text: String,
    max_tokens: usize,
    #[serde(default)]
    run: Option<RunName>,
}

#[derive(Serialize)]
struct Steps {
    prompt_tokens: Vec<String>,
    steps: Vec<Step>,
}

/// `POST /api/lesson/cache`
pub(crate) async fn cache(State(app): State<Arc<App>>, Told(told): Told<Continued>) -> Result<Response, Error> {
    let Continued { source, text, max_tokens, run } = told;
    if !(1..=TOKENS).contains(&max_tokens) {
        return Err(Error::bad_request(format!("max_tokens must be 1 to {TOKENS}")));
    }
    on_model(app, source, run, move |model, going| {
        let (prompt_tokens, steps) = model.cached_steps(&text, max_tokens, going)?;
        Ok(Steps { prompt_tokens, steps })
    })
    .await
}
