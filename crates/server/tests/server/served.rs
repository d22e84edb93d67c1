use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use attnscope_server::Server;
use tokio::sync::oneshot;

use crate::support::example;

/// The one test with a socket: that a listener is served, and given up when it is time.
#[tokio::test(flavor = "multi_thread")]
async fn a_listener_is_served_until_shutdown() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address");
    let (stop, stopped) = oneshot::channel::<()>();
    let shutdown = async {
        let _ = stopped.await;
    };
    let server = tokio::spawn(Server::new(vec![example()]).serve(listener, shutdown));
    let ask = move |host: String| {
        let mut stream = TcpStream::connect(address).expect("it listens");
        write!(stream, "GET /api/health HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n").expect("it is sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it is answered");
        answer
    };
    let own = tokio::task::spawn_blocking(move || ask(address.to_string())).await.expect("no panic");
    assert!(own.starts_with("HTTP/1.1 200") && own.contains(r#"{"ok":true"#), "{own}");
    let foreign = tokio::task::spawn_blocking(move || ask("evil.example".to_owned())).await.expect("no panic");
    assert!(foreign.starts_with("HTTP/1.1 421"), "{foreign}");
    stop.send(()).expect("it still runs");
    let done = tokio::time::timeout(Duration::from_secs(2), server).await.expect("it ends at once");
    done.expect("no panic").expect("no error");
    assert!(TcpStream::connect(address).is_err(), "nothing listens any more");
}
