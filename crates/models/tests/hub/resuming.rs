//! What was cut off goes on from where it stopped.

use std::fs;
use std::time::Instant;

use attnscope_models::Error;

use crate::hub_server::{Fault, REPO, tiny};
use crate::{Event, Scene};

const WEIGHTS: &str = "model.safetensors";

fn range(from: usize) -> Option<String> {
    Some(format!("bytes={from}-"))
}

#[test]
fn a_connection_that_breaks_goes_on() {
    let scene = Scene::new();
    scene.server.fail("GET", WEIGHTS, [Fault::Cut(1000), Fault::Cut(500)]);
    let said = scene.said();
    assert_eq!(scene.server.ranges(WEIGHTS), [None, range(1000), range(1500)]);
    assert!(said[0].contains("model.safetensors") && said[0].contains("byte 1000"), "{said:?}");
    scene.check_whole();
}

#[test]
fn a_connection_that_stalls_goes_on() {
    let scene = Scene::new();
    scene.server.fail("GET", WEIGHTS, [Fault::Stall(1000)]);
    let begun = Instant::now();
    let said = scene.said();
    assert!(begun.elapsed().as_secs() < 30);
    assert!(said[0].contains("nothing came any more for 1 s") && said[0].contains("byte 1000"), "{said:?}");
    assert_eq!(scene.server.ranges(WEIGHTS), [None, range(1000)]);
    scene.check_whole();
}

#[test]
fn one_that_always_stalls_is_given_up_and_goes_on_the_next_time() {
    let scene = Scene::new();
    scene.server.fail("GET", WEIGHTS, [Fault::Stall(1000), Fault::Stall(0), Fault::Stall(0), Fault::Stall(0)]);
    scene.refusal(REPO, &["model.safetensors: nothing came", "is kept", "goes on from there"]);
    assert_eq!(fs::metadata(scene.incomplete()).unwrap().len(), 1000);
    assert!(!scene.blob(WEIGHTS).exists() && !scene.model().join("refs").exists(), "half a model is none");
    scene.server.asked();
    scene.bring().unwrap();
    assert_eq!(scene.server.ranges(WEIGHTS), [range(1000)]);
    scene.check_whole();
}

#[test]
fn whoever_stops_it_goes_on_the_next_time() {
    let scene = Scene::new();
    scene.server.fail("GET", WEIGHTS, [Fault::Drip(4096)]);
    let begun = fs::metadata(tiny("gpt2-lm").join("tokenizer.json")).unwrap().len();
    let watch = |event: Event| !matches!(event, Event::Moves { done, .. } if done > begun + 8000);
    assert!(matches!(scene.bring_as(REPO, &watch), Err(Error::Stopped)));
    let here = fs::metadata(scene.incomplete()).unwrap().len() as usize;
    assert!(here >= 8000, "{here}");
    scene.server.asked();
    scene.bring().unwrap();
    assert_eq!(scene.server.ranges(WEIGHTS), [range(here)]);
    scene.check_whole();
}

#[test]
fn a_server_that_knows_no_parts_sends_all_of_it_again() {
    let scene = Scene::new();
    scene.server.fail("GET", WEIGHTS, [Fault::Cut(1000), Fault::Whole]);
    scene.bring().unwrap();
    assert_eq!(scene.server.ranges(WEIGHTS), [None, range(1000)]);
    scene.check_whole();
}

#[test]
fn what_lies_here_is_taken_for_nothing_but_what_it_is() {
    let whole = fs::read(tiny("gpt2-lm").join(WEIGHTS)).unwrap();
    let begun = |bytes: &[u8]| {
        let scene = Scene::new();
        fs::create_dir_all(scene.model().join("blobs")).unwrap();
        fs::write(scene.incomplete(), bytes).unwrap();
        let said = scene.said();
        scene.check_whole();
        (scene.server.ranges(WEIGHTS), said.join("\n"))
    };
    // All of it, but for its name.
    assert_eq!(begun(&whole), (vec![], String::new()));
    // Longer than it can be.
    assert_eq!(begun(&[&whole[..], b"x"].concat()).0, [None]);
    // Something else.
    let (ranges, said) = begun(&[b'x'; 100]);
    assert_eq!(ranges, [range(100), None]);
    assert!(said.contains("spoiled"), "{said}");
}

#[test]
fn a_busy_server_is_asked_again() {
    let scene = Scene::new();
    scene.server.fail("GET", "revision/main", [Fault::Status(500, "")]);
    scene.server.fail("HEAD", "config.json", [Fault::Status(503, "")]);
    scene.server.fail("GET", "config.json", [Fault::Status(429, ""), Fault::Status(502, "")]);
    scene.bring().unwrap();
    scene.check_whole();
}

#[test]
fn a_server_that_says_nothing_is_asked_again() {
    let scene = Scene::new();
    scene.server.fail("GET", "revision/main", [Fault::Silence]);
    scene.server.fail("HEAD", "config.json", [Fault::Silence]);
    scene.server.fail("GET", WEIGHTS, [Fault::Silence]);
    let begun = Instant::now();
    scene.bring().unwrap();
    assert!(begun.elapsed().as_secs() < 30);
    scene.check_whole();
}

#[test]
fn one_that_stays_busy_is_given_up() {
    let scene = Scene::new();
    scene.server.fail("GET", "revision/main", vec![Fault::Status(500, ""); 4]);
    scene.refusal(REPO, &["answers 500", "several times", "try again later"]);
}
