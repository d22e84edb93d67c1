//! Our side of `tools/compare-transformers.py`: opens a model, then reads words on standard input. To each it answers with
//! one line of JSON: `forward` runs the model without keeping anything, `trace` keeps every layer's attention.

use std::fs;
use std::io::{BufRead, stdin};
use std::path::Path;
use std::time::Instant;

use attnscope_models::{Keep, Model, Prompt, Run};

#[allow(clippy::print_stdout, reason = "the answers are what it is for")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let (Some(model), Some(ids)) = (args.next(), args.next()) else { return Err("usage: side MODEL ID,ID,...".into()) };
    let ids: Vec<u32> = ids.split(',').map(str::parse).collect::<Result<_, _>>()?;
    let model = Model::open(Path::new(&model))?;
    println!("{{\"loaded_kb\": {}, \"peak_kb\": {}}}", memory("VmRSS"), memory("VmHWM"));
    for line in stdin().lock().lines() {
        let begun = Instant::now();
        match line?.trim() {
            "forward" => drop(model.hidden(&ids, &mut Run::keeping(Keep::Nothing))?),
            "trace" => drop(model.trace(&Prompt::Ids(ids.clone()), Keep::All, &|_, _| true)?),
            other => return Err(format!("{other:?} is no word of this").into()),
        }
        println!("{{\"seconds\": {:.6}, \"peak_kb\": {}}}", begun.elapsed().as_secs_f64(), memory("VmHWM"));
    }
    Ok(())
}

/// What Linux says of this process's memory, in kB; 0 elsewhere.
fn memory(what: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(what)?.strip_prefix(':'));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}
