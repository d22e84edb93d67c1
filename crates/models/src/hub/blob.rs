//! One file, fetched: it comes under another name, goes on from where it stopped, and gets its own name once it is
//! whole and proven.

use std::fs::{self, File, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use super::cache::Repo;
use super::client::{Client, TRIES, pause};
use super::digest::Sum;
use super::failure::Failure;
use super::{Event, Watch};

/// Read and written at a time.
const PIECE: usize = 256 << 10;

/// A file as the Hub announces it.
pub(super) struct Blob {
    pub(super) name: String,
    pub(super) etag: String,
    pub(super) size: u64,
}

impl Blob {
    /// Whether all of it is in the cache.
    pub(super) fn is_here(&self, repo: &Repo) -> bool {
        fs::metadata(repo.blob(&self.etag)).is_ok_and(|file| file.is_file() && file.len() == self.size)
    }
}

/// Brings a file into the cache unless it is there. `moves` is told how many of its bytes are here, and ends it by
/// returning false.
pub(super) fn fetch(
    client: &Client,
    repo: &Repo,
    blob: &Blob,
    url: &str,
    watch: Watch,
    moves: &dyn Fn(u64) -> bool,
) -> Result<(), Failure> {
    let (whole, part) = (repo.blob(&blob.etag), repo.incomplete(&blob.etag));
    let here = || if moves(blob.size) { Ok(()) } else { Err(Failure::Stopped) };
    if blob.is_here(repo) {
        return here();
    }
    for folder in [whole.parent(), repo.lock(&blob.etag).parent()].into_iter().flatten() {
        fs::create_dir_all(folder).map_err(|error| unwritten(folder, &error))?;
    }
    // Unlocked when it is dropped, or the process ends in whatever way.
    let _lock = lock(&repo.lock(&blob.etag), blob, watch)?;
    // Whoever held it may have brought it.
    if blob.is_here(repo) {
        return here();
    }
    loop {
        let mut coming = Coming::open(&part, blob, watch)?;
        coming.fill(client, url, watch, moves)?;
        coming.file.sync_all().map_err(|error| unwritten(&part, &error))?;
        if coming.sum.is(&blob.etag) {
            return fs::rename(&part, &whole).map_err(|error| unwritten(&whole, &error));
        }
        fs::remove_file(&part).map_err(|error| unwritten(&part, &error))?;
        if coming.is_new {
            let problem = "what came is not what the Hub announced (its checksum is another) and was removed; try again, \
                           and if that changes nothing, a proxy or mirror in between spoils it";
            return Err(Failure::Lasting(problem.to_owned()));
        }
        // The part that lay here may be to blame.
        watch(Event::Says(&format!("{}: what was here of it was spoiled; fetching it anew", blob.name)));
    }
}

/// A file that is not whole yet.
struct Coming<'a> {
    blob: &'a Blob,
    path: &'a Path,
    file: File,
    here: u64,
    sum: Sum,
    /// Nothing of it lay here before.
    is_new: bool,
}

impl<'a> Coming<'a> {
    /// Opens what is here of a file, and sums it up.
    fn open(path: &'a Path, blob: &'a Blob, watch: Watch) -> Result<Self, Failure> {
        let file = File::options().read(true).write(true).create(true).truncate(false).open(path);
        let file = file.map_err(|error| unwritten(path, &error))?;
        let mut here = file.metadata().map_err(|error| unwritten(path, &error))?.len();
        if here > blob.size {
            file.set_len(0).map_err(|error| unwritten(path, &error))?;
            here = 0;
        }
        let sum = Sum::new(&blob.etag, blob.size);
        let mut coming = Self { blob, path, file, here: 0, sum, is_new: here == 0 };
        let mut piece = vec![0; PIECE];
        while coming.here < here {
            let n = coming.file.read(&mut piece).map_err(|error| unwritten(path, &error))?;
            if n == 0 {
                break;
            }
            coming.sum.add(&piece[..n]);
            coming.here += n as u64;
            if !watch(Event::Waits) {
                return Err(Failure::Stopped);
            }
        }
        Ok(coming)
    }

