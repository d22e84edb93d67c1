//! Ctrl-C. It stops every command alike: at once, with a line on standard error and exit code 130. But a file or JSON that is being
//! written is written to its end first, and a command that has something to keep is told, and ends by itself.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::output;

/// Whether it has come.
static ASKED: AtomicBool = AtomicBool::new(false);
/// How many want to be told of it, rather than be ended.
static HEARERS: AtomicUsize = AtomicUsize::new(0);

/// Listens, for as long as the program runs. A second one always ends it.
pub(crate) fn listen() {
    // Where no handler can be set the system's own remains, which ends the program too.
    let _ = ctrlc::set_handler(|| {
        if ASKED.swap(true, Ordering::SeqCst) || HEARERS.load(Ordering::SeqCst) == 0 {
            stopped();
        }
    });
}

/// From now on the first one ends nothing by itself: [`asked`] tells of it.
pub(crate) fn hear() {
    HEARERS.fetch_add(1, Ordering::SeqCst);
}

/// Whether one has come.
pub(crate) fn asked() -> bool {
    ASKED.load(Ordering::SeqCst)
}

/// Does what must not be cut off, and is then ended if one has come meanwhile.
pub(crate) fn whole<T>(work: impl FnOnce() -> T) -> T {
    hear();
    let done = work();
    if HEARERS.fetch_sub(1, Ordering::SeqCst) == 1 && asked() {
        stopped();
    }
    done
}

fn stopped() -> ! {
    output::complain_afresh("stopped");
    std::process::exit(130);
}
