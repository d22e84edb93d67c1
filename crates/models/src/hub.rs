//! Models of the Hugging Face Hub by their id: from the cache on this machine, or else fetched into it.
//!
//! The cache is the one that Python's huggingface_hub keeps (`cache`), locks included, so that a model which either has
//! fetched is there for both. A model that is whole in the cache is opened without any request. Files arrive under
//! another name, go on from where they stopped, and get their own name once they are whole and proven (`blob`).
//!
//! The crate hf-hub (0.5) does less than that: it does not look at what it fetched, waits for ever for a server that
//! stalls, takes a whole answer for the part that it asked for, and does not know `HF_HUB_OFFLINE`.

mod authorities;
mod blob;
mod cache;
mod client;
mod digest;
mod failure;
mod id;
mod link;
mod settings;
mod space;
mod wanted;

use std::path::PathBuf;

use crate::error::{Error, Result};
use crate::folder;
use blob::Blob;
use cache::Repo;
use client::{Client, Listing};
use failure::Failure;
use wanted::{INDEX, OPTIONAL, State};

pub use id::HubId;
pub use settings::Settings;

pub(crate) use cache::name_of_snapshot;

/// What happens while a model is fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// Files are about to be fetched.
    Begins {
        /// How many.
        files: usize,
        /// Their bytes; of a file that was begun before, some are here already.
        bytes: u64,
    },
    /// Some more has come.
    Moves {
        /// Of which file.
        file: &'a str,
        /// Bytes of all files that are here.
        done: u64,
        /// Bytes of all files.
        all: u64,
    },
    /// Something that a person should know, such as why nothing moves.
    Says(&'a str),
    /// Nothing moves; asked several times a second.
    Waits,
}

/// Told what happens; the fetching ends when it returns false, and goes on from there the next time.
pub type Watch<'a> = &'a (dyn Fn(Event) -> bool + Sync);

/// The Hub, or a mirror of it, and the cache.
pub struct Hub {
    settings: Settings,
}

impl Hub {
    /// A Hub with these settings.
    pub fn new(settings: Settings) -> Self {
        Self { settings }
    }

    /// The folder of a model, or its GGUF file, in the cache; fetched if it is not all there.
    ///
    /// # Errors
    /// If the Hub has no such model or does not show it, it cannot be reached, or what it sends is not what it announced.
    pub fn bring(&self, id: &HubId, watch: Watch) -> Result<PathBuf> {
        self.settings.check().map_err(|problem| Error::hub(id, problem))?;
        let repo = Repo::new(&self.settings.cache, id);
        let known = repo.commit(id.revision());
        let state = known.as_deref().map_or(State::nothing(id), |commit| wanted::state(&repo, commit, id));
        if let (State::Whole, Some(commit)) = (&state, &known) {
            return Ok(repo.place(commit, id));
        }
        if self.settings.offline {
            return match (state, known) {
                (State::Missing(file), _) => Err(Error::hub(id, self.offline(&file))),
                (_, Some(commit)) => Ok(repo.place(&commit, id)),
                (_, None) => Err(Error::hub(id, self.offline(wanted::first_of(id)))),
            };
        }
        // What is usable stays what it is: only what may be missing is asked for, of the same commit.
        let usable = known.filter(|_| matches!(state, State::Usable));
        let client = Client::new(&self.settings).map_err(|problem| Error::hub(id, problem))?;
        match self.fetch(&client, &repo, id, usable.as_deref().unwrap_or(id.revision()), watch) {
            Ok(place) => Ok(place),
            Err(Stop::Failed(file, failure)) => match usable {
                Some(commit) if !failure.is_ours() => {
                    let error = failure.explain(id, file.as_deref(), &self.settings);
                    tracing::warn!("{error}; the cache has all that must be there, and that is opened");
                    Ok(repo.place(&commit, id))
                }
                _ => Err(failure.explain(id, file.as_deref(), &self.settings)),
            },
            Err(Stop::Refused(error)) => Err(error),
        }
    }

