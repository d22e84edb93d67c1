//! Whether what is to come has room.

use super::blob::Blob;
use super::cache::Repo;

/// # Errors
/// Words on how much is missing.
pub(super) fn check(repo: &Repo, blobs: &[Blob]) -> Result<(), String> {
    let length = |path| std::fs::metadata(path).map_or(0, |file| file.len());
    let here = |blob: &Blob| length(repo.blob(&blob.etag)).max(length(repo.incomplete(&blob.etag))).min(blob.size);
    let needed: u64 = blobs.iter().map(|blob| blob.size - here(blob)).sum();
    match free(repo) {
        Some(free) if free < needed => Err(format!(
            "it needs {} more on the disk of {}, which has {} free; make room, or set HF_HOME to a folder on another disk",
            size(needed),
            repo.folder().display(),
            size(free)
        )),
        _ => Ok(()),
    }
}

/// Bytes as a person reads them.
fn size(bytes: u64) -> String {
    if bytes < 1_000_000 { format!("{bytes} bytes") } else { format!("{:.1} MB", bytes as f64 / 1e6) }
}

/// Bytes that may still be written where the cache is; none where that cannot be told.
#[cfg(unix)]
fn free(repo: &Repo) -> Option<u64> {
    let folder = repo.folder().ancestors().find(|folder| folder.is_dir())?;
    let disk = rustix::fs::statvfs(folder).ok()?;
    disk.f_bavail.checked_mul(disk.f_frsize)
}

#[cfg(not(unix))]
fn free(_: &Repo) -> Option<u64> {
    None
}
