//! The process that watches workers: it starts one after another, and keeps what ended one.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context;

use crate::input::seeds;
use crate::mutate::Mutator;
use crate::target::Target;
use crate::worker::AT;

/// One input may take so long on the processor, and so long in all: others may be using the machine.
const BUSY: Duration = Duration::from_secs(5);
const WAITED: Duration = Duration::from_secs(180);

/// Of faults that read alike, so many are kept.
const ALIKE: usize = 2;

/// What is to be tried.
#[derive(Clone, Debug)]
pub struct Hunt {
    /// The reader.
    pub target: Target,
    /// How many inputs.
    pub runs: u64,
    /// What they follow from, with their number.
    pub seed: u64,
    /// The number of the first.
    pub first: u64,
    /// Where inputs at fault are kept.
    pub keep: PathBuf,
}

/// What came of it.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Inputs that were read.
    pub read: u64,
    /// Inputs that were refused.
    pub refused: u64,
    /// Faults, and how many inputs had each.
    pub faults: BTreeMap<String, u64>,
}

/// What a worker left.
struct Work {
    /// Its lines.
    lines: Vec<String>,
    /// If it did not come to its end, which input ended it, and how.
    ended: Option<(u64, String)>,
}

impl Hunt {
    /// Tries every input. `say` is called with what is worth knowing meanwhile.
    ///
    /// # Errors
    /// If a worker cannot be started, or an input not be kept.
    pub fn run(&self, mut say: impl FnMut(&str)) -> anyhow::Result<Tally> {
        let room = tempfile::Builder::new().prefix("attnscope-fuzz-").tempdir_in(memory_folder())?;
        let mutator = Mutator::new(seeds(self.target)?);
        let (mut tally, mut next, end) = (Tally::default(), self.first, self.first + self.runs);
        // A worker that is started anew now and then leaves nothing behind that could add up.
        const STRETCH: u64 = 50_000;
        while next < end {
            let to = end.min(next + STRETCH);
            let Work { lines, ended } = self.stretch(room.path(), next, to)?;
            let mut faults = Vec::new();
            for line in lines {
                let (number, fault) = line.split_once(' ').unwrap_or_default();
                match (number, fault.split_once(' ')) {
                    ("done", Some((read, refused))) => {
                        tally.read += read.parse::<u64>()?;
                        tally.refused += refused.parse::<u64>()?;
                    }
                    _ => faults.push((number.parse::<u64>()?, fault.to_owned())),
                }
            }
            next = to;
            if let Some((number, fault)) = ended {
                faults.push((number, fault));
                next = number + 1;
            }
            for (number, fault) in faults {
                let count = tally.faults.entry(alike(&fault)).or_default();
                *count += 1;
                if *count <= ALIKE as u64 {
                    let folder = self.keep_smaller(&mutator, number, &fault, room.path())?;
                    say(&format!("{}: {fault}", folder.display()));
                }
            }
            say(&format!("{} {next} of {end}, {} faults", self.target.name(), tally.faults.values().sum::<u64>()));
        }
        Ok(tally)
    }

    /// Lets a worker read a stretch.
    fn stretch(&self, room: &Path, from: u64, to: u64) -> anyhow::Result<Work> {
        let _ = fs::remove_dir_all(room.join("input"));
        fs::write(room.join(AT), from.to_le_bytes())?;
        let mut command = self.worker(&["work", self.target.name()]);
        command.args(["--seed", &self.seed.to_string(), "--from", &from.to_string(), "--to", &to.to_string()]);
        let mut child = command.arg("--folder").arg(room).spawn().context("cannot start a worker")?;
        let out = BufReader::new(child.stdout.take().context("a worker has no output")?);
        let lines = std::thread::spawn(move || out.lines().collect::<Result<Vec<_>, _>>());
        let at =
            || -> u64 { fs::read(room.join(AT)).ok().and_then(|b| b.try_into().ok()).map_or(from, u64::from_le_bytes) };
        let late = watch(&mut child, at)?;
        let status = child.wait()?;
        let lines = lines.join().unwrap_or_else(|_| Ok(Vec::new()))?;
        let ended = match late {
            Some(how) => Some((at(), how)),
            None if status.success() => None,
            None => Some((at(), format!("the process ended: {status}"))),
        };
        Ok(Work { lines, ended })
    }

