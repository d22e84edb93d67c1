//! `attnscope bench`: what it says, not how fast anything is.

mod common;

use common::{attnscope, fails, json, refused};
use serde_json::Value;
use tempfile::TempDir;

const SMALL: [&str; 4] = ["bench", "--quick", "--only", "n512"];

#[test]
fn json_holds_the_machine_and_a_case_with_its_ratios() {
    let folder = TempDir::new().unwrap();
    let chart = folder.path().join("chart.svg");
    let report = json(&[&SMALL[..], &["--threads", "1", "--svg", chart.to_str().unwrap()]].concat());
    let number = |value: &Value, name: &str| {
        let number = value[name].as_f64().unwrap_or_else(|| panic!("{name} in {value}"));
        assert!(number > 0.0 && number.is_finite(), "{name} in {value}");
        number
    };
    let machine = &report["machine"];
    for name in ["fma_peak_gflops", "sgemm_gflops", "read_gbps"] {
        number(machine, name);
    }
    assert_eq!(machine["threads"], 1);
    assert!(!machine["isa"].as_str().unwrap().is_empty());

    let cases = report["cases"].as_array().unwrap();
    assert!(cases.iter().all(|case| case["case"].as_str().unwrap().contains("n512")), "{cases:?}");
    let case = cases.iter().find(|case| case["case"] == "f32 h12 d64 n512 full").unwrap();
    assert_eq!(case["threads"], 1);
    let gflops = 4.0 * 512.0 * 512.0 * 64.0 * 12.0 / 1e6 / number(case, "median_ms");
    assert!((number(case, "gflops") / gflops - 1.0).abs() < 1e-9, "{case}");
    number(case, "frac_peak");
    number(case, "frac_sgemm");
    assert!(case["spread"].as_f64().unwrap() >= 0.0);
    assert!(case.get("noisy").is_none_or(|noisy| noisy == true), "{case}");
    assert_eq!(report["curve"], Value::Array(Vec::new()));

    let svg = std::fs::read_to_string(chart).unwrap();
    assert!(svg.starts_with("<svg ") && svg.contains("f32 h12 d64 full"), "{svg}");
}

#[test]
fn bad_arguments_are_told_before_anything_runs() {
    fails(&["bench", "--only", "warp"], &["no case", "\"warp\"", "f32 h12 d64 n2048 full", "naive against ours"]);
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let to = |name: &str, parts: &[&str]| {
        fails(&[&SMALL[..], &["--svg", &path(name)]].concat(), parts);
    };
    to("chart.png", &["chart.png", ".svg"]);
    to("none/chart.svg", &["none", "no such folder"]);
    std::fs::create_dir(path("taken.svg")).unwrap();
    to("taken.svg", &["taken.svg", "is a folder"]);
    for args in
        [&["bench", "--quick=yes"][..], &["bench", "example"], &["bench", "--only"], &["bench", "--threads", "0"]]
    {
        refused(attnscope(args), 2, &["--help"]);
    }
}

/// One line, no half of an answer.
#[cfg(unix)]
#[test]
fn an_interrupt_stops_it() {
    use std::process::{Command, Stdio};
    let mut command = Command::new(env!("CARGO_BIN_EXE_attnscope"));
    let running = command.args(["bench", "--json"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(1500));
    let killed = Command::new("sh").args(["-c", &format!("kill -INT {}", running.id())]).status().unwrap();
    assert!(killed.success());
    let output = running.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert_eq!(common::text(output.stdout), "");
    assert_eq!(common::text(output.stderr), "stopped\n");
}
