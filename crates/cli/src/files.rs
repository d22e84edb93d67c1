//! Files that appear whole or not at all.

use std::fs::Permissions;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use crate::interrupt;

/// The folder that a file is to be written in, which must be there. To be asked before the work begins.
pub(crate) fn folder(path: &Path) -> anyhow::Result<PathBuf> {
    if path.is_dir() {
        bail!("{}: is a folder; give the name of a file", path.display());
    }
    let absolute = std::path::absolute(path)?;
    match absolute.parent().filter(|folder| folder.is_dir()) {
        Some(folder) => Ok(folder.to_owned()),
        None => bail!("{}: there is no such folder to write in", path.display()),
    }
}

/// That a file can be made there: the folder may be read-only, or none in which files can be. To be asked before the work begins.
pub(crate) fn check(path: &Path) -> anyhow::Result<()> {
    let folder = folder(path)?;
    tempfile::Builder::new().prefix(PREFIX).tempfile_in(folder).map(drop).with_context(|| cannot(path))
}

/// Of files that do not have their own name yet.
const PREFIX: &str = ".attnscope-";

fn cannot(path: &Path) -> String {
    format!("cannot write {}", path.display())
}

/// Writes the file beside its place, then gives it its name.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let folder = folder(path)?;
    let written = || -> anyhow::Result<()> {
        let mut builder = tempfile::Builder::new();
        let permissions = ordinary();
        if let Some(permissions) = &permissions {
            builder.permissions(permissions.clone());
        }
        let mut file = builder.prefix(PREFIX).tempfile_in(folder)?;
        file.write_all(bytes)?;
        file.persist(path)?;
        Ok(())
    };
    interrupt::whole(written).with_context(|| cannot(path))
}

/// Those of any new file, less what the user's mask takes away; a temporary file would have its owner's alone.
fn ordinary() -> Option<Permissions> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        Some(Permissions::from_mode(0o666))
    }
    #[cfg(not(unix))]
    {
        None
    }
}
