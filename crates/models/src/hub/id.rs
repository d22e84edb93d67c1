//! What names a model on the Hub, and what cannot.

use std::fmt;

/// `gpt2`, `org/name`, either with `@revision`, or `org/name:file.gguf`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HubId {
    repo: String,
    revision: Option<String>,
    file: Option<String>,
}

/// Names that mean something here.
const OURS: [&str; 2] = ["example", "tiny"];
/// Folders of many a project, and pages of the Hub; nobody's models are under these.
const NOBODY: [&str; 3] = ["datasets", "models", "spaces"];
/// A name that ends so is that of a file which is not there.
const FILES: [&str; 13] =
    ["bin", "ckpt", "csv", "gguf", "html", "json", "npz", "onnx", "png", "pt", "pth", "safetensors", "txt"];
/// The longest name of a repository, in bytes.
const LONGEST: usize = 96;

impl HubId {
    /// Reads an id; none where the words can be none, as those of a path cannot.
    pub fn parse(words: &str) -> Option<Self> {
        let (whole, file) = match words.split_once(':') {
            Some((whole, file)) => (whole, Some(file)),
            None => (words, None),
        };
        let (repo, revision) = match whole.split_once('@') {
            Some((repo, revision)) => (repo, Some(revision)),
            None => (whole, None),
        };
        let fits = match repo.split_once('/') {
            Some((owner, name)) => is_part(owner) && is_part(name) && !NOBODY.contains(&owner),
            // `C:model.gguf` is no file of a model C.
            None => is_part(repo) && !OURS.contains(&repo) && file.is_none(),
        };
        let fits = fits
            && repo.len() <= LONGEST
            && !FILES.iter().any(|ending| ends(repo, ending))
            && revision.is_none_or(is_revision)
            && file.is_none_or(|file| is_safe(file) && ends(file, "gguf"));
        fits.then(|| Self {
            repo: repo.to_owned(),
            revision: revision.map(str::to_owned),
            file: file.map(str::to_owned),
        })
    }

    /// The repository, such as `openai-community/gpt2`.
    pub fn repo(&self) -> &str {
        &self.repo
    }

    /// The repository without its owner.
    pub fn name(&self) -> &str {
        self.repo.rsplit_once('/').map_or(&self.repo, |(_, name)| name)
    }

    /// A branch, a tag or a commit.
    pub fn revision(&self) -> &str {
        self.revision.as_deref().unwrap_or("main")
    }

    /// The one file that is meant, a GGUF.
    pub fn file(&self) -> Option<&str> {
        self.file.as_deref()
    }
}

impl fmt::Display for HubId {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.repo)?;
        self.revision.iter().try_for_each(|revision| write!(f, "@{revision}"))?;
        self.file.iter().try_for_each(|file| write!(f, ":{file}"))
    }
}

/// Whether a name ends in `.ending`, in letters of any case.
fn ends(name: &str, ending: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, last)| last.eq_ignore_ascii_case(ending))
}

/// An owner, or a repository of one.
fn is_part(part: &str) -> bool {
    let letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    part.starts_with(letter)
        && part.ends_with(letter)
        && part.chars().all(|c| letter(c) || matches!(c, '-' | '.'))
        && !part.contains("..")
        && !part.contains("--")
}

fn is_revision(revision: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | '+');
    revision.len() <= 255 && revision.chars().all(fits) && is_safe(revision)
}

/// Whether a path given by somebody else stays inside of the folder that it is put in, on any system.
pub(super) fn is_safe(path: &str) -> bool {
    let part = |part: &str| !part.is_empty() && !part.starts_with('.') && !part.ends_with(['.', ' ']);
    path.len() <= 1024
        && path.split('/').all(part)
        && !path.contains(['\\', ':', '\0'])
        && !path.chars().any(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::{HubId, is_safe};

    #[test]
    fn what_can_be_an_id() {
        for (words, repo, name, revision, file) in [
            ("gpt2", "gpt2", "gpt2", "main", None),
            ("Qwen/Qwen3-0.6B", "Qwen/Qwen3-0.6B", "Qwen3-0.6B", "main", None),
            ("org/name@v1.0", "org/name", "name", "v1.0", None),
            ("gpt2@refs/pr/1", "gpt2", "gpt2", "refs/pr/1", None),
            ("org/name:sub/m-Q4_0.GGUF", "org/name", "name", "main", Some("sub/m-Q4_0.GGUF")),
            ("org/name@main:m.gguf", "org/name", "name", "main", Some("m.gguf")),
        ] {
            let id = HubId::parse(words).unwrap_or_else(|| panic!("{words}"));
            assert_eq!((id.repo(), id.name(), id.revision(), id.file()), (repo, name, revision, file), "{words}");
            assert_eq!(id.to_string(), words);
        }
    }

    #[test]
    fn what_cannot() {
        for words in [
            "",
            "example",
            "tiny",
            ".",
            "..",
            "./gpt2",
            "../gpt2",
            "/gpt2",
            "~/gpt2",
            "a/b/c",
            "a//b",
            "gpt2/",
            "a b",
            "é",
            "model.gguf",
            "org/model.GGUF",
            "trace.safetensors",
            "notes.txt",
            "models/gpt2",
            "-o",
            "a..b",
            "a--b",
            "gpt2-",
            "gpt2@",
            "gpt2@../x",
            "gpt2@/x",
            "gpt2@a b",
            "gpt2:m.gguf",
            "C:m.gguf",
            "C:\\m.gguf",
            "https://huggingface.co/gpt2",
            "org/name:",
            "org/name:m.safetensors",
            "org/name:../m.gguf",
            "org/name:/m.gguf",
            "org/name:a\\m.gguf",
            "org/name:.hidden/m.gguf",
            "a\0b",
        ] {
            assert_eq!(HubId::parse(words), None, "{words:?}");
        }
        assert_eq!(HubId::parse(&"x".repeat(97)), None);
    }

    #[test]
    fn a_path_stays_where_it_is_put() {
        assert!(["a", "a/b.json", "model-00001-of-00002.safetensors"].into_iter().all(is_safe));
        for path in ["", "..", "a/../b", "/a", "a/", "./a", "a\\b", "C:a", "a\nb", "a.", "a/b /c"] {
            assert!(!is_safe(path), "{path:?}");
        }
    }
}
