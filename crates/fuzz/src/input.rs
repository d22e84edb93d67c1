//! An input: the files that a reader opens, by name.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::target::Target;

/// Files by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Input {
    /// What it is called.
    pub name: String,
    /// Their bytes.
    pub files: BTreeMap<String, Vec<u8>>,
    /// How many of these bytes lie in its own folder.
    pub own: usize,
}

/// A file that names the seed whose other files an input has.
const BASE: &str = "base";

impl Input {
    /// How many bytes it has.
    pub fn size(&self) -> usize {
        self.files.values().map(Vec::len).sum()
    }

    /// Reads the files of a folder. Those that are not there are taken from the seed that its file `base` names.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn load(folder: &Path, target: Target) -> anyhow::Result<Self> {
        let mut files = BTreeMap::new();
        for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if target.reads(&name) || name == BASE {
                files.insert(name, fs::read(entry.path())?);
            }
        }
        let own = files.values().map(Vec::len).sum();
        if let Some(base) = files.remove(BASE) {
            let base = Self::load(&tiny().join(String::from_utf8(base)?.trim()), target)?;
            for (name, bytes) in base.files {
                files.entry(name).or_insert(bytes);
            }
        }
        let name = folder.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        Ok(Self { name, files, own })
    }

    /// Keeps it in a folder; files that are those of a tiny model are named and not copied.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn save(&self, folder: &Path, seed: &Self) -> anyhow::Result<()> {
        fs::create_dir_all(folder)?;
        let based = tiny().join(&seed.name).is_dir();
        for (name, bytes) in &self.files {
            if !(based && seed.files.get(name) == Some(bytes)) {
                fs::write(folder.join(name), bytes)?;
            }
        }
        if based {
            fs::write(folder.join(BASE), &seed.name)?;
        }
        Ok(())
    }
}

/// What a target begins with: what is kept in `corpus`, and the tiny models that were made for other tests.
///
/// # Errors
/// If it cannot be read.
pub fn seeds(target: Target) -> anyhow::Result<Vec<Input>> {
    let mut seeds = kept(target)?;
    if matches!(target, Target::Folder | Target::Tokenizer) {
        for folder in folders(&tiny())? {
            let seed = Input::load(&folder, target)?;
            // Many of them share one tokenizer.
            if !seeds.iter().any(|other| other.files == seed.files) {
                seeds.push(seed);
            }
        }
    }
    anyhow::ensure!(!seeds.is_empty(), "there is no seed for this target");
    Ok(seeds)
}

/// What is kept for a target in `corpus`: seeds, and what once did harm.
///
/// # Errors
/// If it cannot be read.
pub fn kept(target: Target) -> anyhow::Result<Vec<Input>> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target.name());
    folders(&corpus)?.iter().map(|folder| Input::load(folder, target)).collect()
}

fn folders(within: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(within).with_context(|| within.display().to_string())?;
    let mut folders = entries.map(|entry| Ok(entry?.path())).collect::<anyhow::Result<Vec<_>>>()?;
    folders.retain(|path| path.is_dir());
    folders.sort();
    Ok(folders)
}

fn tiny() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../models/tests/tiny")
}

/// A folder in which one input after another is laid out. What does not differ from the one before stays.
#[derive(Debug)]
pub struct Stage {
    folder: PathBuf,
    files: BTreeMap<String, Vec<u8>>,
}

impl Stage {
    /// An empty one.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder, files: BTreeMap::new() }
    }

    /// Lays an input out, and says where.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn lay(&mut self, input: &Input) -> anyhow::Result<&Path> {
        for name in self.files.keys().filter(|name| !input.files.contains_key(*name)) {
            fs::remove_file(self.folder.join(name))?;
        }
        for (name, bytes) in &input.files {
            if self.files.get(name) != Some(bytes) {
                fs::write(self.folder.join(name), bytes)?;
            }
        }
        self.files.clone_from(&input.files);
        Ok(&self.folder)
    }
}
