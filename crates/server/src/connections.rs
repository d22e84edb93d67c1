//! Connections and how long one may take to say what it wants.

use std::future::Future;
use std::io;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};

/// A request's headers that are still not here after this long are given up, and so is a connection on which nothing
/// was asked for as long: browsers open another one. Otherwise a few that never finish would hold every socket.
pub(crate) const HEADERS: Duration = Duration::from_secs(30);

/// How long to wait after a connection could not be taken: there are no free sockets, and one has to be closed first.
const PAUSE: Duration = Duration::from_millis(200);

/// Answers until `shutdown` is done, and then until every answer that has begun is given.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    headers: Duration,
    shutdown: impl Future<Output = ()>,
) {
    let graceful = GracefulShutdown::new();
    let mut shutdown = std::pin::pin!(shutdown);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut shutdown => break,
        };
        match accepted {
            Ok((stream, _)) => answer(stream, router.clone(), headers, &graceful),
            Err(error) if of_one_connection(&error) => {}
            Err(error) => {
                tracing::warn!(%error, "a connection could not be taken");
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
    drop(listener);
    graceful.shutdown().await;
}

fn answer(stream: TcpStream, router: Router, headers: Duration, graceful: &GracefulShutdown) {
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(headers);
    let connection = builder.serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
    let connection = graceful.watch(connection);
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::debug!(%error, "a connection ended early");
        }
    });
}

/// Whether only the one who came is concerned, who left again.
fn of_one_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpStream;
    use std::time::Instant;

    use axum::routing::get;

    use super::{Router, TcpListener, serve};
    use std::time::Duration;

    /// Long enough for a busy machine to send a few bytes in.
    const SHORT: Duration = Duration::from_millis(500);

    /// What comes back for these bytes, and after how long the connection ends.
    async fn sent(bytes: &'static [u8]) -> (String, Duration) {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let slow = get(|| async {
            tokio::time::sleep(3 * SHORT).await;
            "late"
        });
        let router = Router::new().route("/", get(|| async { "here" })).route("/slow", slow);
        tokio::spawn(serve(listener, router, SHORT, std::future::pending()));
        let asked = tokio::task::spawn_blocking(move || {
            let begun = Instant::now();
            let mut stream = TcpStream::connect(address).expect("it listens");
            stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a timeout");
            stream.write_all(bytes).expect("it is sent");
            let mut answer = Vec::new();
            // An end by reset is an end.
            let read = stream.read_to_end(&mut answer);
            let closed = read.err().is_none_or(|error| error.kind() == std::io::ErrorKind::ConnectionReset);
            assert!(closed, "the connection stays open");
            (String::from_utf8(answer).expect("text"), begun.elapsed())
        });
        asked.await.expect("no panic")
    }

    #[tokio::test]
    async fn headers_that_never_end_are_given_up() {
        for start in ["", "GET", "GET / HTTP/1.1\r\nhost: localhost\r\n"] {
            let (answer, after) = sent(start.as_bytes()).await;
            assert!(!answer.contains("200 OK"), "{start:?}: {answer}");
            assert!(after >= SHORT, "{start:?}: {after:?}");
        }
    }

    #[tokio::test]
    async fn an_answer_may_take_longer_than_its_headers() {
        let (answer, _) = sent(b"GET /slow HTTP/1.1\r\nhost: localhost\r\n\r\n").await;
        assert!(answer.contains("200 OK") && answer.ends_with("late"), "{answer}");
    }
}
