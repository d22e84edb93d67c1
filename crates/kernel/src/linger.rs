//! Waiting without going to sleep. A thread takes as long to wake up as a short operation takes, and where operations follow
//! one another none has slept for long.

use std::cell::Cell;
use std::hint::spin_loop;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rayon::Yield;

/// How long a thread waits for work before it may sleep after all.
const PATIENCE: Duration = Duration::from_micros(200);

thread_local! {
    /// Whether what this thread spawned to wait in is still to come or to end. Any thread of the pool may take it up.
    static LINGERS: Arc<AtomicBool> = Arc::default();
    /// How many pieces of work this thread is in the midst of.
    static BUSY: Cell<usize> = const { Cell::new(0) };
}

/// Lets this thread of a pool, when it has done what it is at, wait a while for more without going to sleep: for anybody's
/// work, not the kernel's alone. Elsewhere, and in the midst of what is [`busy`], nothing happens.
///
/// It waits as a piece of work among others, and only until it has done one of them; then it does so anew. So a thread that
/// takes this up while it waits for something itself, and does not say that it is busy, is back after one piece of work or
/// so long a while, to see whether that has come.
pub fn linger() {
    if rayon::current_thread_index().is_none() || BUSY.get() > 0 {
        return;
    }
    let lingers = LINGERS.with(Arc::clone);
    if lingers.swap(true, Ordering::Relaxed) {
        return;
    }
    rayon::spawn(move || {
        let since = Instant::now();
        let mut worked = false;
        // Another thread may have taken this up, one that has something to get back to.
        while BUSY.get() == 0 && !worked && since.elapsed() < PATIENCE {
            spin_loop();
            worked = rayon::yield_now() == Some(Yield::Executed);
        }
        lingers.store(false, Ordering::Relaxed);
        if worked {
            linger();
        }
    });
}

/// Does `work`, for parts of which this thread may wait: meanwhile it does the work of others, but does not linger.
pub fn busy<R>(work: impl FnOnce() -> R) -> R {
    struct Less;
    impl Drop for Less {
        fn drop(&mut self) {
            BUSY.set(BUSY.get() - 1);
        }
    }
    BUSY.set(BUSY.get() + 1);
    let _less = Less;
    work()
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

    use super::{LINGERS, PATIENCE, busy, linger};

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

    /// Though it is another that waited.
    #[test]
    fn a_thread_whose_wait_another_took_up_lingers_again() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let lingers = || LINGERS.with(|lingers| lingers.load(Ordering::Relaxed));
        pool.install(|| {
            let begun = Instant::now();
            linger();
            // This thread takes nothing up, so the other does.
            while lingers() && begun.elapsed() < Duration::from_secs(10) {
                thread::sleep(Duration::from_millis(1));
            }
            assert!(!lingers());
        });
    }

    #[test]
    fn who_is_busy_does_not_linger() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        pool.install(|| {
            let fell = std::panic::catch_unwind(|| {
                busy(|| {
                    busy(|| ());
                    linger();
                    assert_eq!(rayon::yield_now(), Some(rayon::Yield::Idle), "nothing was spawned");
                    panic!("as asked");
                })
            });
            assert_eq!(fell.unwrap_err().downcast_ref(), Some(&"as asked"));
            linger();
            assert_eq!(rayon::yield_now(), Some(rayon::Yield::Executed));
            assert_eq!(rayon::yield_now(), Some(rayon::Yield::Idle), "without work it ends");
        });
    }

    /// Such as one that it spawned before, or that another thread did.
    #[test]
    fn who_is_busy_is_done_with_a_wait_at_once() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let took = || {
            linger();
            busy(|| {
                let begun = Instant::now();
                assert_eq!(rayon::yield_now(), Some(rayon::Yield::Executed));
                begun.elapsed()
            })
        };
        // The machine may be at something else now and then.
        let least = pool.install(|| (0..50).map(|_| took()).min().unwrap());
        assert!(least < PATIENCE / 2, "{least:?}");
    }
}
