//! As little of HTTP as tests with real sockets need.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use attnscope_server::{Entry, Server};
use tokio::sync::oneshot;

/// Longer than any answer may take in a test.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server that listens, until this is dropped.
pub(crate) struct Listening {
    pub(crate) address: SocketAddr,
    _stop: oneshot::Sender<()>,
}

impl Listening {
    /// Serves on the runtime that this is called from.
    pub(crate) fn of(entries: Vec<Entry>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address");
        let (stop, stopped) = oneshot::channel::<()>();
        let shutdown = async {
            let _ = stopped.await;
        };
        tokio::spawn(Server::new(entries).serve(listener, shutdown));
        Self { address, _stop: stop }
    }
}

/// A connection that is kept open.
pub(crate) struct Connection {
    address: SocketAddr,
    stream: BufReader<TcpStream>,
}

impl Connection {
    pub(crate) fn to(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        Self { address, stream: BufReader::new(stream) }
    }

    /// Sends a request, and waits for nothing.
    pub(crate) fn send(&mut self, method: &str, path: &str, body: &str) {
        let (address, length) = (self.address, body.len());
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n"
        );
        self.stream.get_mut().write_all((head + body).as_bytes()).expect("it is sent");
    }

    /// The next answer, as (status, body).
    pub(crate) fn receive(&mut self) -> (u16, Vec<u8>) {
        let mut line = String::new();
        let mut next = |stream: &mut BufReader<TcpStream>| {
            line.clear();
            stream.read_line(&mut line).expect("it is answered");
            line.trim_end().to_ascii_lowercase()
        };
        let status = next(&mut self.stream).split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        let mut length = 0;
        loop {
            let header = next(&mut self.stream);
            if header.is_empty() {
                break;
            }
            if let Some(value) = header.strip_prefix("content-length:") {
                length = value.trim().parse().expect("a length");
            }
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).expect("the body is whole");
        (status, body)
    }

    pub(crate) fn get(&mut self, path: &str) -> (u16, Vec<u8>) {
        self.send("GET", path, "");
        self.receive()
    }

    pub(crate) fn post(&mut self, path: &str, body: &str) -> (u16, Vec<u8>) {
        self.send("POST", path, body);
        self.receive()
    }
}
