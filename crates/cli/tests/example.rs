//! What the commands say of the worked example, whose numbers are known.

mod common;

use common::{json, numbers, printed};
use serde_json::Value;

fn close(what: &str, got: &Value, want: f64, allowed: f64) {
    let got = got.as_f64().unwrap_or_else(|| panic!("{what} is {got}"));
    assert!((got - want).abs() <= allowed, "{what}: {got} for {want}");
}

#[test]
fn a_cell_has_the_numbers_and_names_that_were_promised() {
    let cell = json(&["cell", "example", "--query", "it", "--key", "robot"]);
    close("score", &cell["score"], 1.90, 0.005);
    close("weight", &cell["weight"], 0.629, 0.0005);
    close("row_sum", &cell["row_sum"], 1.0, 1e-6);
    let names = [
        "layer",
        "head",
        "query",
        "key",
        "q",
        "k",
        "products",
        "dot",
        "scale",
        "score",
        "mask",
        "lse",
        "log_weight",
        "weight",
        "row_sum",
        "v",
        "out",
        "share",
    ];
    for name in names {
        assert!(cell.get(name).is_some(), "no {name}");
    }
    assert_eq!(cell["query"], serde_json::json!({"index": 6, "token": "it"}));
    assert_eq!(cell["key"], serde_json::json!({"index": 1, "token": "robot"}));
    assert_eq!((&cell["layer"], &cell["head"], &cell["mask"]), (&0.into(), &0.into(), &Value::Null));
    assert_eq!(cell["scale"], 0.5);

    let (q, k, products) = (numbers(&cell["q"]), numbers(&cell["k"]), numbers(&cell["products"]));
    assert_eq!((q.len(), k.len(), products.len()), (4, 4, 4));
    for (dim, product) in products.iter().enumerate() {
        assert!((q[dim] * k[dim] - product).abs() < 1e-6);
    }
    close("dot", &cell["dot"], products.iter().sum(), 1e-9);
    close("score", &cell["score"], cell["dot"].as_f64().unwrap() / 2.0, 1e-6);
    close("log weight", &cell["log_weight"], cell["score"].as_f64().unwrap() - cell["lse"].as_f64().unwrap(), 1e-9);
    close("weight", &cell["weight"], cell["log_weight"].as_f64().unwrap().exp(), 1e-9);
    assert_eq!((numbers(&cell["v"]).len(), numbers(&cell["out"]).len()), (3, 3));
    let share = cell["share"].as_f64().unwrap();
    assert!(share > 0.5 && share < 1.0, "{share}");
}

#[test]
fn causal_it_spends_all_on_the_first_seven() {
    let mut sum = 0.0;
    for key in 0..10 {
        let cell = json(&["cell", "example", "--causal", "--query", "it", "--key", &key.to_string()]);
        if key > 6 {
            assert_eq!((&cell["weight"], &cell["mask"]), (&0.0.into(), &"future".into()));
            assert_eq!((&cell["log_weight"], &cell["share"]), (&Value::Null, &0.0.into()));
        } else {
            assert_eq!(cell["mask"], Value::Null);
            sum += cell["weight"].as_f64().unwrap();
        }
    }
    assert!((sum - 1.0).abs() < 1e-6, "{sum}");
    // The other way is the default, and can be asked for.
    let both = ["cell", "example", "--bidirectional", "--query", "it", "--key", "robot"];
    assert_eq!(json(&both), json(&["cell", "example", "--query", "it", "--key", "robot"]));
}

#[test]
fn a_row_has_one_weight_a_key() {
    let row = json(&["row", "example", "--query", "it"]);
    assert_eq!(row["query"], serde_json::json!({"index": 6, "token": "it"}));
    let weights = numbers(&row["weights"]);
    assert_eq!(weights.len(), 10);
    assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-6);
    close("row_sum", &row["row_sum"], 1.0, 1e-6);
    assert!((weights[1] - 0.629).abs() < 5e-4);
    let entropy: f64 = weights.iter().map(|a| -a * a.ln()).sum();
    close("entropy", &row["entropy"], entropy, 1e-6);
    assert_eq!(row["strongest"][0]["token"], "robot");
    assert_eq!(row["strongest"][1]["token"], "patient");

    let mean = json(&["row", "example", "--query", "6", "--head", "mean"]);
    assert_eq!(mean["head"], "mean");
    assert_eq!(numbers(&mean["weights"]), weights);
}

#[test]
fn the_list_of_heads_has_its_names_and_proofs() {
    let heads = json(&["heads", "example", "--causal"]);
    let [head] = &heads.as_array().unwrap()[..] else { panic!("one head: {heads}") };
    for name in ["layer", "head", "entropy", "first", "self", "previous", "distance", "proof"] {
        assert!(head.get(name).is_some(), "no {name}");
    }
    assert_eq!((&head["layer"], &head["head"]), (&0.into(), &0.into()));
    for name in ["row_sum_error", "output_error"] {
        assert!(head["proof"][name].as_f64().unwrap() < 1e-5, "{name}: {head}");
    }
    let row = |query: usize| numbers(&json(&["row", "example", "--causal", "--query", &query.to_string()])["weights"]);
    let rows: Vec<Vec<f64>> = (0..10).map(row).collect();
    let mean = |of: &dyn Fn(usize) -> f64, from: usize| (from..10).map(of).sum::<f64>() / (10 - from) as f64;
    close("first", &head["first"], mean(&|i| rows[i][0], 0), 1e-9);
    close("self", &head["self"], mean(&|i| rows[i][i], 0), 1e-9);
    close("previous", &head["previous"], mean(&|i| rows[i][i - 1], 1), 1e-9);
    let distance = |i: usize| (0..=i).map(|j| rows[i][j] * (i - j) as f64).sum();
    close("distance", &head["distance"], mean(&distance, 0), 1e-9);
    assert_eq!(json(&["heads", "example", "--causal", "--layer", "0"]), heads);
}

