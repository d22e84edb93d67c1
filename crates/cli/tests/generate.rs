//! Going on with a text, on tiny models with random weights: what is said, what is kept, how it is stopped.

mod common;

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use common::{attnscope, fails, json, model, text};
use tempfile::TempDir;

fn tiny(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../models/tests/tiny").join(name);
    path.canonicalize().unwrap().to_str().unwrap().to_owned()
}

const PROMPT: [&str; 2] = ["--prompt", "The robot was tired."];
const DRAWN: [&str; 4] = ["--temperature", "2", "--seed", "5"];

#[test]
fn the_text_is_the_answer_and_how_fast_it_was_is_said_beside_it() {
    let llama = tiny("llama-tied");
    let args = [&["generate", &llama, "--max-tokens", "8"], &PROMPT[..], &DRAWN[..]].concat();
    let output = attnscope(&args).output().unwrap();
    let (out, err) = (text(output.stdout), text(output.stderr));
    assert!(output.status.success(), "{err}");
    let answer = json(&args);
    assert_eq!(out, format!("{}\n", answer["text"].as_str().unwrap()));
    assert!(err.contains(" + 8 tokens, ") && err.contains(" a second, seed 5; --max-tokens reached"), "{err}");
    assert_eq!((answer["ids"].as_array().unwrap().len(), &answer["ended"]), (8, &"max_tokens".into()));
    assert_eq!((&answer["seed"], answer.get("file")), (&5.into(), None));
    assert!(answer["prompt_tokens_per_second"].as_f64().unwrap() > 0.0);
    assert!(answer["tokens_per_second"].as_f64().unwrap() > 0.0);
    // A run that drew by itself says how it can be drawn again.
    let any = json(&[&["generate", &llama, "--max-tokens", "8", "--temperature", "2"], &PROMPT[..]].concat());
    let seed = any["seed"].as_u64().unwrap().to_string();
    let again = ["generate", &llama, "--max-tokens", "8", "--temperature", "2", "--seed", &seed];
    assert_eq!(json(&[&again[..], &PROMPT].concat())["ids"], any["ids"]);
    let likeliest = json(&[&["generate", &llama, "--max-tokens", "8"], &PROMPT[..]].concat());
    assert!(likeliest["seed"].is_null());
    let stop: String = answer["text"].as_str().unwrap().chars().skip(4).take(3).collect();
    let stopped = json(&[&args[..], &["--stop", &stop]].concat());
    assert_eq!(stopped["ended"], "stop_string");
    assert!(!stopped["text"].as_str().unwrap().contains(&stop));
}

#[test]
fn what_was_generated_is_looked_at_in_one_trace() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("t.safetensors");
    let file = file.to_str().unwrap();
    for name in ["mistral-window", "t5-relu"] {
        let source = tiny(name);
        let answer = json(&[&["generate", &source, "--max-tokens", "6", "-o", file], &PROMPT[..], &DRAWN[..]].concat());
        assert_eq!(answer["file"], file);
        let ids: Vec<u64> = ["prompt_ids", "ids"]
            .iter()
            .flat_map(|part| answer[part].as_array().unwrap())
            .map(|id| id.as_u64().unwrap())
            .collect();
        let map = json(&["show", file, "--layer", "1"]);
        let kept = map["tokens"].as_array().unwrap().iter().map(|token| token["id"].as_u64().unwrap());
        assert_eq!(kept.collect::<Vec<_>>(), ids, "{name}");
        // The last new token has a row like every other, and a cell of it is that of a run that reads all at once.
        let last = (ids.len() - 1).to_string();
        let place = ["--layer", "1", "--head", "1", "--query", &last, "--key", "2"];
        let said = ids.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
        let read = match name {
            "t5-relu" => [&["cell", &source, "--target-ids", &said, "--text", PROMPT[1]], &place[..]].concat(),
            _ => [&["cell", &source, "--ids", &said], &place[..]].concat(),
        };
        let (kept, read) = (json(&[&["cell", file], &place[..]].concat()), json(&read));
        assert_eq!((&kept["mask"], &kept["query"]), (&read["mask"], &read["query"]));
        let weight = |cell: &serde_json::Value| cell["weight"].as_f64().unwrap();
        assert!((weight(&kept) - weight(&read)).abs() < 1e-5, "{name}");
        for head in json(&["heads", file]).as_array().unwrap() {
            assert!(head["proof"]["row_sum_error"].as_f64().unwrap() < 1e-5, "{head}");
            assert!(head["proof"]["output_error"].as_f64().unwrap() < 1e-5, "{head}");
        }
    }
    fails(&["generate", &tiny("gpt2-lm"), "--prompt", "a", "-o", "t.txt"], &["t.txt", ".safetensors"]);
}

