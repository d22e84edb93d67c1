use std::future::Future;
use std::io;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use tokio::sync::oneshot;

use crate::app::App;
use crate::connections::{self, HEADERS};
use crate::{Entry, routes};

/// How long answers that have begun may take after the server was told to stop.
const GRACE: Duration = Duration::from_secs(3);

/// The web inspector, ready to be served.
pub struct Server {
    app: Arc<App>,
    token: Option<String>,
}

impl Server {
    /// A server of these entries, in the order in which the page lists them. Their ids must differ.
    pub fn new(entries: Vec<Entry>) -> Self {
        Self { app: Arc::new(App::new(entries)), token: None }
    }

    /// Answers to whoever knows this token, under any name: for a listener that other machines can reach. The address
    /// to open is then `http://HOST:PORT/?token=TOKEN`. It becomes part of addresses and of a cookie, so it must be
    /// ASCII letters and digits, and more than can be guessed.
    #[must_use]
    pub fn with_token(self, token: String) -> Self {
        Self { token: Some(token), ..self }
    }

    /// Answers until `shutdown` is done: then no more connections are taken, model runs stop after their layer, and
    /// answers that have begun get three seconds. A runtime that is dropped still waits for a layer in progress; use
    /// its `shutdown_background` to leave at once.
    ///
    /// Without a token, the listener should be on the loopback interface; see the crate's words on who is answered.
    ///
    /// # Errors
    /// If the listener cannot be used.
    pub async fn serve<F>(self, listener: TcpListener, shutdown: F) -> io::Result<()>
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let port = listener.local_addr()?.port();
        listener.set_nonblocking(true)?;
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let (tell, told) = oneshot::channel();
        let app = self.app.clone();
        let signal = async move {
            shutdown.await;
            app.stop();
            let _ = tell.send(());
        };
        let served = connections::serve(listener, self.router(port), HEADERS, signal);
        let overdue = async {
            let _ = told.await;
            tokio::time::sleep(GRACE).await;
        };
        tokio::select! {
            () = served => {}
            () = overdue => {}
        }
        Ok(())
    }

    /// The routes, for a server that is reached at this port. [`Server::serve`] without sockets, for tests.
    pub fn router(self, port: u16) -> Router {
        routes::router(self.app, port, self.token)
    }
}
