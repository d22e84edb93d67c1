//! Several at once bring one model.

use std::sync::Mutex;
use std::thread::scope;

use crate::hub_server::{Fault, REPO};
use crate::{Event, Scene};

#[test]
fn two_fetch_it_once() {
    let scene = Scene::new();
    scene.server.fail("GET", "model.safetensors", [Fault::Drip(2048)]);
    let said = Mutex::new(Vec::new());
    let watch = |event: Event| {
        if let Event::Says(words) = event {
            said.lock().unwrap().push(words.to_owned());
        }
        true
    };
    scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| scene.bring_as(REPO, &watch).unwrap());
        }
    });
    scene.check_whole();
    assert_eq!(scene.server.ranges("model.safetensors"), [None]);
    let said = said.into_inner().unwrap();
    assert!(said.iter().any(|words| words.contains("model.safetensors: another process is fetching it")), "{said:?}");
}
