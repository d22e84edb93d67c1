//! Ctrl-C, where there is something to finish or to keep.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether an interrupt has come, from now on. The first ends nothing by itself; a second one ends the program.
pub(crate) fn listen() -> anyhow::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    let stopping = stop.clone();
    ctrlc::set_handler(move || {
        if stopping.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    })?;
    Ok(stop)
}
