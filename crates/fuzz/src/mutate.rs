//! From seeds to inputs: a seed, and a few steps that each spoil something.

mod bytes;
mod gguf;
mod json;
mod safetensors;

use crate::input::Input;
use crate::random::Random;

/// Everything from which inputs are made.
#[derive(Debug)]
pub(crate) struct Mutator {
    seeds: Vec<Input>,
    /// Words that occur in seeds, and others that readers know.
    words: Vec<String>,
}

impl Mutator {
    pub(crate) fn new(seeds: Vec<Input>) -> Self {
        let mut words: Vec<String> = json::WORDS.iter().map(|word| (*word).to_owned()).collect();
        for bytes in seeds.iter().flat_map(|seed| seed.files.iter()).map(|(_, bytes)| bytes) {
            json::words(bytes, &mut words);
        }
        words.sort();
        words.dedup();
        Self { seeds, words }
    }

    /// The seed of an input, and how many steps away from it the input is.
    pub(crate) fn begin(&self, (seed, number): (u64, u64)) -> (&Input, usize) {
        let mut random = Random::of(&[seed, number]);
        let from = random.pick(&self.seeds);
        // Most faults are one step away from what is right.
        let steps = if random.once_in(2) { 1 } else { 1 + random.below(5) };
        (from, steps)
    }

    /// The input of this number, with those of its steps that are wanted.
    pub(crate) fn make(&self, id: (u64, u64), wanted: impl Fn(usize) -> bool) -> Input {
        let (from, steps) = self.begin(id);
        let mut input = from.clone();
        for step in (0..steps).filter(|step| wanted(*step)) {
            self.step(&mut input, &mut Random::of(&[id.0, id.1, 1 + step as u64]));
        }
        input
    }

    fn step(&self, input: &mut Input, random: &mut Random) {
        let names: Vec<String> = input.files.keys().cloned().collect();
        if names.is_empty() {
            return;
        }
        if names.len() > 1 && random.once_in(40) {
            input.files.remove(random.pick(&names));
            return;
        }
        let name = random.pick(&names);
        // Another seed's file in place of this one, or something of it.
        let other = random.pick(&self.seeds).files.get(name).cloned().unwrap_or_default();
        let file = input.files.entry(name.clone()).or_default();
        if random.once_in(30) {
            *file = other;
            return;
        }
        let spoiled = match name {
            _ if random.once_in(5) => None,
            name if name.ends_with(".json") => json::spoil(file, &other, &self.words, random),
            name if name.ends_with(".safetensors") => safetensors::spoil(file, &other, &self.words, random),
            _ => gguf::spoil(file, &other, &self.words, random),
        };
        // What is no longer of its format is spoiled as any bytes are.
        *file = spoiled.unwrap_or_else(|| bytes::spoil(file, &other, random));
    }
}
