//! Random damage: whatever a few flipped bytes make of a checkpoint, it opens or is refused, and nothing panics.

use std::fs;

use tempfile::TempDir;

use crate::survives;
use crate::tiny::{Folder, Gguf, Seeded};

/// One to four bytes of the first `reach` changed.
fn damage(file: &[u8], reach: usize, seeded: &mut Seeded) -> Vec<u8> {
    let mut bytes = file.to_vec();
    for _ in 0..1 + seeded.below(4) {
        let at = seeded.below(reach.min(bytes.len()));
        bytes[at] = match seeded.below(4) {
            0 => 0,
            1 => 0xFF,
            2 => bytes[at] ^ (1 << seeded.below(8)),
            _ => seeded.below(256) as u8,
        };
    }
    bytes
}

#[test]
fn a_damaged_gguf_file_opens_or_is_refused() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("damaged.gguf");
    let file = Gguf::llama().bytes();
    let header = file.windows(17).position(|window| window == b"token_embd.weight").unwrap() + 64;
    let mut opened = 0;
    for seed in 0..600 {
        let mut seeded = Seeded::new(seed + 1);
        // Most of the file is weights, where damage is dull: half of the time only the header is hit, and every
        // third time its first entries.
        let reach = [file.len(), header, 1024][seed as usize % 3];
        fs::write(&path, damage(&file, reach, &mut seeded)).unwrap();
        opened += usize::from(survives(&path, &format!("seed {seed}")));
    }
    // Neither outcome may be the only one, or the damage shows nothing.
    assert!((50..550).contains(&opened), "{opened} of 600 opened");
}

#[test]
fn a_damaged_folder_opens_or_is_refused() {
    let llama = TempDir::new().unwrap();
    let bert = TempDir::new().unwrap();
    Folder::llama().write(llama.path());
    Folder::bert().write(bert.path());
    for folder in [&llama, &bert] {
        for name in ["config.json", "tokenizer.json", "model.safetensors"] {
            let path = folder.path().join(name);
            let file = fs::read(&path).unwrap();
            for seed in 0..60 {
                let mut seeded = Seeded::new(1000 + seed);
                let reach = if seed % 2 == 0 { file.len() } else { 2048 };
                fs::write(&path, damage(&file, reach, &mut seeded)).unwrap();
                survives(folder.path(), &format!("{name} of {}, seed {seed}", folder.path().display()));
            }
            fs::write(&path, &file).unwrap();
        }
        assert!(survives(folder.path(), "nothing"), "it is whole again");
    }
}
