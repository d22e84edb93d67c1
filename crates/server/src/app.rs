use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::Entry;
use crate::entry::Item;
use crate::error::Error;
use crate::lanes::Lanes;
use crate::queue::Queue;
use crate::shelf::Shelf;
use crate::work::Asker;

/// What all requests share.
pub(crate) struct App {
    pub(crate) items: Vec<Arc<Item>>,
    pub(crate) shelf: Shelf,
    /// One model is opened or run at a time.
    pub(crate) models: Queue,
    pub(crate) lanes: Lanes,
    statistics: Arc<Semaphore>,
    stopping: Arc<AtomicBool>,
}

impl App {
    pub(crate) fn new(entries: Vec<Entry>) -> Self {
        Self {
            items: entries.into_iter().map(|entry| Arc::new(Item::new(entry))).collect(),
            shelf: Shelf::default(),
            models: Queue::new(),
            lanes: Lanes::new(),
            statistics: Arc::new(Semaphore::new(1)),
            stopping: Arc::default(),
        }
    }

    pub(crate) fn item(&self, id: &str) -> Result<&Arc<Item>, Error> {
        self.items.iter().find(|item| item.id == id).ok_or_else(|| {
            let ids: Vec<&str> = self.items.iter().map(|item| item.id.as_str()).collect();
            Error::bad_request(format!("there is no source {id:?}; there are: {}", ids.join(", ")))
        })
    }

    /// A turn at what looks at every weight of a head: it takes all cores, and whoever leaves while they wait costs
    /// nothing.
    pub(crate) async fn statistics(&self) -> Result<OwnedSemaphorePermit, Error> {
        self.statistics.clone().acquire_owned().await.map_err(|_| Error::broken())
    }

    /// Whoever waits for what is done next.
    pub(crate) fn asker(&self) -> Asker {
        Asker::new(self.stopping.clone())
    }

    /// Lets long work end early, because the server does.
    pub(crate) fn stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
    }
}
