//! Threads for what looks at every weight of a map or of a head, apart from those that run models.
//!
//! On one pool, a map would wait until the statistics of a long text are done: a pool gives its threads to what is
//! begun, not to what is short. So maps that a reader waits for have threads of their own, and long work has others,
//! which stand back while there are such maps.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use attnscope_inspect::Wanted;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::work::Waiting;

/// How long a block of long work stands back at most, so that a reader who never rests slows it down and no more.
const STAND_BACK: Duration = Duration::from_millis(20);

/// Both lanes. Without the threads for one, its work is done on the common ones.
pub(crate) struct Lanes {
    quick: Option<ThreadPool>,
    long: Option<ThreadPool>,
    looking: Looking,
}

impl Lanes {
    pub(crate) fn new() -> Self {
        Self { quick: pool("quick"), long: pool("long"), looking: Looking::default() }
    }

    /// Does what a reader looks at as soon as it is there, for as long as they do.
    pub(crate) fn quick<T: Send>(&self, waiting: &Waiting, work: impl FnOnce(Wanted) -> T + Send) -> T {
        let _look = self.looking.begin();
        let still = || waiting.still();
        on(self.quick.as_ref(), || work(Wanted::while_true(&still)))
    }

    /// Does what takes its time, for as long as somebody waits for it.
    pub(crate) fn long<T: Send>(&self, waiting: &Waiting, work: impl FnOnce(Wanted) -> T + Send) -> T {
        let still = || {
            self.looking.stand_back();
            waiting.still()
        };
        on(self.long.as_ref(), || work(Wanted::while_true(&still)))
    }
}

/// As many threads as the common pool has.
fn pool(name: &'static str) -> Option<ThreadPool> {
    let threads = ThreadPoolBuilder::new().num_threads(rayon::current_num_threads());
    let pool = threads.thread_name(move |index| format!("{name} {index}")).build();
    pool.inspect_err(|error| tracing::warn!(%error, "no threads of their own for {name} work")).ok()
}

fn on<T: Send>(pool: Option<&ThreadPool>, work: impl FnOnce() -> T + Send) -> T {
    match pool {
        Some(pool) => pool.install(work),
        None => work(),
    }
}

/// How many maps are being made that readers look at.
#[derive(Default)]
struct Looking {
    count: Mutex<usize>,
    fewer: Condvar,
}

struct Look<'a>(&'a Looking);

impl Looking {
    fn begin(&self) -> Look<'_> {
        *self.lock() += 1;
        Look(self)
    }

    fn stand_back(&self) {
        drop(self.fewer.wait_timeout_while(self.lock(), STAND_BACK, |count| *count > 0));
    }

    /// A count is never left half changed.
    fn lock(&self) -> MutexGuard<'_, usize> {
        self.count.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Look<'_> {
    fn drop(&mut self) {
        let mut count = self.0.lock();
        *count -= 1;
        if *count == 0 {
            self.0.fewer.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    use std::time::Instant;

    use rayon::prelude::*;

    use super::*;
    use crate::work::Asker;

    #[test]
    fn quick_work_does_not_wait_for_long_work() {
        let (lanes, enough, blocks) = (Lanes::new(), AtomicBool::new(false), AtomicUsize::new(0));
        let asker = Asker::new(Arc::default());
        let waiting = asker.waiting();
        std::thread::scope(|scope| {
            let long = scope.spawn(|| {
                lanes.long(&waiting, |wanted| {
                    (0..usize::MAX).into_par_iter().try_for_each(|_| {
                        std::thread::sleep(Duration::from_millis(1));
                        blocks.fetch_add(1, Ordering::Relaxed);
                        wanted.check().ok().filter(|()| !enough.load(Ordering::Relaxed))
                    })
                })
            });
            while blocks.load(Ordering::Relaxed) == 0 {
                std::thread::yield_now();
            }
            let begun = Instant::now();
            assert_eq!(lanes.quick(&waiting, |_| (0..100).into_par_iter().sum::<i32>()), 4950);
            assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
            enough.store(true, Ordering::Relaxed);
            assert_eq!(long.join().expect("no panic"), None);
        });
    }

    #[test]
    fn long_work_stands_back_but_goes_on() {
        let looking = Looking::default();
        let begun = Instant::now();
        looking.stand_back();
        assert!(begun.elapsed() < STAND_BACK, "nobody looks");
        let look = looking.begin();
        let begun = Instant::now();
        looking.stand_back();
        assert!(begun.elapsed() >= STAND_BACK, "somebody looks");
        drop(look);
        assert_eq!(*looking.lock(), 0);
    }
}
