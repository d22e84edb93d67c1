//! The cache on this machine, as Python's huggingface_hub lays it out:
//!
//! ```text
//! models--{owner}--{name}/blobs/{etag}                   what files hold; `.incomplete` while it comes
//! models--{owner}--{name}/snapshots/{commit}/{file}      links into blobs
//! models--{owner}--{name}/refs/{revision}                which commit a branch or tag was
//! models--{owner}--{name}/.no_exist/{commit}/{file}      empty: that commit has no such file
//! .locks/models--{owner}--{name}/{etag}.lock             held by whoever fetches a blob
//! ```

use std::fs;
use std::path::{Path, PathBuf};

use super::HubId;

/// One model's part of the cache.
pub(super) struct Repo {
    folder: PathBuf,
    locks: PathBuf,
}

impl Repo {
    pub(super) fn new(cache: &Path, id: &HubId) -> Self {
        let name = format!("models--{}", id.repo().replace('/', "--"));
        Self { locks: cache.join(".locks").join(&name), folder: cache.join(name) }
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Which commit a revision is, as far as is known here.
    pub(super) fn commit(&self, revision: &str) -> Option<String> {
        if is_commit(revision) {
            return Some(revision.to_owned());
        }
        let commit = fs::read_to_string(self.folder.join("refs").join(revision)).ok()?;
        Some(commit.trim().to_owned()).filter(|commit| is_commit(commit))
    }

    /// Notes which commit a revision is, at one go.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(super) fn point(&self, revision: &str, commit: &str) -> Result<(), String> {
        if self.commit(revision).as_deref() == Some(commit) {
            return Ok(());
        }
        let path = self.folder.join("refs").join(revision);
        let write = || {
            let other = super::link::beside(&path);
            fs::create_dir_all(path.parent().unwrap_or(&path))?;
            fs::write(&other, commit)?;
            fs::rename(other, &path)
        };
        write().map_err(|error: std::io::Error| format!("cannot write {}: {error}", path.display()))
    }

    /// Notes that a commit has no such file. Where that fails, it will be asked for again.
    pub(super) fn note_absent(&self, commit: &str, file: &str) {
        let path = self.absent(commit, file);
        if let Some(folder) = path.parent() {
            let _ = fs::create_dir_all(folder).and_then(|()| fs::write(&path, ""));
        }
    }

    /// Whether it is known that a commit has no such file.
    pub(super) fn is_absent(&self, commit: &str, file: &str) -> bool {
        self.absent(commit, file).exists()
    }

    fn absent(&self, commit: &str, file: &str) -> PathBuf {
        self.folder.join(".no_exist").join(commit).join(file)
    }

    /// Where a file of a commit is, or will be.
    pub(super) fn file(&self, commit: &str, file: &str) -> PathBuf {
        self.folder.join("snapshots").join(commit).join(file)
    }

    /// What is opened: the folder of a commit, or its one file.
    pub(super) fn place(&self, commit: &str, id: &HubId) -> PathBuf {
        match id.file() {
            Some(file) => self.file(commit, file),
            None => self.folder.join("snapshots").join(commit),
        }
    }

    pub(super) fn blob(&self, etag: &str) -> PathBuf {
        self.folder.join("blobs").join(etag)
    }

    pub(super) fn incomplete(&self, etag: &str) -> PathBuf {
        self.folder.join("blobs").join(format!("{etag}.incomplete"))
    }

    pub(super) fn lock(&self, etag: &str) -> PathBuf {
        self.locks.join(format!("{etag}.lock"))
    }
}

/// The full name of a commit.
pub(super) fn is_commit(word: &str) -> bool {
    word.len() == 40 && word.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// The name of the model of which a folder is a snapshot, if it is one: its own name is that of a commit.
pub(crate) fn name_of_snapshot(folder: &Path) -> Option<&str> {
    let snapshots = folder.parent().filter(|parent| parent.ends_with("snapshots"))?;
    let repo = snapshots.parent()?.file_name()?.to_str()?.strip_prefix("models--")?;
    // No name has two hyphens in a row.
    Some(repo.rsplit_once("--").map_or(repo, |(_, name)| name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snapshot_is_called_as_its_model() {
        let name = |path| name_of_snapshot(Path::new(path));
        assert_eq!(name("/c/hub/models--Qwen--Qwen3-0.6B/snapshots/abc"), Some("Qwen3-0.6B"));
        assert_eq!(name("/c/hub/models--gpt2/snapshots/abc"), Some("gpt2"));
        assert_eq!(name("/c/models/gpt2"), None);
        assert_eq!(name("/"), None);
    }
}
