//! Waiting without going to sleep. A thread takes as long to wake up as a short operation takes, and where operations follow
//! one another none has slept for long.

use std::cell::Cell;
use std::hint::spin_loop;
use std::time::{Duration, Instant};

use rayon::Yield;

/// How long a thread waits for work before it may sleep after all.
const PATIENCE: Duration = Duration::from_micros(200);

thread_local! {
    static LINGERS: Cell<bool> = const { Cell::new(false) };
}

/// Lets this thread of a pool, when it has done what it is at, wait a while for more without going to sleep: for anybody's
/// work, not the kernel's alone. Elsewhere nothing happens.
///
/// It waits as a piece of work among others and does one of them at most; only then does it wait again, behind the rest. So a
/// thread that took this up while it waited for something itself is soon back to see whether that has come.
pub fn linger() {
    if rayon::current_thread_index().is_none() || LINGERS.replace(true) {
        return;
    }
    rayon::spawn(|| {
        let since = Instant::now();
        let mut worked = false;
        while !worked && since.elapsed() < PATIENCE {
            spin_loop();
            worked = rayon::yield_now() == Some(Yield::Executed);
        }
        LINGERS.set(false);
        if worked {
            linger();
        }
    });
}

/// Waits while `not_yet`, though only so long, for what has another way to be waited for.
pub(crate) fn patiently(not_yet: impl Fn() -> bool) {
    let since = Instant::now();
    while not_yet() && since.elapsed() < PATIENCE {
        spin_loop();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;
    use std::time::{Duration, Instant};

    use super::linger;

    /// However much others give the pool to do meanwhile.
    #[test]
    fn who_waits_for_something_itself_is_not_kept_from_it() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let (come, seen) = (AtomicBool::new(false), AtomicBool::new(false));
        let begun = Instant::now();
        thread::scope(|scope| {
            scope.spawn(|| {
                pool.install(|| {
                    linger();
                    while !come.load(Ordering::Relaxed) {
                        rayon::yield_now();
                    }
                    seen.store(true, Ordering::Relaxed);
                });
            });
            scope.spawn(|| {
                thread::sleep(Duration::from_millis(50));
                come.store(true, Ordering::Relaxed);
            });
            // One piece of work after the other, until it is seen.
            while !seen.load(Ordering::Relaxed) && begun.elapsed() < Duration::from_secs(10) {
                pool.install(linger);
            }
        });
        assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    }

    /// Nor does the pool wait for ever.
    #[test]
    fn without_work_it_ends() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        pool.broadcast(|_| linger());
        linger();
        // Waits for its threads to end.
        let (told, tell) = std::sync::mpsc::channel();
        thread::spawn(move || {
            drop(pool);
            told.send(())
        });
        assert!(tell.recv_timeout(Duration::from_secs(10)).is_ok());
    }
}