/// The encoder's ids are named like those of the prompt, which are the decoder's.
#[test]
fn an_encoder_decoder_says_what_its_encoder_read() {
    let t5 = tiny("t5-relu");
    let answer = json(&["generate", &t5, "--text", "the robot", "--max-tokens", "2"]);
    let keys = json(&["show", &t5, "--text", "the robot", "--target", "she", "--site", "cross"])["key_tokens"].clone();
    let ids: Vec<_> = keys.as_array().unwrap().iter().map(|token| token["id"].clone()).collect();
    assert_eq!((&answer["encoder_ids"], answer["prompt_ids"].as_array().unwrap().len()), (&ids.into(), 1));
    let decoder = json(&["generate", &tiny("gpt2-lm"), "--text", "the robot", "--max-tokens", "2"]);
    assert_eq!(decoder.get("encoder_ids"), None);
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("t.safetensors");
    let kept = json(&["trace", &t5, "--text", "the robot", "--target", "she", "-o", file.to_str().unwrap()]);
    assert_eq!((&kept["encoder_tokens"], &kept["tokens"]), (&3.into(), &2.into()));
}

#[test]
fn of_no_tokens_there_is_no_rate() {
    let llama = tiny("llama-tied");
    let of = |tokens: &str| [&["generate", &llama, "--max-tokens", tokens][..], &PROMPT].concat().join("\t");
    for (tokens, prompt, said) in [("0", false, " + 0 tokens; "), ("1", true, " + 1 tokens, the prompt's ")] {
        let args = of(tokens);
        let args: Vec<&str> = args.split('\t').collect();
        let answer = json(&args);
        assert_eq!(
            (answer["prompt_tokens_per_second"].is_f64(), answer["ids"].as_array().unwrap().len().to_string()),
            (prompt, tokens.to_owned())
        );
        assert!(answer["prompt_tokens_per_second"].is_f64() || answer["prompt_tokens_per_second"].is_null());
        assert!(answer["tokens_per_second"].is_null());
        let err = text(attnscope(&args).output().unwrap().stderr);
        assert!(err.contains(said), "{err}");
    }
}

