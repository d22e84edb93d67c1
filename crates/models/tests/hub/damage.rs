//! What is sent is held against what was announced.

use std::fs;

use crate::Scene;
use crate::hub_server::{Fault, REPO};

#[test]
fn a_wrong_checksum_is_told_and_nothing_is_kept() {
    for name in ["model.safetensors", "tokenizer.json", "config.json"] {
        let scene = Scene::new();
        scene.server.fail("GET", name, [Fault::Spoil]);
        scene.refusal(REPO, &[name, "not what the Hub announced", "checksum", "was removed"]);
        assert!(!scene.blob(name).exists() && !scene.blob(name).with_extension("incomplete").exists());
        assert!(!scene.model().join("refs").exists());
        scene.bring().unwrap();
        scene.check_whole();
    }
}

#[test]
fn more_than_was_announced_is_not_taken() {
    let scene = Scene::new();
    scene.server.fail("GET", "model.safetensors", [Fault::Longer]);
    let size = fs::metadata(crate::tiny("gpt2-lm").join("model.safetensors")).unwrap().len();
    scene.refusal(REPO, &[&format!("announced {size} bytes and sends more")]);
    assert!(!scene.blob("model.safetensors").exists());
    scene.bring().unwrap();
    scene.check_whole();
}

#[test]
fn what_cannot_be_is_not_begun() {
    let scene = Scene::new();
    scene.server.announce_size("tokenizer.json", 1 << 30);
    scene.refusal(REPO, &["tokenizer.json", "1073741824 bytes long"]);
    let scene = Scene::new();
    scene.server.announce_size("model.safetensors", u64::MAX);
    scene.refusal(REPO, &["model.safetensors", "18446744073709551615 bytes long"]);
    for etag in ["", "../../../evil", "a b", &"x".repeat(200)] {
        let scene = Scene::new();
        scene.server.announce_etag("config.json", etag);
        scene.refusal(REPO, &["config.json", "no etag that can be used"]);
    }
    // No disk has as much room.
    #[cfg(unix)]
    {
        let scene = Scene::new();
        scene.server.announce_size("model.safetensors", 1 << 45);
        scene.refusal(REPO, &["it needs 35184372.1 MB more", "make room", "HF_HOME"]);
        assert!(scene.server.ranges("model.safetensors").is_empty());
    }
}

#[test]
fn a_name_that_leads_elsewhere_is_not_followed() {
    for name in
        ["../../evil.safetensors", "/tmp/evil.safetensors", "a/../evil.safetensors", ".evil.safetensors", "a\\evil"]
    {
        let scene = Scene::new();
        scene.server.take("model.safetensors");
        let index = serde_json::json!({ "weight_map": { "wte.weight": name } });
        scene.server.put("model.safetensors.index.json", index.to_string()).put(name, "evil");
        let error = scene.bring().unwrap_err().to_string();
        let told = error.contains("outside of its folder") || error.contains("no file of it");
        assert!(told && error.contains("evil"), "{error}");
        assert!(scene.server.asked().iter().all(|asked| !asked.path.contains("evil")));
    }
    let scene = Scene::new();
    scene.server.take("model.safetensors");
    scene.server.put("model.safetensors.index.json", "{\"weight_map\": {\"a\": \"gone.safetensors\"}}");
    scene.refusal(REPO, &["gone.safetensors", "no file of it"]);
}

#[test]
fn an_etag_that_is_no_checksum_is_a_name_like_any_other() {
    let scene = Scene::new();
    scene.server.announce_etag("config.json", "of-a-mirror");
    scene.bring().unwrap();
    assert!(scene.model().join("blobs/of-a-mirror").is_file());
}

#[cfg(unix)]
#[test]
fn a_cache_that_cannot_be_written_is_told() {
    let mut scene = Scene::new();
    let file = scene.folder.path().join("file");
    fs::write(&file, "").unwrap();
    scene.settings.cache = file;
    scene.refusal(REPO, &["cannot write", "file"]);
}