    fn offline(&self, missing: &str) -> String {
        format!(
            "no such file or folder here, and the cache in {} has no {missing} of such a model; HF_HUB_OFFLINE is set: \
             unset it to fetch the model",
            self.settings.cache.display()
        )
    }

    fn fetch(&self, client: &Client, repo: &Repo, id: &HubId, revision: &str, watch: Watch) -> Result<PathBuf, Stop> {
        let listing = client.list(id, revision, watch).map_err(|failure| Stop::Failed(None, failure))?;
        let refused = |problem: String| Stop::Refused(Error::hub(id, problem));
        let first = wanted::first(&listing, id).map_err(refused)?;
        let job = Job { client, repo, id, listing: &listing, watch };
        // Quietly: they are small, and say what else is wanted.
        for name in first {
            let blob = job.about(name)?;
            job.take(&blob, &|_| true)?;
        }
        let place = repo.place(&listing.commit, id);
        if id.file().is_none() {
            // A family that is not known is said before its weights have come.
            folder::look(&place).map(drop).map_err(Stop::Refused)?;
        }
        let rest = wanted::rest(&listing, id, &place.join(INDEX)).map_err(Stop::Refused)?;
        let blobs: Vec<Blob> = rest.iter().map(|name| job.about(name)).collect::<Result<_, _>>()?;
        let (here, coming): (Vec<Blob>, Vec<Blob>) =
            blobs.into_iter().partition(|blob| job.has(blob) || blob.is_here(repo));
        here.iter().try_for_each(|blob| job.take(blob, &|_| true))?;
        let all = coming.iter().map(|blob| blob.size).sum();
        space::check(repo, &coming).map_err(refused)?;
        if !coming.is_empty() && !watch(Event::Begins { files: coming.len(), bytes: all }) {
            return Err(Stop::Refused(Error::Stopped));
        }
        let mut before = 0;
        for blob in &coming {
            job.take(blob, &|here| watch(Event::Moves { file: &blob.name, done: before + here, all }))?;
            before += blob.size;
        }
        if id.file().is_none() {
            let absent = OPTIONAL.iter().filter(|name| !listing.has(name));
            absent.for_each(|name| repo.note_absent(&listing.commit, name));
        }
        repo.point(id.revision(), &listing.commit).map_err(refused)?;
        Ok(place)
    }
}

/// Why there is no model.
enum Stop {
    /// At this file, or before any.
    Failed(Option<String>, Failure),
    Refused(Error),
}

/// One model being fetched.
struct Job<'a> {
    client: &'a Client,
    repo: &'a Repo,
    id: &'a HubId,
    listing: &'a Listing,
    watch: Watch<'a>,
}

impl Job<'_> {
    fn about(&self, name: &str) -> Result<Blob, Stop> {
        let about = self.client.about(self.id, &self.listing.commit, name, self.watch);
        about.map_err(|failure| Stop::Failed(Some(name.to_owned()), failure))
    }

    /// Whether the snapshot has a file, as a link or, where there are none, as it is.
    fn has(&self, blob: &Blob) -> bool {
        let file = std::fs::metadata(self.repo.file(&self.listing.commit, &blob.name));
        file.is_ok_and(|file| file.is_file() && file.len() == blob.size)
    }

    /// Fetches a file unless it is here, and puts it into the snapshot. `moves` is told how much of it is here.
    fn take(&self, blob: &Blob, moves: &dyn Fn(u64) -> bool) -> Result<(), Stop> {
        if self.has(blob) {
            return Ok(());
        }
        let failed = |failure| Stop::Failed(Some(blob.name.clone()), failure);
        let url = self.client.url(self.id, &self.listing.commit, &blob.name);
        blob::fetch(self.client, self.repo, blob, &url, self.watch, moves).map_err(failed)?;
        let linked = link::link(&self.repo.blob(&blob.etag), &self.repo.file(&self.listing.commit, &blob.name));
        linked.map_err(|error| failed(Failure::Lasting(error)))
    }
}