#[test]
fn a_map_has_every_weight_and_null_where_hidden() {
    let map = json(&["show", "example", "--causal"]);
    assert_eq!(map["tokens"].as_array().unwrap().len(), 10);
    assert_eq!(map["tokens"][6]["text"], "it");
    for (query, row) in map["weights"].as_array().unwrap().iter().enumerate() {
        let cells = row.as_array().unwrap();
        assert_eq!(cells.len(), 10);
        assert!(cells.iter().enumerate().all(|(key, cell)| cell.is_null() == (key > query)), "{row}");
        let sum: f64 = cells.iter().filter_map(Value::as_f64).sum();
        assert!((sum - 1.0).abs() < 1e-6, "{sum}");
    }
    let weight = json(&["cell", "example", "--causal", "--query", "6", "--key", "1"])["weight"].as_f64().unwrap();
    close("(6, 1)", &map["weights"][6][1], weight, 1e-7);
    assert_eq!(json(&["show", "example", "--head", "mean"])["head"], "mean");
}

#[test]
fn a_person_reads_the_same_numbers() {
    let cell = printed(&["cell", "example", "--query", "it", "--key", "robot"]);
    let json = json(&["cell", "example", "--query", "it", "--key", "robot"]);
    let four = |name: &str| format!("{:.4}", json[name].as_f64().unwrap());
    let line = |start: &str| {
        let found = cell.lines().find(|line| line.trim_start().starts_with(start));
        found.unwrap_or_else(|| panic!("no line {start:?}: {cell}")).to_owned()
    };
    assert!(line("their sum").ends_with(&four("dot")));
    assert!(line("x scale 0.5").ends_with("1.9000"));
    assert!(line("- log-sum-exp").ends_with(&four("lse")));
    assert!(line("= log weight").ends_with(&four("log_weight")));
    assert!(line("weight = exp").ends_with("0.6291"));
    assert!(line("all weights").ends_with("1.000000"));
    assert!(line("its value's share").ends_with(&format!("{:.1} %", json["share"].as_f64().unwrap() * 100.0)));
    assert!(line("query 6 it").ends_with("key 1 robot"));
    assert!(cell.contains("Designed by hand") && cell.contains("not an explanation"), "{cell}");

    let hidden = printed(&["cell", "example", "--causal", "--query", "it", "--key", "tired"]);
    assert!(hidden.contains("hidden from the query") && hidden.contains("future"), "{hidden}");
    assert!(hidden.lines().any(|line| line.contains("weight") && line.ends_with("0.0000")), "{hidden}");
}

#[test]
fn a_person_reads_a_row_as_a_budget() {
    let row = printed(&["row", "example", "--query", "it", "--top", "2"]);
    let lines: Vec<&str> = row.lines().collect();
    let at = |text: &str| lines.iter().position(|line| line.contains(text)).unwrap_or_else(|| panic!("{text}: {row}"));
    assert!(lines[at("robot ")].contains("0.6291"), "{row}");
    assert!(at("robot ") < at("patient ") && at("patient ") < at("8 others"), "{row}");
    assert!(lines[at("sum")].ends_with("1.000000"), "{row}");
    assert!(row.contains("sees 10 keys; 0 are hidden"), "{row}");
    let causal = printed(&["row", "example", "--causal", "--query", "it"]);
    assert!(causal.contains("sees 7 keys; 3 are hidden") && !causal.contains("others"), "{causal}");
}

#[test]
fn a_person_sees_a_map_with_both_axes_and_no_colour_codes_in_a_file() {
    let map = printed(&["show", "example"]);
    assert!(map.contains("10 queries (down) x 10 keys (across)"), "{map}");
    let row = map.lines().find(|line| line.trim_start().starts_with("6 ")).unwrap();
    assert!(row.contains("it ") && row.contains('█'), "{row}");
    assert!(!map.contains('\u{1b}'));
    assert!(map.contains("not an explanation"));

    let heads = printed(&["heads", "example"]);
    assert!(heads.contains("entropy") && heads.contains("output err") && heads.contains("not an explanation"));
}

#[test]
fn help_version_and_completions_are_there() {
    for command in ["view", "show", "row", "cell", "heads", "trace", "generate", "completions"] {
        assert!(printed(&["--help"]).contains(command));
        assert!(printed(&[command, "--help"]).contains("Usage:"), "{command}");
    }
    assert!(printed(&["--version"]).starts_with("attnscope "));
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = printed(&["completions", shell]);
        assert!(script.contains("attnscope") && script.contains("heads"), "{shell}");
    }
}

#[test]
fn any_number_of_threads_gives_the_same_numbers() {
    let one = json(&["heads", "example", "--threads", "1"]);
    assert_eq!(one, json(&["heads", "example", "--threads", "7"]));
    assert_eq!(one, json(&["heads", "example"]));
}
