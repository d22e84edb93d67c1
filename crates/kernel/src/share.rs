//! Work for all threads of the pool, taken in order: for whoever computes beside the kernel too.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::linger::{busy, linger, patiently};

/// Does all of `work`, each with what `room` makes for a thread. Work comes in groups: a thread takes a whole group after
/// another, in order, so that what a group's work reads stays in its own caches; when none is left, it helps with those
/// of others. The thread that asks works too instead of waiting to be woken, with all of the pool but one beside it: short
/// operations are over before a thread has changed twice. Threads outside of the pool that ask at the same time each
/// work beside it.
pub fn share<W: Send, R>(work: Vec<Vec<W>>, room: impl Fn() -> R + Sync, each: impl Fn(&mut R, W) + Sync) {
    share_ahead(work, room, |room, work, _| each(room, work));
}

/// [`share`], where `each` is also told which group its thread will most likely go on to, so that it can ask memory for what
/// that needs; `None` where it helps with those of others.
pub(crate) fn share_ahead<W: Send, R>(
    work: Vec<Vec<W>>,
    room: impl Fn() -> R + Sync,
    each: impl Fn(&mut R, W, Option<usize>) + Sync,
) {
    let threads = rayon::current_num_threads().min(work.iter().map(Vec::len).sum());
    let groups: Vec<_> = work.into_iter().map(|group| Mutex::new(group.into_iter())).collect();
    let next = AtomicUsize::new(0);
    let some = || {
        // Who comes too late for any work makes no room for it.
        let mut mine = None;
        let own = || {
            let at = next.fetch_add(1, Ordering::Relaxed);
            // The threads take turns, more or less.
            groups.get(at).map(|group| (group, Some(at + threads)))
        };
        for (group, after) in std::iter::from_fn(own).chain(groups.iter().map(|group| (group, None))) {
            loop {
                // Not held while the work is done.
                let next = group.lock().unwrap_or_else(PoisonError::into_inner).next();
                let Some(next) = next else { break };
                each(mine.get_or_insert_with(&room), next, after);
            }
        }
    };
    let away = AtomicUsize::new(threads.saturating_sub(1));
    busy(|| {
        rayon::in_place_scope(|scope| {
            for _ in 1..threads {
                scope.spawn(|_| {
                    some();
                    linger();
                    away.fetch_sub(1, Ordering::Release);
                });
            }
            some();
            // A thread of the pool does other work while it waits for the scope's end; any other would sleep.
            if rayon::current_thread_index().is_none() {
                patiently(|| away.load(Ordering::Acquire) > 0);
            }
        })
    });
}

/// What `each` finds for every number below `count`, in order; a thread takes `piece` of them at a time.
pub(crate) fn found<T: Send, R>(
    count: usize,
    piece: usize,
    room: impl Fn() -> R + Sync,
    each: impl Fn(&mut R, usize) -> T + Sync,
) -> Vec<T> {
    let mut found: Vec<Option<T>> = (0..count).map(|_| None).collect();
    let pieces = found.chunks_mut(piece).enumerate().collect();
    share(vec![pieces], room, |room, (at, places)| {
        for (place, at) in places.iter_mut().zip(at * piece..) {
            *place = Some(each(room, at));
        }
    });
    found.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Barrier, mpsc};
    use std::time::Duration;

    use super::{found, share};

    #[test]
    fn everything_is_done_once_by_no_more_threads_than_the_pool_has() {
        for threads in [1, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            for len in [0, 1, 2, 500] {
                let (rooms, done) = (AtomicUsize::new(0), (0..len).map(|_| AtomicUsize::new(0)).collect::<Vec<_>>());
                let room = || rooms.fetch_add(1, Ordering::Relaxed);
                pool.install(|| {
                    let groups = (0..len).step_by(7).map(|first| (first..len.min(first + 7)).collect()).collect();
                    share(groups, room, |_, at: usize| {
                        done[at].fetch_add(1, Ordering::Relaxed);
                    });
                });
                assert!(done.iter().all(|done| done.load(Ordering::Relaxed) == 1), "{threads} threads, {len} pieces");
                assert!(rooms.load(Ordering::Relaxed) <= threads.max(1));
            }
        }
    }

    #[test]
    fn what_is_found_has_its_place() {
        for threads in [1, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            for (count, piece) in [(0, 8), (1, 8), (7, 8), (8, 8), (1003, 8), (50, 1)] {
                let squares = || found(count, piece, || 2, |power, at| (at as u64).pow(*power));
                let want: Vec<_> = (0..count as u64).map(|at| at * at).collect();
                assert_eq!(pool.install(squares), want);
                assert_eq!(squares(), want, "from outside");
            }
        }
    }

    /// The other thread is at something else for long, so that who asks does all, and what was meant for the other too.
    #[test]
    fn who_asks_does_not_wait_for_more() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let (begun, begins) = mpsc::channel();
        let (ends, ended) = mpsc::channel::<()>();
        pool.spawn(move || {
            begun.send(()).unwrap();
            // Until the test is over, or has failed.
            let _ = ended.recv_timeout(Duration::from_secs(10));
        });
        begins.recv().unwrap();
        pool.install(|| {
            share(vec![(0..9).collect()], || (), |(), _: usize| ());
            assert_eq!(rayon::yield_now(), Some(rayon::Yield::Idle), "nothing is left to do");
        });
        drop(ends);
    }

    /// Whichever thread it falls on.
    #[test]
    fn a_panic_goes_to_who_asked_and_the_pool_goes_on() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let both = Barrier::new(2);
        for who_asks_falls in [true, false] {
            let fall = || {
                let asks = std::thread::current().id();
                share(
                    vec![vec![(), ()]],
                    || (),
                    |(), ()| {
                        both.wait();
                        assert!((std::thread::current().id() == asks) != who_asks_falls, "as asked");
                    },
                );
            };
            assert!(catch_unwind(AssertUnwindSafe(|| pool.install(fall))).is_err());
            assert_eq!(pool.install(|| found(3, 1, || (), |(), at| at)), [0, 1, 2]);
        }
    }
}
