//! Once it is here it is not asked for again, and means the same as its folder.

use std::fs;

use attnscope_models::{Keep, Model, Prompt};

use crate::hub_server::{COMMIT, Fault, REPO, tiny};
use crate::{Event, Mutex, Scene};

#[test]
fn a_model_of_the_hub_is_its_folder() {
    let scene = Scene::new();
    let place = scene.bring().unwrap();
    scene.check_whole();
    let kept = |path: &std::path::Path| {
        let model = Model::open(path).unwrap();
        let trace = model.trace(&Prompt::Ids(vec![1, 2, 3, 4]), Keep::All, &|_, _| true).unwrap();
        let file = scene.folder.path().join("t.safetensors");
        trace.save(&file).unwrap();
        fs::read(file).unwrap()
    };
    let ours = kept(&place);
    assert!(ours == kept(&tiny("gpt2-lm")), "the traces differ");
    assert!(ours.windows(9).any(|window| window == b"\\\"gpt2-lm"), "it is called as its repository");
}

#[test]
fn what_is_here_is_not_asked_for() {
    let mut scene = Scene::new();
    let first = scene.bring().unwrap();
    let asked = scene.server.asked();
    assert_eq!(asked.iter().filter(|asked| asked.method == "GET").count(), 4, "a list and three files: {asked:?}");
    assert_eq!(scene.bring().unwrap(), first);
    assert_eq!(scene.bring_as(&format!("{REPO}@{COMMIT}"), &|_| true).unwrap(), first);
    scene.settings.offline = true;
    assert_eq!(scene.bring().unwrap(), first);
    assert!(scene.server.asked().is_empty());
}

#[test]
fn offline_asks_nobody() {
    let mut scene = Scene::new();
    scene.settings.offline = true;
    scene.refusal(REPO, &["no such file or folder here", "config.json", "HF_HUB_OFFLINE"]);
    // Of a GGUF there is no other file.
    let gguf = scene.bring_as(&format!("{REPO}:sub/m-Q4_0.gguf"), &|_| true).unwrap_err().to_string();
    assert!(gguf.contains("has no sub/m-Q4_0.gguf of such a model") && !gguf.contains("config.json"), "{gguf}");
    scene.settings.offline = false;
    scene.bring().unwrap();
    fs::remove_file(scene.model().join("snapshots").join(COMMIT).join("model.safetensors")).unwrap();
    scene.server.asked();
    scene.settings.offline = true;
    scene.refusal(REPO, &["model.safetensors", "HF_HUB_OFFLINE"]);
    assert!(scene.server.asked().is_empty());
    // Its blob is still here.
    scene.settings.offline = false;
    scene.bring().unwrap();
    assert!(scene.server.ranges("model.safetensors").is_empty());
}

#[test]
fn a_cache_of_somebody_else_serves() {
    // As transformers leaves it: without a word on what the repository does not have.
    let mut scene = Scene::new();
    scene.bring().unwrap();
    fs::remove_dir_all(scene.model().join(".no_exist")).unwrap();
    scene.server.put("generation_config.json", "{\"eos_token_id\": 3}").asked();
    let place = scene.bring().unwrap();
    let paths: Vec<String> = scene.server.asked().into_iter().map(|asked| asked.path).collect();
    assert!(paths[0].ends_with(COMMIT), "of the commit that is here: {paths:?}");
    assert!(place.join("generation_config.json").is_file(), "what was missing was fetched");
    assert!(scene.server.ranges("model.safetensors").is_empty());

    // Without a network, what is here is enough.
    fs::remove_dir_all(scene.model().join(".no_exist")).unwrap();
    scene.settings.endpoint = "http://127.0.0.1:9".to_owned();
    assert_eq!(scene.bring().unwrap(), place);
    scene.settings.offline = true;
    assert_eq!(scene.bring().unwrap(), place);
}