    /// Fetches until it is all here; gives up when several tries in a row bring nothing.
    fn fill(&mut self, client: &Client, url: &str, watch: Watch, moves: &dyn Fn(u64) -> bool) -> Result<(), Failure> {
        let mut tries = 0;
        while self.here < self.blob.size {
            let before = self.here;
            let problem = match self.pour(client, url, moves) {
                Ok(()) if self.here == self.blob.size => break,
                Ok(()) => Failure::Passing("the connection ended before the file did".to_owned()),
                Err(problem) if problem.is_passing() => problem,
                Err(problem) => return Err(problem),
            };
            tries = if self.here > before { 1 } else { tries + 1 };
            if tries >= TRIES {
                return Err(problem);
            }
            if let Failure::Passing(why) | Failure::Unreachable(why) = &problem {
                let (name, here, seconds) = (&self.blob.name, self.here, client.patience().as_secs());
                let why = if why.starts_with("nothing came") { format!("{why} for {seconds} s") } else { why.clone() };
                watch(Event::Says(&format!("{name}: {why}; going on from byte {here}")));
            }
            pause(tries, watch)?;
        }
        if moves(self.here) { Ok(()) } else { Err(Failure::Stopped) }
    }

    /// Writes what one answer brings.
    fn pour(&mut self, client: &Client, url: &str, moves: &dyn Fn(u64) -> bool) -> Result<(), Failure> {
        let (begins, mut body) = match client.open(url, self.here) {
            // It has no such part.
            Err(Failure::Status(416, _)) if self.here > 0 => client.open(url, 0)?,
            opened => opened?,
        };
        if begins != self.here {
            self.restart()?;
        }
        self.file.seek(SeekFrom::Start(self.here)).map_err(|error| unwritten(self.path, &error))?;
        let mut piece = vec![0; PIECE];
        loop {
            let n = body.read(&mut piece)?;
            if n == 0 {
                return Ok(());
            }
            if n as u64 > self.blob.size - self.here {
                self.restart()?;
                let size = self.blob.size;
                return Err(Failure::Lasting(format!(
                    "the Hub announced {size} bytes and sends more; nothing of it was kept"
                )));
            }
            self.file.write_all(&piece[..n]).map_err(|error| unwritten(self.path, &error))?;
            self.sum.add(&piece[..n]);
            self.here += n as u64;
            if !moves(self.here) {
                return Err(Failure::Stopped);
            }
        }
    }

    /// From the first byte again.
    fn restart(&mut self) -> Result<(), Failure> {
        self.file.set_len(0).map_err(|error| unwritten(self.path, &error))?;
        (self.here, self.is_new, self.sum) = (0, true, Sum::new(&self.blob.etag, self.blob.size));
        Ok(())
    }
}

/// A full disk, say.
fn unwritten(path: &Path, error: &std::io::Error) -> Failure {
    let kept = "what has come is kept, and the same command goes on from there";
    Failure::Lasting(format!("cannot write {}: {error}; {kept}", path.display()))
}

/// Waits until nobody else fetches this file.
fn lock(path: &Path, blob: &Blob, watch: Watch) -> Result<File, Failure> {
    let file = File::options().write(true).create(true).truncate(false).open(path);
    let file = file.map_err(|error| unwritten(path, &error))?;
    let mut said = false;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) => {}
            // Some network disks know no locks. A file that two have written at a time is found out by its checksum.
            Err(TryLockError::Error(error)) if error.kind() == std::io::ErrorKind::Unsupported => return Ok(file),
            Err(TryLockError::Error(error)) => return Err(unwritten(path, &error)),
        }
        if !said {
            watch(Event::Says(&format!("{}: another process is fetching it; waiting for that", blob.name)));
            said = true;
        }
        if !watch(Event::Waits) {
            return Err(Failure::Stopped);
        }
        sleep(Duration::from_millis(100));
    }
}
