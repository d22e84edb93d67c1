use std::collections::HashSet;
use std::io::IsTerminal;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, TcpListener};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use attnscope_models::Source;
use attnscope_server::{Entry, Opening, Server};
use rand::TryRngCore;
use rand::rngs::OsRng;

use crate::args::{ViewArgs, Weights};
use crate::label::{Label, label};
use crate::{interrupt, output};

/// Where `tools/fetch-models` puts models, seen from where the command is run.
const MODELS: &str = "models";

pub(crate) fn run(args: ViewArgs) -> anyhow::Result<()> {
    // Before anything slow: a port in use is said at once.
    let listener = listen(args.host, args.port)?;
    let mut address = format!("http://{}/", crate::reach::address(listener.local_addr()?));
    let mut server = Server::new(entries(&args.sources, args.weights)?);
    if ![IpAddr::from(Ipv4Addr::LOCALHOST), Ipv6Addr::LOCALHOST.into()].contains(&args.host) {
        let token = token()?;
        address.push_str(&format!("?token={token}"));
        server = server.with_token(token);
        output::complain(
            "warning: other machines can reach this inspector, unencrypted; give its whole address only to people you trust",
        );
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    // Before the address is said: from then on Ctrl-C is the way out, and no failure.
    let end = runtime.block_on(async { interrupted() })?;
    output::print(&format!("{address}\n"))?;
    if !args.no_open && has_desktop() && open::that_detached(&address).is_err() {
        output::complain("no browser could be opened; open the address yourself");
    }
    if std::io::stderr().is_terminal() {
        output::complain("Ctrl-C ends it");
    }
    let ended = runtime.block_on(server.serve(listener, end));
    // A run that nobody waits for any more must not keep the process.
    runtime.shutdown_background();
    Ok(ended?)
}

/// What strangers cannot guess: 128 random bits.
fn token() -> anyhow::Result<String> {
    let mut bits = [0; 16];
    OsRng.try_fill_bytes(&mut bits).context("this system gives no random numbers for a token")?;
    Ok(bits.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn listen(host: IpAddr, port: u16) -> anyhow::Result<TcpListener> {
    match TcpListener::bind((host, port)) {
        Ok(listener) => Ok(listener),
        Err(error) if error.kind() == std::io::ErrorKind::AddrInUse => {
            bail!("port {port} is in use; give another with --port, or --port 0 for any free one")
        }
        Err(error) => {
            Err(error).with_context(|| format!("cannot listen on {host} port {port}; try another --host or --port 0"))
        }
    }
}

/// What the page offers: the sources given, opened now so that a wrong one is said at once (one of the Hub is fetched
/// before there is a page), and the example. With none given, the example and whatever models lie in `models/`, opened when
/// they are picked.
fn entries(sources: &[String], weights: Weights) -> anyhow::Result<Vec<Entry>> {
    if weights.given() && sources.is_empty() {
        bail!("--weights is said of a source; name one");
    }
    let mut named: Vec<(String, Opening)> = Vec::new();
    for name in sources {
        // Given twice it is still one source.
        if named.iter().all(|(other, _)| other != name) {
            named.push((name.clone(), Opening::Ready(Box::new(super::open(name, weights)?))));
        }
    }
    if !sources.iter().any(|name| name == "example") {
        named.push(("example".to_owned(), Opening::Ready(Box::new(Source::open("example")?))));
    }
    if sources.is_empty() {
        named.extend(models_at_hand().into_iter().map(|path| (path.display().to_string(), Opening::OnDemand(path))));
    }
    let names: Vec<&str> = named.iter().map(|(name, _)| name.as_str()).collect();
    let ids = ids(&names);
    Ok(named.into_iter().zip(ids).map(|((name, source), id)| entry(id, &name, source)).collect())
}

fn entry(id: String, name: &str, source: Opening) -> Entry {
    let Label { name: label, quantisation } = label(name);
    Entry { id, label, quantisation, name: name.to_owned(), source }
}

/// What the sources are called in addresses. A link is kept and opened again later, perhaps when other sources are
/// served, so an id says what its source is, not where it stands: the name of its file or folder, and of those with
/// like names also a part of the hash of the whole path.
fn ids(names: &[&str]) -> Vec<String> {
    let plain: Vec<String> = names.iter().map(|name| slug(name)).collect();
    let mut taken = HashSet::new();
    let ids = names.iter().zip(&plain).map(|(name, slug)| {
        let alone = *name == "example" || plain.iter().filter(|other| *other == slug).count() == 1;
        let wanted = if alone { slug.clone() } else { format!("{slug}-{:08x}", path_hash(name)) };
        // One file under two names, or two hashes alike: only then does the order count.
        let more = (2..).map(|n| format!("{wanted}-{n}"));
        let id = std::iter::once(wanted.clone()).chain(more).find(|id| !taken.contains(id)).unwrap_or(wanted.clone());
        taken.insert(id.clone());
        id
    });
    ids.collect()
}

/// The last part of a path in letters, digits and `.`, `-`, `_`, as they need no escape in an address.
fn slug(name: &str) -> String {
    let path = whole(name);
    let last = path.file_name().map_or(name.into(), |last| last.to_string_lossy());
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_');
    let words: Vec<&str> = last.split(|c| !fits(c)).filter(|word| !word.is_empty()).collect();
    if words.is_empty() { "source".to_owned() } else { words.join("-").to_ascii_lowercase() }
}

fn whole(name: &str) -> PathBuf {
    let path = Path::new(name);
    if name == "example" { path.to_owned() } else { path.canonicalize().unwrap_or_else(|_| path.to_owned()) }
}

/// FNV-1a: the same on every machine and in every version, which the standard library's hashes do not promise.
fn path_hash(name: &str) -> u32 {
    let path = whole(name);
    path.as_os_str()
        .as_encoded_bytes()
        .iter()
        .fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

/// Models and traces in `models/`, by name.
fn models_at_hand() -> Vec<PathBuf> {
    let Ok(folder) = std::fs::read_dir(MODELS) else { return Vec::new() };
    let fits = |path: &PathBuf| {
        let ending = path.extension().is_some_and(|ending| ending == "gguf" || ending == "safetensors");
        ending || path.join("config.json").is_file()
    };
    let mut paths: Vec<PathBuf> = folder.filter_map(|entry| Some(entry.ok()?.path())).filter(fits).collect();
    paths.sort();
    paths
}

/// Whether there is anything to open a browser on. Without a desktop, some systems would start one in the terminal.
fn has_desktop() -> bool {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    cfg!(not(all(unix, not(target_os = "macos")))) || set("DISPLAY") || set("WAYLAND_DISPLAY")
}

/// Ctrl-C, or a request to end. From now on, not from the first poll on.
fn interrupted() -> anyhow::Result<impl Future<Output = ()>> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let (mut stop, mut end) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
        interrupt::hear();
        Ok(async move {
            tokio::select! {
                _ = end.recv() => {}
                _ = stop.recv() => {}
            }
        })
    }
    #[cfg(not(unix))]
    {
        interrupt::hear();
        Ok(async {
            let _ = tokio::signal::ctrl_c().await;
        })
    }
}

#[cfg(test)]
mod tests {
    use super::ids;

    #[test]
    fn an_id_does_not_depend_on_what_else_is_served() {
        assert_eq!(ids(&["models/smol lm.Q4_1.gguf", "example"]), ["smol-lm.q4_1.gguf", "example"]);
        assert_eq!(ids(&["example", "b", "models/smol lm.Q4_1.gguf"])[2], "smol-lm.q4_1.gguf");
        assert_eq!(ids(&["日本"]), ["source"]);
    }

    #[test]
    fn no_two_are_alike() {
        let names = ["a/model.gguf", "b/model.gguf", "b/../b/model.gguf", "example", "x/example", "a/MODEL.gguf"];
        let found = ids(&names);
        let mut once = found.clone();
        once.sort();
        once.dedup();
        assert_eq!(once.len(), names.len(), "{found:?}");
        assert_eq!(found[3], "example");
        // The order makes no difference.
        assert_eq!(ids(&[names[1], names[0]])[1], ids(&[names[0], names[1]])[0]);
    }
}
