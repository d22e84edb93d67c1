//! A new file in `ui/` is embedded too: changes to known ones are noticed by the compiler itself.
#![allow(clippy::print_stdout)] // how a build script talks to cargo

fn main() {
    println!("cargo::rerun-if-changed=../../ui");
}
