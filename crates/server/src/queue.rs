//! Models run one at a time: each takes all cores, and memory for all its layers. Whoever waits can see where they
//! stand, and whoever runs how far they are.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::error::Error;

/// What a page calls a run, to ask how far it is. Two runs of one name at a time are told apart by nobody but the
/// page: the name is the later one's.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct RunName(String);

/// The longest name of a run, in bytes.
const LONGEST_NAME: usize = 64;

impl TryFrom<String> for RunName {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        let fits = (1..=LONGEST_NAME).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_graphic());
        let message = || format!("run must be a name of 1 to {LONGEST_NAME} ASCII letters, digits and signs");
        if fits { Ok(Self(name)) } else { Err(message()) }
    }
}

/// The line in front of the models.
pub(crate) struct Queue {
    turn: Arc<Semaphore>,
    line: Arc<Mutex<Line>>,
}

#[derive(Default)]
struct Line {
    /// Tickets in the order in which they came; the first one's turn it is.
    tickets: Vec<u64>,
    last: u64,
    /// Runs that their pages gave a name.
    named: HashMap<RunName, Named>,
}

struct Named {
    ticket: u64,
    done: usize,
    all: usize,
}

/// Where a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Standing {
    /// Runs before it.
    ahead: usize,
    /// Layers done.
    done: usize,
    /// Layers in all; 0 while the model is being opened.
    all: usize,
}

/// A place in the line; leaving it gives the place up, whether its turn had come or not.
pub(crate) struct Ticket {
    line: Arc<Mutex<Line>>,
    number: u64,
    name: Option<RunName>,
}

/// A turn; the next begins when it is dropped.
pub(crate) struct Turn {
    ticket: Ticket,
    _permit: OwnedSemaphorePermit,
}

impl Queue {
    pub(crate) fn new() -> Self {
        Self { turn: Arc::new(Semaphore::new(1)), line: Arc::default() }
    }

    /// Waits for a turn.
    ///
    /// # Errors
    /// If the server ends.
    pub(crate) async fn turn(&self, name: Option<RunName>) -> Result<Turn, Error> {
        let ticket = self.ticket(name);
        let permit = self.turn.clone().acquire_owned().await.map_err(|_| Error::broken())?;
        Ok(Turn { ticket, _permit: permit })
    }

    fn ticket(&self, name: Option<RunName>) -> Ticket {
        let mut line = lock(&self.line);
        line.last += 1;
        let number = line.last;
        line.tickets.push(number);
        if let Some(name) = &name {
            line.named.insert(name.clone(), Named { ticket: number, done: 0, all: 0 });
        }
        Ticket { line: self.line.clone(), number, name }
    }

    /// Where a run stands; none if there is no such run, or no longer.
    pub(crate) fn standing(&self, name: &RunName) -> Option<Standing> {
        let line = lock(&self.line);
        let named = line.named.get(name)?;
        let ahead = line.tickets.iter().position(|ticket| *ticket == named.ticket)?;
        Some(Standing { ahead, done: named.done, all: named.all })
    }
}

impl Turn {
    /// Notes how far the run is.
    pub(crate) fn progress(&self, done: usize, all: usize) {
        let Some(name) = &self.ticket.name else { return };
        if let Some(named) = lock(&self.ticket.line).named.get_mut(name) {
            (named.done, named.all) = (done, all);
        }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut line = lock(&self.line);
        line.tickets.retain(|ticket| *ticket != self.number);
        // A later run may have taken the name over.
        if let Some(name) = &self.name
            && line.named.get(name).is_some_and(|named| named.ticket == self.number)
        {
            line.named.remove(name);
        }
    }
}

/// Nothing that holds the lock can panic half-way.
fn lock(line: &Mutex<Line>) -> std::sync::MutexGuard<'_, Line> {
    line.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(name: &str) -> RunName {
        name.to_owned().try_into().expect("a name")
    }

    #[tokio::test]
    async fn a_run_knows_who_is_before_it_and_how_far_it_is() {
        let queue = Arc::new(Queue::new());
        let first = queue.turn(Some(name("a"))).await.expect("the line is empty");
        first.progress(3, 30);
        assert_eq!(queue.standing(&name("a")), Some(Standing { ahead: 0, done: 3, all: 30 }));

        let waiting = queue.clone();
        let second = tokio::spawn(async move { waiting.turn(Some(name("b"))).await.map(drop) });
        while queue.standing(&name("b")).is_none() {
            tokio::task::yield_now().await;
        }
        assert_eq!(queue.standing(&name("b")).map(|standing| standing.ahead), Some(1));
        drop(first);
        assert_eq!(queue.standing(&name("a")), None);
        second.await.expect("it ran").expect("it had its turn");
        assert_eq!(queue.standing(&name("b")), None);
    }

    #[tokio::test]
    async fn whoever_leaves_gives_the_place_up() {
        let queue = Arc::new(Queue::new());
        let first = queue.turn(None).await.expect("the line is empty");
        let waiting = queue.clone();
        let second = tokio::spawn(async move { waiting.turn(Some(name("b"))).await.map(drop) });
        while queue.standing(&name("b")).is_none() {
            tokio::task::yield_now().await;
        }
        second.abort();
        assert!(second.await.is_err_and(|error| error.is_cancelled()));
        assert_eq!(queue.standing(&name("b")), None);
        drop(first);
        queue.turn(None).await.expect("nobody is left before it");
    }

    #[test]
    fn a_name_fits_into_an_address() {
        for wrong in ["", "a b", "ä", "a\n", &"x".repeat(65)] {
            assert!(RunName::try_from(wrong.to_owned()).is_err(), "{wrong:?}");
        }
        assert!(RunName::try_from("x".repeat(64)).is_ok());
    }
}
