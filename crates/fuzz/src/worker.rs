//! The process that reads one input after another.

use std::fs::{self, File};
use std::io::Write;
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use crate::input::{Input, Stage, seeds};
use crate::memory::{allowed, taken};
use crate::mutate::Mutator;
use crate::target::Target;

/// The file in which a worker says which input it reads.
pub(crate) const AT: &str = "at";

/// The stack that a thread of the server has, in bytes. Who recurses as deep as a file says overflows it.
const STACK: usize = 2 << 20;

/// Why an input is at fault, and whether reading it went well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was read.
    Read,
    /// It was refused in words.
    Refused,
    /// A panic: where, and its words.
    Panicked(String),
    /// It took more memory than its size can justify: so many bytes.
    Greedy(usize),
}

impl Outcome {
    /// What is at fault, in one line.
    pub fn fault(&self) -> Option<String> {
        match self {
            Self::Read | Self::Refused => None,
            Self::Panicked(words) => Some(format!("panic: {words}")),
            Self::Greedy(bytes) => Some(format!("memory: {bytes} bytes")),
        }
    }
}

static PANIC: Mutex<String> = Mutex::new(String::new());

/// Whether an input is being read, so that a panic is its own.
static READING: AtomicBool = AtomicBool::new(false);

/// Panics of reading are kept, and not printed.
pub fn quiet() {
    let before = panic::take_hook();
    panic::set_hook(Box::new(move |panic| match READING.load(Relaxed) {
        true => *PANIC.lock().unwrap_or_else(PoisonError::into_inner) = panic.to_string().replace('\n', " "),
        false => before(panic),
    }));
}

/// Reads what lies in a folder, which is so many bytes long.
pub fn read(target: Target, folder: &Path, size: usize) -> Outcome {
    READING.store(true, Relaxed);
    let (done, bytes) = taken(|| panic::catch_unwind(AssertUnwindSafe(|| target.open(folder))));
    READING.store(false, Relaxed);
    match done {
        Err(_) => Outcome::Panicked(PANIC.lock().unwrap_or_else(PoisonError::into_inner).clone()),
        Ok(_) if bytes > allowed(size) => Outcome::Greedy(bytes),
        Ok(true) => Outcome::Read,
        Ok(false) => Outcome::Refused,
    }
}

/// A stretch of inputs for a worker.
#[derive(Clone, Debug)]
pub struct Stretch<'a> {
    /// What is tried.
    pub target: Target,
    /// What inputs follow from, with their number.
    pub seed: u64,
    /// The first number.
    pub from: u64,
    /// The one after the last.
    pub to: u64,
    /// Where inputs are laid out, and where the worker says how far it is.
    pub folder: &'a Path,
}

/// Reads a stretch of inputs. Each fault is a line on standard output, `number fault`; the last line is `done` with the
/// numbers of inputs that were read and refused.
///
/// # Errors
/// If inputs cannot be laid out.
pub fn work(stretch: &Stretch, out: &mut (impl Write + Send)) -> anyhow::Result<()> {
    quiet();
    let mutator = Mutator::new(seeds(stretch.target)?);
    on_a_small_stack(|| {
        let mut at = File::create(stretch.folder.join(AT))?;
        let stage = stretch.folder.join("input");
        fs::create_dir_all(&stage)?;
        let mut stage = Stage::new(stage);
        let (mut well, mut refused) = (0u64, 0u64);
        for number in stretch.from..stretch.to {
            std::io::Seek::rewind(&mut at)?;
            at.write_all(&number.to_le_bytes())?;
            let input = mutator.make((stretch.seed, number), |_| true);
            match read(stretch.target, stage.lay(&input)?, input.size()) {
                Outcome::Read => well += 1,
                Outcome::Refused => refused += 1,
                other => writeln!(out, "{number} {}", other.fault().unwrap_or_default())?,
            }
        }
        writeln!(out, "done {well} {refused}")?;
        Ok(())
    })
}

/// Reads one input that lies in a folder, and prints what is at fault with it.
///
/// # Errors
/// If it cannot be laid out.
pub fn once(target: Target, folder: &Path, out: &mut (impl Write + Send)) -> anyhow::Result<()> {
    quiet();
    on_a_small_stack(|| {
        let input = Input::load(folder, target)?;
        let stage = tempfile::tempdir()?;
        // The first reading of all fills caches, which count as taken.
        for seed in seeds(target)?.iter().take(1) {
            let folder = tempfile::tempdir()?;
            read(target, Stage::new(folder.path().to_owned()).lay(seed)?, seed.size());
        }
        let outcome = read(target, Stage::new(stage.path().to_owned()).lay(&input)?, input.size());
        writeln!(out, "{}", outcome.fault().unwrap_or_else(|| format!("{outcome:?}")))?;
        Ok(())
    })
}

fn on_a_small_stack(work: impl FnOnce() -> anyhow::Result<()> + Send) -> anyhow::Result<()> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work)?;
        thread.join().unwrap_or_else(|_| anyhow::bail!("the worker itself panicked"))
    })
}
