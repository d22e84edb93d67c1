//! Models of the Hub, fetched from a Hub on this machine that can be told to misbehave.

#[path = "../common/hub_server.rs"]
mod hub_server;

mod cache;
mod damage;
mod refusals;
mod resuming;
mod together;

use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Duration;

use attnscope_models::Error;
use attnscope_models::hub::{Event, Hub, HubId, Settings, Watch};
use hub_server::{COMMIT, HubServer, REPO, tiny};
use tempfile::TempDir;

/// A Hub with a small model, and an empty cache.
struct Scene {
    server: HubServer,
    folder: TempDir,
    settings: Settings,
}

impl Scene {
    fn new() -> Self {
        Self::of(HubServer::of(&tiny("gpt2-lm")))
    }

    fn of(server: HubServer) -> Self {
        let folder = TempDir::new().unwrap();
        let settings = Settings {
            endpoint: server.address.clone(),
            cache: folder.path().join("hub"),
            token: None,
            offline: false,
            authorities: None,
            patience: Duration::from_secs(1),
        };
        Self { server, folder, settings }
    }

    fn bring(&self) -> Result<PathBuf, Error> {
        self.bring_as(REPO, &|_| true)
    }

    fn bring_as(&self, id: &str, watch: Watch) -> Result<PathBuf, Error> {
        Hub::new(self.settings.clone()).bring(&HubId::parse(id).unwrap(), watch)
    }

    /// What is said when it cannot be brought: one line that holds all of `parts`, and the id first.
    fn refusal(&self, id: &str, parts: &[&str]) -> String {
        let error = self.bring_as(id, &|_| true).expect_err("it cannot be brought").to_string();
        assert!(error.starts_with(&format!("{id}: ")) && !error.contains('\n'), "{error}");
        for part in parts {
            assert!(error.contains(part), "{error:?} does not say {part:?}");
        }
        error
    }

    /// Brings it, and gives what was said meanwhile.
    fn said(&self) -> Vec<String> {
        let said = Mutex::new(Vec::new());
        let watch = |event: Event| {
            if let Event::Says(words) = event {
                said.lock().unwrap().push(words.to_owned());
            }
            true
        };
        self.bring_as(REPO, &watch).unwrap();
        said.into_inner().unwrap()
    }

    fn model(&self) -> PathBuf {
        self.settings.cache.join("models--tiny--gpt2-lm")
    }

    /// A file in the cache, by what it holds.
    fn blob(&self, name: &str) -> PathBuf {
        let bytes = std::fs::read(tiny("gpt2-lm").join(name)).unwrap();
        self.model().join("blobs").join(hub_server::etag(name, &bytes))
    }

    fn incomplete(&self) -> PathBuf {
        self.blob("model.safetensors").with_extension("incomplete")
    }

    /// That the cache has the whole model, and nothing else.
    fn check_whole(&self) {
        for name in ["config.json", "tokenizer.json", "model.safetensors"] {
            let file = self.model().join("snapshots").join(COMMIT).join(name);
            assert_eq!(std::fs::read(&file).unwrap(), std::fs::read(tiny("gpt2-lm").join(name)).unwrap(), "{name}");
            assert_eq!(file.canonicalize().unwrap(), self.blob(name).canonicalize().unwrap());
        }
        assert_eq!(std::fs::read_dir(self.model().join("blobs")).unwrap().count(), 3);
        assert_eq!(std::fs::read_to_string(self.model().join("refs/main")).unwrap(), COMMIT);
    }
}