    fn worker(&self, args: &[&str]) -> Command {
        let mut command = Command::new(std::env::current_exe().unwrap_or_else(|_| "attnscope-fuzz".into()));
        // One thread: an input's cost is then its own, and small things are not handed about.
        command.args(args).env("RAYON_NUM_THREADS", "1").env("CANDLE_NUM_THREADS", "1").env_remove("RUST_BACKTRACE");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        command
    }

    /// Keeps an input at fault, without those of its steps that the fault does not need.
    fn keep_smaller(&self, mutator: &Mutator, number: u64, fault: &str, room: &Path) -> anyhow::Result<PathBuf> {
        let id = (self.seed, number);
        let (seed, steps) = mutator.begin(id);
        let mut wanted = vec![true; steps];
        for step in 0..steps {
            wanted[step] = false;
            let smaller = room.join("smaller");
            let _ = fs::remove_dir_all(&smaller);
            mutator.make(id, |step| wanted[step]).save(&smaller, seed)?;
            if alike(&self.fault(&smaller)?) != alike(fault) {
                wanted[step] = true;
            }
        }
        let folder = self.keep.join(self.target.name()).join(format!("found-{}-{number}", self.seed));
        mutator.make(id, |step| wanted[step]).save(&folder, seed)?;
        fs::write(folder.join("fault.txt"), format!("{fault}\n"))?;
        Ok(folder)
    }

    /// What is at fault with an input in a folder, as a worker of its own finds.
    fn fault(&self, folder: &Path) -> anyhow::Result<String> {
        let mut child = self.worker(&["once", self.target.name()]).arg(folder).spawn()?;
        let late = watch(&mut child, || 0)?;
        let output = child.wait_with_output()?;
        Ok(match late {
            Some(how) => how,
            None if output.status.success() => String::from_utf8_lossy(&output.stdout).trim().to_owned(),
            None => format!("the process ended: {}", output.status),
        })
    }
}

/// A fault without the numbers in it.
fn alike(fault: &str) -> String {
    let words = fault.split(|c: char| c.is_ascii_digit() || c == '"').filter(|part| !part.is_empty());
    words.take(6).collect::<Vec<_>>().join("#")
}

/// Waits for a worker. One that stays too long at the same input is ended, and it is said how it was late.
fn watch(child: &mut Child, at: impl Fn() -> u64) -> anyhow::Result<Option<String>> {
    let (mut last, mut since, mut used) = (at(), Instant::now(), processor(child));
    loop {
        if child.try_wait()?.is_some() {
            return Ok(None);
        }
        std::thread::sleep(Duration::from_millis(20));
        let now = at();
        if now != last {
            (last, since, used) = (now, Instant::now(), processor(child));
            continue;
        }
        let busy = processor(child).zip(used).is_some_and(|(now, then)| now.saturating_sub(then) > BUSY);
        if busy || since.elapsed() > WAITED {
            child.kill()?;
            return Ok(Some("it takes too long".to_owned()));
        }
    }
}

/// The time that a process has had on the processor; none where the system does not say.
fn processor(child: &Child) -> Option<Duration> {
    let stat = fs::read_to_string(format!("/proc/{}/stat", child.id())).ok()?;
    // The name, in brackets, may hold blanks; user and system time are the 12th and 13th field after it.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<u64>().ok();
    // A tick is a hundredth of a second wherever Linux runs.
    Some(Duration::from_millis(10 * (ticks()? + ticks()?)))
}

/// A folder in memory where there is one: files are written for every input.
fn memory_folder() -> PathBuf {
    let memory = PathBuf::from("/dev/shm");
    if memory.is_dir() { memory } else { std::env::temp_dir() }
}
