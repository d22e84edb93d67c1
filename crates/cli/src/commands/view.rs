use std::io::IsTerminal;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, TcpListener};
use std::path::PathBuf;

use anyhow::{Context, bail};
use attnscope_models::Source;
use attnscope_server::{Entry, Opening, Server};
use rand::TryRngCore;
use rand::rngs::OsRng;

use crate::args::ViewArgs;
use crate::label::{Label, label};
use crate::output;

/// Where `tools/fetch-models` puts models, seen from where the command is run.
const MODELS: &str = "models";

pub(crate) fn run(args: ViewArgs) -> anyhow::Result<()> {
    // Before anything slow: a port in use is said at once.
    let listener = listen(args.host, args.port)?;
    let mut address = format!("http://{}/", crate::reach::address(listener.local_addr()?));
    let mut server = Server::new(entries(&args.sources)?);
    if ![IpAddr::from(Ipv4Addr::LOCALHOST), Ipv6Addr::LOCALHOST.into()].contains(&args.host) {
        let token = token()?;
        address.push_str(&format!("?token={token}"));
        server = server.with_token(token);
        output::complain(
            "warning: other machines can reach this inspector, unencrypted; give its whole address only to people you trust",
        );
    }
    output::print(&format!("{address}\n"))?;
    if !args.no_open && has_desktop() && open::that_detached(&address).is_err() {
        output::complain("no browser could be opened; open the address yourself");
    }
    if std::io::stderr().is_terminal() {
        output::complain("Ctrl-C ends it");
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let ended = runtime.block_on(server.serve(listener, interrupted()));
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

/// What the page offers: the sources given, opened now so that a wrong one is said at once, and the example. With
/// none given, the example and whatever models lie in `models/`, opened when they are picked.
fn entries(sources: &[String]) -> anyhow::Result<Vec<Entry>> {
    let mut entries = Vec::new();
    for name in sources {
        let source = Opening::Ready(Box::new(Source::open(name)?));
        entries.push(entry(id(entries.len(), name), name, source));
    }
    if !sources.iter().any(|name| name == "example") {
        let source = Opening::Ready(Box::new(Source::open("example")?));
        entries.push(entry("example".to_owned(), "example", source));
    }
    if sources.is_empty() {
        for path in models_at_hand() {
            let name = path.display().to_string();
            entries.push(entry(id(entries.len(), &name), &name, Opening::OnDemand(path)));
        }
    }
    Ok(entries)
}

fn entry(id: String, name: &str, source: Opening) -> Entry {
    let Label { name: label, quantisation } = label(name);
    Entry { id, label, quantisation, name: name.to_owned(), source }
}

fn id(index: usize, name: &str) -> String {
    if name == "example" { name.to_owned() } else { format!("s{index}") }
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

/// Ctrl-C, or a request to end.
async fn interrupted() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut end) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = end.recv() => {}
                _ = tokio::signal::ctrl_c() => {}
            }
            return;
        }
    }
    let _ = tokio::signal::ctrl_c().await;
}