#[test]
fn a_cache_without_links_serves() {
    // As it is where links are for administrators alone.
    let scene = Scene::new();
    let place = scene.bring().unwrap();
    for name in ["config.json", "tokenizer.json", "model.safetensors"] {
        fs::remove_file(place.join(name)).unwrap();
        fs::rename(scene.blob(name), place.join(name)).unwrap();
    }
    fs::remove_dir_all(scene.model().join(".no_exist")).unwrap();
    scene.server.asked();
    assert_eq!(scene.bring().unwrap(), place);
    let gets = scene.server.asked().into_iter().filter(|asked| asked.method == "GET").count();
    assert_eq!(gets, 1, "the list alone");
    assert!(scene.server.asked().is_empty() && scene.bring().is_ok() && scene.server.asked().is_empty());
}

#[test]
fn only_what_is_needed_is_fetched() {
    let scene = Scene::new();
    for other in ["pytorch_model.bin", "README.md", "tf_model.h5", "onnx/model.onnx", "../../evil", "/etc/evil"] {
        scene.server.put(other, "x");
    }
    scene.server.put("tokenizer_config.json", "{}").put("chat_template.jinja", "{{ messages }}");
    let place = scene.bring().unwrap();
    let mut names: Vec<String> =
        fs::read_dir(place).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    let wanted = ["chat_template.jinja", "config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"];
    assert_eq!(names, wanted);
}

#[test]
fn how_far_it_is_is_told() {
    let scene = Scene::new();
    let told = Mutex::new((0, 0, Vec::new()));
    let watch = |event: Event| {
        let mut told = told.lock().unwrap();
        match event {
            Event::Begins { files, bytes } => (told.0, told.1) = (files, bytes),
            Event::Moves { done, all, .. } => told.2.push((done, all)),
            _ => {}
        }
        true
    };
    scene.bring_as(REPO, &watch).unwrap();
    let (files, bytes, moves) = told.into_inner().unwrap();
    let size = |name| fs::metadata(tiny("gpt2-lm").join(name)).unwrap().len();
    assert_eq!((files, bytes), (2, size("tokenizer.json") + size("model.safetensors")));
    assert!(moves.is_sorted() && moves.iter().all(|(_, all)| *all == bytes), "{moves:?}");
    assert_eq!(moves.last(), Some(&(bytes, bytes)));
}

#[test]
fn a_revision_is_kept_by_its_name() {
    let scene = Scene::new();
    for revision in ["v1", "refs/pr/1"] {
        scene.bring_as(&format!("{REPO}@{revision}"), &|_| true).unwrap();
        assert_eq!(fs::read_to_string(scene.model().join("refs").join(revision)).unwrap(), COMMIT);
    }
    scene.refusal(&format!("{REPO}@v2"), &["no such model"]);
    scene.server.fail("GET", "revision/v2", [Fault::Status(404, "RevisionNotFound")]);
    scene.refusal(&format!("{REPO}@v2"), &["no revision \"v2\""]);
}

#[test]
fn shards_and_gguf_files_are_fetched_by_name() {
    let scene = Scene::new();
    let weights = scene.server.take("model.safetensors");
    let index = "{\"weight_map\": {\"a\": \"model-00001-of-00001.safetensors\"}}";
    scene.server.put("model.safetensors.index.json", index).put("model-00001-of-00001.safetensors", weights.clone());
    let place = scene.bring().unwrap();
    assert_eq!(fs::read(place.join("model-00001-of-00001.safetensors")).unwrap(), weights);
    Model::open(&place).unwrap();

    scene.server.put("sub/m Q4_0.gguf", "GGUF");
    let place = scene.bring_as(&format!("{REPO}:sub/m Q4_0.gguf"), &|_| true).unwrap();
    assert!(place.ends_with("sub/m Q4_0.gguf"), "{}", place.display());
    assert_eq!(fs::read(place).unwrap(), b"GGUF");
    scene.server.asked();
    scene.bring_as(&format!("{REPO}:sub/m Q4_0.gguf"), &|_| true).unwrap();
    assert!(scene.server.asked().is_empty());
}
