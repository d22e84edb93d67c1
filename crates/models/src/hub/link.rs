//! Addresses, and links between files.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use ureq::http::Uri;
use ureq::http::uri::Scheme;

/// Whom an address is of: a token given for one is shown to no other. None of an address that is not http(s).
pub(super) fn origin(url: &str) -> Option<(bool, String, u16)> {
    let uri: Uri = url.parse().ok()?;
    let secure = match uri.scheme()? {
        scheme if *scheme == Scheme::HTTPS => true,
        scheme if *scheme == Scheme::HTTP => false,
        _ => return None,
    };
    let host = uri.host().filter(|host| !host.is_empty())?.to_ascii_lowercase();
    Some((secure, host, uri.port_u16().unwrap_or(if secure { 443 } else { 80 })))
}

/// Where a redirect leads to, from `url`. None where that is no address.
pub(super) fn follow(url: &str, location: &str) -> Option<String> {
    let uri: Uri = url.parse().ok()?;
    let scheme = uri.scheme_str()?;
    let target = match location {
        "" => return None,
        whole if whole.contains("://") => whole.to_owned(),
        other if other.starts_with("//") => format!("{scheme}:{other}"),
        path if path.starts_with('/') => format!("{scheme}://{}{path}", uri.authority()?),
        path => format!("{scheme}://{}{}/{path}", uri.authority()?, uri.path().rsplit_once('/')?.0),
    };
    target.parse::<Uri>().ok().map(|_| target)
}

/// A part of an address, with the signs that mean something there written out. Slashes stay.
pub(super) fn escape(path: &str) -> String {
    let mut escaped = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' | b'/' => {
                escaped.push(char::from(byte))
            }
            other => escaped.push_str(&format!("%{other:02X}")),
        }
    }
    escaped
}

/// A name beside a file, of this thread of this process alone.
pub(super) fn beside(path: &Path) -> PathBuf {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}-{}.new", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed)));
    name.into()
}

/// Gives a blob its name in a snapshot.
///
/// # Errors
/// Words on why that is not possible.
pub(super) fn link(blob: &Path, file: &Path) -> Result<(), String> {
    let problem = |error: std::io::Error| format!("cannot write {}: {error}", file.display());
    // As many steps up as there are folders between the model's own and the file.
    let model = blob.parent().and_then(Path::parent).unwrap_or(blob);
    let inside = file.strip_prefix(model).map_err(|_| problem(std::io::ErrorKind::InvalidInput.into()))?;
    let mut target: PathBuf = inside.components().skip(1).map(|_| "..").collect();
    target.push(blob.strip_prefix(model).unwrap_or(blob));
    if std::fs::read_link(file).is_ok_and(|there| there == target) {
        return Ok(());
    }
    std::fs::create_dir_all(file.parent().unwrap_or(file)).map_err(problem)?;
    let other = beside(file);
    let _ = std::fs::remove_file(&other);
    point(&target, blob, &other).and_then(|()| std::fs::rename(&other, file)).map_err(problem)
}

#[cfg(unix)]
fn point(target: &Path, _: &Path, link: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(target, link)
}

/// Links are for administrators alone on some systems.
#[cfg(not(unix))]
fn point(_: &Path, blob: &Path, link: &Path) -> std::io::Result<()> {
    std::fs::hard_link(blob, link).or_else(|_| std::fs::copy(blob, link).map(|_| ()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whom_an_address_is_of() {
        assert_eq!(origin("https://Hub.example/a"), Some((true, "hub.example".to_owned(), 443)));
        assert_eq!(origin("https://hub.example:443"), origin("https://hub.example/b?c"));
        for other in ["http://hub.example", "https://hub.example:444", "https://cdn.hub.example"] {
            assert_ne!(origin(other), origin("https://hub.example"), "{other}");
        }
        for none in ["", "hub.example", "/a", "ftp://hub.example", "file:///etc/passwd", "https://", "http:///a"] {
            assert_eq!(origin(none), None, "{none:?}");
        }
    }

    #[test]
    fn where_a_redirect_leads() {
        let to = |location| follow("https://hub.example:8/a/b?c", location);
        for (location, target) in [
            ("http://other/x", "http://other/x"),
            ("//other/x", "https://other/x"),
            ("/x?y", "https://hub.example:8/x?y"),
            ("x", "https://hub.example:8/a/x"),
        ] {
            assert_eq!(to(location).as_deref(), Some(target));
        }
        assert_eq!(to("http://a b"), None);
        assert_eq!(to(""), None);
    }

    #[test]
    fn names_are_written_out_in_addresses() {
        assert_eq!(escape("sub/a b+é?.json"), "sub/a%20b%2B%C3%A9%3F.json");
    }
}
