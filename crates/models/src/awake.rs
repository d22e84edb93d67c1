//! Keeping the pool's threads awake over a run of many short pieces of work: every run of a model.

use attnscope_kernel::{busy, linger};

/// Does `work` on a thread of the pool, while the others wait for their share of it without going to sleep. From outside the
/// pool each product would be handed over and waited for, which is felt even where a text is long. A new token is hundreds of
/// products of some ten microseconds with a little between them: about as long as a thread takes to wake up. Nobody waits for
/// those that wait: a thread that is busy elsewhere holds up no token. Nor does the thread of `work` wait for anything but its
/// own shares.
///
/// While `work` waits for its share, its thread may do another's, another's `awake` included. So it must hold no lock there
/// that another's takes too.
pub(crate) fn awake<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    rayon::scope(|_| {
        rayon::spawn_broadcast(|_| linger());
        busy(work)
    })
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use rayon::prelude::*;

    use super::awake;

    /// Askers that come at once, from without and from within, each with work for all threads.
    #[test]
    fn many_at_once_and_one_in_another_come_to_an_end() {
        let sum = || (0..1000u64).into_par_iter().map(|x| x * x).sum::<u64>();
        let ask = || (0..20).map(|_| awake(|| sum() + awake(sum))).sum::<u64>();
        let all: Vec<u64> = std::thread::scope(|scope| {
            let asked: Vec<_> = (0..4).map(|_| scope.spawn(ask)).collect();
            asked.into_iter().map(|asked| asked.join().unwrap()).collect()
        });
        assert_eq!(all, [40 * sum(); 4]);
    }

    /// A pool of two, one of which is at something else for long.
    #[test]
    fn a_thread_that_is_busy_elsewhere_holds_nothing_up() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let (begun, begins) = std::sync::mpsc::channel();
        let (ends, ended) = std::sync::mpsc::channel::<()>();
        pool.spawn(move || {
            begun.send(()).unwrap();
            // Until the test is over, or has failed.
            let _ = ended.recv_timeout(Duration::from_secs(10));
        });
        begins.recv().unwrap();
        let start = Instant::now();
        assert_eq!(pool.install(|| awake(|| 1)), 1);
        assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
        drop(ends);
    }

    #[test]
    fn a_panic_goes_to_who_asked_and_the_pool_goes_on() {
        let fell = std::panic::catch_unwind(|| awake(|| -> u32 { panic!("as asked") }));
        assert!(fell.is_err());
        assert_eq!(awake(|| 1), 1);
    }

    /// Its own thread, that is, not even in its waiting for others: it would be back late.
    #[test]
    fn who_asks_does_not_linger() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        pool.install(|| {
            awake(|| {
                assert_eq!(rayon::yield_now(), Some(rayon::Yield::Executed), "what all threads were told");
                assert_eq!(rayon::yield_now(), Some(rayon::Yield::Idle), "nothing came of it");
            });
        });
    }
}
