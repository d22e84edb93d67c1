//! What cannot be had, and what to do about it.

use std::collections::BTreeMap;

use crate::Scene;
use crate::hub_server::{COMMIT, Fault, HubServer, REPO};

const SECRET: &str = "hf_secret";

#[test]
fn a_model_that_is_not_shown_is_told_from_one_that_is_not_there() {
    let mut scene = Scene::new();
    let list = |faults: Vec<Fault>| scene.server.fail("GET", "revision/main", faults);
    list(vec![Fault::Status(401, "RepoNotFound"), Fault::Status(401, "GatedRepo"), Fault::Status(404, "RepoNotFound")]);
    scene.refusal(REPO, &["no such file or folder here", "no such model (401)", "how it is written", "HF_TOKEN"]);
    scene.refusal(REPO, &["its owner lets nobody", "(401)", "/tiny/gpt2-lm", "HF_TOKEN"]);
    scene.refusal(REPO, &["no such file or folder here", "no such model at http://127.0.0.1", "(404)"]);
    scene.refusal("tiny/other", &["no such model"]);
    scene.refusal("other", &["no such model"]);
    list(vec![Fault::Status(401, ""), Fault::Status(403, "GatedRepo"), Fault::Status(403, "")]);
    scene.settings.token = Some(SECRET.to_owned());
    for part in ["to whoever has this token (401)", "ask at", "to whoever has this token (403)"] {
        assert!(!scene.refusal(REPO, &[part]).contains(SECRET));
    }
}

#[test]
fn the_token_goes_to_the_hub_and_to_nobody_else() {
    let mut scene = Scene::new();
    let other = HubServer::of(&crate::tiny("gpt2-lm"));
    scene.settings.token = Some(SECRET.to_owned());
    // Small files move within the Hub, weights come from elsewhere.
    let to = |file: &str| Fault::Redirect(format!("{}/elsewhere/{file}?signed=1", other.address));
    let within = |file: &str| Fault::Redirect(format!("/elsewhere/{file}"));
    for method in ["HEAD", "GET"] {
        scene.server.fail(method, &format!("{COMMIT}/model.safetensors"), [to("model.safetensors")]);
        scene.server.fail(method, &format!("{COMMIT}/config.json"), [within("config.json")]);
    }
    scene.bring().unwrap();
    scene.check_whole();
    let (asked, elsewhere) = (scene.server.asked(), other.asked());
    let bearer = Some(format!("Bearer {SECRET}"));
    assert!(asked.len() >= 7 && asked.iter().all(|asked| asked.token == bearer), "{asked:?}");
    assert!(elsewhere.len() == 1 && elsewhere.iter().all(|asked| asked.token.is_none()), "{elsewhere:?}");
}

#[test]
fn redirects_lead_to_http_alone_and_end() {
    let scene = Scene::new();
    let list = |to: &str, n| scene.server.fail("GET", "revision/main", vec![Fault::Redirect(to.to_owned()); n]);
    list("file:///etc/passwd", 1);
    scene.refusal(REPO, &["none of http or https"]);
    list("ftp://127.0.0.1/x", 1);
    scene.refusal(REPO, &["none of http or https"]);
    list("", 1);
    scene.refusal(REPO, &["none of http or https"]);
    list(&format!("/api/models/{REPO}/revision/main"), 20);
    scene.refusal(REPO, &["without an end"]);
}

#[test]
fn a_repository_without_what_is_needed_says_what_it_has() {
    let of = |names: &[&str]| {
        let files: BTreeMap<_, _> = names.iter().map(|name| ((*name).to_owned(), b"{}".to_vec())).collect();
        Scene::of(HubServer::with(files))
    };
    let pickle = of(&["config.json", "tokenizer.json", "pytorch_model.bin"]);
    pickle.refusal(REPO, &["pickle", "from_pretrained(\"tiny/gpt2-lm\").save_pretrained"]);
    let gguf = of(&["config.json", "m-Q4_0.gguf", "m-Q8_0.gguf"]);
    gguf.refusal(REPO, &["tiny/gpt2-lm:m-Q4_0.gguf", "m-Q8_0.gguf"]);
    gguf.refusal("tiny/gpt2-lm:m-Q5_0.gguf", &["no file m-Q5_0.gguf", "m-Q4_0.gguf, m-Q8_0.gguf"]);
    of(&["README.md"]).refusal(REPO, &["no model.safetensors"]);
    of(&["adapter_config.json", "adapter_model.safetensors"]).refusal(REPO, &["adapter"]);
    of(&["config.json", "model.safetensors"]).refusal(REPO, &["no tokenizer.json"]);
    of(&["tokenizer.json", "model.safetensors"]).refusal(REPO, &["no config.json"]);
    assert_eq!(pickle.server.asked().len(), 1, "one question was enough");
}

#[test]
fn a_family_that_is_not_known_is_said_before_its_weights_have_come() {
    let scene = Scene::new();
    scene.server.put("config.json", "{\"model_type\": \"mamba\"}");
    let error = scene.bring().unwrap_err().to_string();
    assert!(error.contains("\"mamba\" is not known"), "{error}");
    assert!(scene.server.ranges("model.safetensors").is_empty());
}

#[test]
fn a_hub_that_is_not_there_or_is_none() {
    let mut scene = Scene::new();
    // Nobody listens at a port that was free a moment ago.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    scene.settings.endpoint = format!("http://{free}");
    scene.refusal(REPO, &["no such file or folder here", "cannot be asked", "HF_ENDPOINT"]);
    for endpoint in ["huggingface.co", "ftp://huggingface.co", "http://", "https://hub?x=1", "nonsense \n"] {
        scene.settings.endpoint = endpoint.to_owned();
        scene.refusal(REPO, &["HF_ENDPOINT is", "like https://huggingface.co"]);
    }
    scene.settings.endpoint = format!("http://me:{SECRET}@127.0.0.1");
    assert!(!scene.refusal(REPO, &["HF_ENDPOINT names a user"]).contains(SECRET));
    scene.settings.endpoint = scene.server.address.clone();
    scene.settings.token = Some(format!("{SECRET}\nX-Evil: 1"));
    assert!(!scene.refusal(REPO, &["the token"]).contains(SECRET));
    scene.settings.token = None;
    let file = scene.folder.path().join("roots.pem");
    scene.settings.authorities = Some(file.clone());
    scene.refusal(REPO, &["roots.pem", "SSL_CERT_FILE"]);
    std::fs::write(&file, "no certificate").unwrap();
    scene.refusal(REPO, &["roots.pem", "holds no certificate"]);
    assert!(scene.server.asked().is_empty());
}

#[test]
fn a_hub_that_speaks_of_something_else_is_told() {
    let scene = Scene::new();
    // A page for people, say.
    let page = Scene::new();
    page.server.put("page", "<html>");
    let to = format!("{}/elsewhere/page", page.server.address);
    scene.server.fail("GET", "revision/main", [Fault::Redirect(to)]);
    scene.refusal(REPO, &["something else than a list of files", "HF_ENDPOINT"]);
}
