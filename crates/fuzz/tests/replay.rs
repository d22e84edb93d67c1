//! What is kept in `corpus`, read again: seeds are still read, and what once did harm does none.

use attnscope_fuzz::input::{Input, Stage, kept, seeds};
use attnscope_fuzz::memory::Counting;
use attnscope_fuzz::target::Target;
use attnscope_fuzz::worker::{self, Outcome, Stretch};
use tempfile::TempDir;

#[global_allocator]
static MEMORY: Counting = Counting;

/// The most that `corpus` may take, in bytes.
const ROOM: usize = 300_000;

fn read(target: Target, input: &Input) -> Outcome {
    let folder = TempDir::new().unwrap();
    let mut stage = Stage::new(folder.path().to_owned());
    worker::read(target, stage.lay(input).unwrap(), input.size())
}

/// One test: how much memory is taken is counted for the whole process.
#[test]
fn what_is_kept_does_no_harm() {
    worker::quiet();
    let mut room = 0;
    for target in Target::ALL {
        for seed in seeds(target).unwrap().iter().filter(|seed| !seed.name.starts_with("found-")) {
            assert_eq!(read(target, seed), Outcome::Read, "{} {}", target.name(), seed.name);
        }
        for input in kept(target).unwrap() {
            let outcome = read(target, &input);
            assert_eq!(outcome.fault(), None, "{} {}", target.name(), input.name);
        }
        room += kept(target).unwrap().iter().map(|input| input.own).sum::<usize>();

        // A short hunt, always the same.
        let folder = TempDir::new().unwrap();
        let mut out = Vec::new();
        let stretch = Stretch { target, seed: 5, from: 0, to: 400, folder: folder.path() };
        worker::work(&stretch, &mut out).unwrap();
        let out = String::from_utf8(out).unwrap();
        let (read, refused) =
            out.strip_prefix("done ").and_then(|n| n.trim().split_once(' ')).unwrap_or_else(|| panic!("{out}"));
        // Neither may be the only one, or the damage shows nothing.
        let (read, refused): (u64, u64) = (read.parse().unwrap(), refused.parse().unwrap());
        assert!(read > 10 && refused > 100 && read + refused == 400, "{}: {out}", target.name());
    }
    assert!(room < ROOM, "{room} bytes");
    faults_are_found();
}

/// The harness itself: an error is no fault, and memory is counted.
fn faults_are_found() {
    let folder = TempDir::new().unwrap();
    // Nothing lies there, so that reading is refused.
    assert_eq!(worker::read(Target::Trace, folder.path(), 0), Outcome::Refused);
    let (len, taken) = attnscope_fuzz::memory::taken(|| std::hint::black_box(vec![1u8; 50 << 20]).len());
    assert!(taken >= len && taken < len + (1 << 20), "{taken}");
    assert!(taken > attnscope_fuzz::memory::allowed(100 << 10) && taken < attnscope_fuzz::memory::allowed(1 << 20));
}
