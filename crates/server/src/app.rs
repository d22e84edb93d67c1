use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Semaphore;

use crate::Entry;
use crate::entry::Item;
use crate::error::Error;
use crate::shelf::Shelf;
use crate::work::Asker;

/// What all requests share.
pub(crate) struct App {
    pub(crate) items: Vec<Arc<Item>>,
    pub(crate) shelf: Shelf,
    /// One model is opened or run at a time: each takes all cores, and memory for all its layers.
    pub(crate) models: Arc<Semaphore>,
    /// Statistics of a layer take all cores too; whoever leaves while they wait costs nothing.
    pub(crate) statistics: Arc<Semaphore>,
    stopping: Arc<AtomicBool>,
}

impl App {
    pub(crate) fn new(entries: Vec<Entry>) -> Self {
        Self {
            items: entries.into_iter().map(|entry| Arc::new(Item::new(entry))).collect(),
            shelf: Shelf::default(),
            models: Arc::new(Semaphore::new(1)),
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

    /// Whoever waits for what is done next.
    pub(crate) fn asker(&self) -> Asker {
        Asker::new(self.stopping.clone())
    }

    /// Lets long work end early, because the server does.
    pub(crate) fn stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
    }
}
