//! Work that takes a thread for itself, and whether anybody still waits for it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::Error;

/// Runs work on a thread that may block. A panic in it becomes an answer like any other error.
pub(crate) async fn blocking<T, W>(work: W) -> Result<T, Error>
where
    T: Send + 'static,
    W: FnOnce() -> Result<T, Error> + Send + 'static,
{
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => {
            tracing::error!(%error, "a request failed");
            Err(Error::broken())
        }
    }
}

/// Held by a handler while it waits for work. The connection's end drops the handler, and with it this.
pub(crate) struct Asker(Waiting);

/// Asked by the work, now and then.
#[derive(Clone)]
pub(crate) struct Waiting {
    left: Arc<AtomicBool>,
    stopping: Arc<AtomicBool>,
}

impl Asker {
    pub(crate) fn new(stopping: Arc<AtomicBool>) -> Self {
        Self(Waiting { left: Arc::default(), stopping })
    }

    pub(crate) fn waiting(&self) -> Waiting {
        self.0.clone()
    }
}

impl Drop for Asker {
    fn drop(&mut self) {
        self.0.left.store(true, Ordering::Relaxed);
    }
}

impl Waiting {
    /// Whether it is still worth going on.
    pub(crate) fn still(&self) -> bool {
        !self.left.load(Ordering::Relaxed) && !self.stopping.load(Ordering::Relaxed)
    }

    /// # Errors
    /// If nobody waits any more.
    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.still() { Ok(()) } else { Err(attnscope_models::Error::Stopped.into()) }
    }
}

#[cfg(test)]
mod tests {
    use axum::http::StatusCode;

    use super::*;

    #[tokio::test]
    async fn a_panic_is_an_answer() {
        let error = blocking::<(), _>(|| panic!("on purpose")).await.expect_err("it panicked");
        assert_eq!(error.status, StatusCode::INTERNAL_SERVER_ERROR);
        assert!(!error.message.contains("on purpose"));
    }

    #[tokio::test]
    async fn work_notices_that_the_asker_left() {
        let asker = Asker::new(Arc::default());
        let waiting = asker.waiting();
        assert!(waiting.still());
        let handler = tokio::spawn(async move {
            let _asker = asker;
            std::future::pending::<()>().await;
        });
        handler.abort();
        assert!(handler.await.is_err_and(|error| error.is_cancelled()));
        assert!(!waiting.still());
        assert_eq!(waiting.check().expect_err("nobody waits").status, StatusCode::SERVICE_UNAVAILABLE);
    }

    #[test]
    fn work_notices_that_the_server_stops() {
        let stopping = Arc::new(AtomicBool::new(false));
        let asker = Asker::new(stopping.clone());
        assert!(asker.waiting().still());
        stopping.store(true, Ordering::Relaxed);
        assert!(!asker.waiting().still());
    }
}