/// A limit on the size of files stands for a full disk.
#[cfg(target_os = "linux")]
#[test]
fn a_trace_that_cannot_be_kept_does_not_take_the_text_along() {
    let folder = TempDir::new().unwrap();
    let llama = tiny("llama-tied");
    let run = |more: &str| {
        let program = env!("CARGO_BIN_EXE_attnscope");
        let script = format!(
            "trap '' XFSZ; ulimit -f 1; exec {program} generate {llama} --prompt 'The robot' --max-tokens 4 -o t.safetensors {more}"
        );
        let output = Command::new("sh").args(["-c", &script]).current_dir(folder.path()).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        let err = text(output.stderr);
        assert!(err.lines().last().unwrap().starts_with("error: t.safetensors: cannot write the trace"), "{err}");
        assert!(!err.contains("its trace is in"), "{err}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        text(output.stdout)
    };
    let whole = json(&["generate", &llama, "--prompt", "The robot", "--max-tokens", "4"]);
    let answer: serde_json::Value = serde_json::from_str(&run("--json")).unwrap();
    assert_eq!((&answer["text"], &answer["ids"], answer.get("file")), (&whole["text"], &whole["ids"], None));
    assert_eq!(run(""), format!("{}\n", whole["text"].as_str().unwrap()));
    // Where no file can be at all, that is found out before.
    for place in ["none/t.safetensors", "/proc/t.safetensors"] {
        fails(&["generate", &llama, "--prompt", "The robot", "-o", place], &[place.trim_end_matches("/t.safetensors")]);
    }
}

/// A copy of a tiny GPT-2 whose numbers overflow where a token stands at a position.
fn breaking_at(position: usize, folder: &Path) -> String {
    let source = PathBuf::from(tiny("gpt2-lm"));
    for name in ["config.json", "tokenizer.json"] {
        fs::copy(source.join(name), folder.join(name)).unwrap();
    }
    let mut file = fs::read(source.join("model.safetensors")).unwrap();
    let header = 8 + u64::from_le_bytes(file[..8].try_into().unwrap()) as usize;
    let tensors: serde_json::Value = serde_json::from_slice(&file[8..header]).unwrap();
    let positions = &tensors["transformer.wpe.weight"];
    let number = |value: &serde_json::Value| value.as_u64().unwrap() as usize;
    let width = number(&positions["shape"][1]) * size_of::<f32>();
    let at = header + number(&positions["data_offsets"][0]) + position * width;
    for number in file[at..at + width].chunks_mut(size_of::<f32>()) {
        number.copy_from_slice(&f32::MAX.to_le_bytes());
    }
    fs::write(folder.join("model.safetensors"), file).unwrap();
    folder.to_str().unwrap().to_owned()
}

/// What a model said before its run failed is the answer: one whole document, or the text, and the error beside it.
#[test]
fn a_text_that_breaks_off_is_not_lost() {
    let (folder, to) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let broken = breaking_at(12, folder.path());
    let file = to.path().join("t.safetensors");
    let file = file.to_str().unwrap();
    let run = |more: &[&str]| {
        let output = attnscope(&[&["generate", &broken], &PROMPT[..], more].concat()).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        (text(output.stdout), text(output.stderr))
    };
    let (out, err) = run(&["--json"]);
    let answer: serde_json::Value = serde_json::from_str(&out).unwrap();
    let new = answer["ids"].as_array().unwrap().len();
    // The token at position 12 is the last, and the first that cannot be read.
    assert_eq!(answer["prompt_ids"].as_array().unwrap().len() + new, 13);
    let tokens = new.to_string();
    let whole = json(&[&["generate", &tiny("gpt2-lm"), "--max-tokens", &tokens], &PROMPT[..]].concat());
    assert_eq!((&answer["text"], &answer["ids"]), (&whole["text"], &whole["ids"]));
    assert_eq!((&answer["ended"], answer.get("file")), (&"failed".into(), None));
    let due = format!("error: every logit is NaN: the checkpoint is damaged (new tokens until then: {new})");
    assert_eq!(err, format!("{due}\n"));
    // For a person too.
    assert_eq!(run(&[]), (format!("{}\n", whole["text"].as_str().unwrap()), format!("{due}\n")));
    // Of a text that broke off there is no trace, and that is said.
    let not_kept = format!("{due}; {file} was not written\n");
    assert_eq!(run(&["-o", file, "--json"]).1, not_kept);
    assert_eq!(fs::read_dir(to.path()).unwrap().count(), 0);
    // A prompt that cannot be read leaves nothing to keep.
    let _ = breaking_at(1, folder.path());
    fails(&[&["generate", &broken, "--json"], &PROMPT[..]].concat(), &["every logit is NaN"]);
}

#[test]
fn values_that_mean_nothing_are_refused() {
    let llama = tiny("llama-tied");
    let wrong = |args: &[&str], parts: &[&str]| {
        fails(&[&["generate", &llama], &PROMPT[..], args].concat(), parts);
    };
    wrong(&["--temperature", "0"], &["temperature is 0", "leave it out"]);
    wrong(&["--temperature", "-1"], &["temperature is -1"]);
    wrong(&["--temperature", "nan"], &["temperature is NaN"]);
    wrong(&["--top-k", "0"], &["top-k is 0"]);
    wrong(&["--top-p", "0"], &["top-p is 0"]);
    wrong(&["--min-p", "2"], &["min-p is 2"]);
    wrong(&["--repetition-penalty", "0"], &["repetition penalty is 0"]);
    wrong(&["--stop", ""], &["stop string is empty"]);
    fails(&["generate", &llama, "--chat"], &["nothing to go on with"]);
    fails(&["generate", &llama, "--chat", "--prompt", "a"], &["no chat template", "leave out --chat"]);
}

/// A copy of a tiny model with a chat template.
fn talking(folder: &Path) -> String {
    let source = tiny("llama-tied");
    for name in ["config.json", "tokenizer.json", "model.safetensors"] {
        fs::copy(Path::new(&source).join(name), folder.join(name)).unwrap();
    }
    let template = "{% for message in messages %}{{ message.role }} {{ message.content }} {% endfor %}\
                    {% if add_generation_prompt %}so{% endif %}";
    fs::write(folder.join("chat_template.jinja"), template).unwrap();
    folder.to_str().unwrap().to_owned()
}

#[test]
fn a_text_is_read_as_a_turn_and_with_or_without_marks() {
    let folder = TempDir::new().unwrap();
    let talking = talking(folder.path());
    let shown = |args: &[&str]| {
        let map = json(&[&["show", &talking], args].concat());
        map["tokens"].as_array().unwrap().iter().map(|token| token["id"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    let turn = ["--chat", "--text", "the robot", "--system", "be there"];
    let plain = ["--text", "system be there user the robot ", "--no-special-tokens"];
    assert_eq!(shown(&turn), shown(&plain));
    let answer = json(&[&["generate", &talking, "--max-tokens", "1"], &turn[..]].concat());
    let asked = shown(&["--text", "system be there user the robot so", "--no-special-tokens"]);
    assert_eq!(
        answer["prompt_ids"].as_array().unwrap().iter().map(|id| id.as_u64().unwrap()).collect::<Vec<_>>(),
        asked
    );
    let bert = tiny("bert-base");
    let with = json(&["show", &bert, "--text", "the robot"]);
    let without = json(&["show", &bert, "--text", "the robot", "--no-special-tokens"]);
    let len = |map: &serde_json::Value| map["tokens"].as_array().unwrap().len();
    assert_eq!(len(&with), len(&without) + 2);
}

/// Reads what is printed until there is something, interrupts it, and reads the rest.
#[cfg(unix)]
#[test]
fn an_interrupt_keeps_what_is_there() {
    let Some(smollm2) = model("smollm2-135m-instruct.Q4_1.gguf") else { return };
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("t.safetensors");
    let path = file.to_str().unwrap();
    let args =
        ["generate", &smollm2, "--prompt", "Once upon a time", "--max-tokens", "4000", "-o", path, "--seed", "1"];
    let mut child = Command::new(env!("CARGO_BIN_EXE_attnscope"));
    let mut child = child.args(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut out = child.stdout.take().unwrap();
    let mut said = vec![0; 12];
    out.read_exact(&mut said).unwrap();
    let interrupt = format!("kill -INT {}", child.id());
    assert!(Command::new("sh").args(["-c", &interrupt]).status().unwrap().success());
    out.read_to_end(&mut said).unwrap();
    let output = child.wait_with_output().unwrap();
    let err = text(output.stderr);
    assert!(output.status.success() && err.contains("; interrupted; its trace is in "), "{err}");
    let said = text(said);
    assert!(said.ends_with('\n'));
    let map = json(&["show", path, "--layer", "3"]);
    let tokens = map["tokens"].as_array().unwrap();
    assert!((6..4000).contains(&tokens.len()), "{}", tokens.len());
    let kept: String = tokens.iter().skip(4).map(|token| token["text"].as_str().unwrap()).collect();
    assert_eq!(kept, said.trim_end_matches('\n'));
}
