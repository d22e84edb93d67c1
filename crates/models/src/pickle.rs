//! PyTorch's pickles. They are not loaded: a pickle is a program, and reading one runs it.

use std::path::Path;

/// What to do with one.
const WAY_OUT: &str = "a PyTorch pickle can run any program and is not loaded; convert it with tools/convert-pickle.py, \
                       or with model.save_pretrained(folder) in transformers";

/// Endings of their names.
const ENDINGS: [&str; 4] = ["bin", "pt", "pth", "ckpt"];

/// What to say of a file that is one, by its first bytes or its name.
pub(crate) fn refused(path: &Path, start: &[u8]) -> Option<String> {
    // A zip archive since PyTorch 1.6; before that, and in other programs, a bare pickle of protocol 2 to 5.
    let is_one = start.starts_with(b"PK\x03\x04") || matches!(start, [0x80, 2..=5, ..]);
    let named_one =
        path.extension().is_some_and(|ending| ENDINGS.iter().any(|known| ending.eq_ignore_ascii_case(known)));
    (is_one || named_one && !start.is_empty()).then(|| WAY_OUT.to_owned())
}

/// What to say of a folder whose weights are there as pickles only.
pub(crate) fn refused_folder(folder: &Path) -> Option<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .ok()?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|ending| ENDINGS.iter().any(|known| ending == *known)))
        .filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned()))
        .collect();
    names.sort();
    // The name of the weights, rather than of what a trainer left beside them.
    let name = names.iter().find(|name| name.starts_with("pytorch_model")).or(names.first())?;
    Some(format!("it has no model.safetensors but {name}: {WAY_OUT}"))
}
