//! `attnscope export`: what it writes, that it agrees with what the other commands print, and how it refuses.

mod common;

use std::path::Path;

use common::{attnscope, fails, json, numbers, printed, refused};
use serde_json::Value;

/// Exports the example into a folder of its own and gives the file.
fn exported(name: &str, args: &[&str]) -> (tempfile::TempDir, Vec<u8>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    let line = printed(&[&["export", "example", "-o", path.to_str().unwrap()], args].concat());
    assert!(line.starts_with(path.to_str().unwrap()), "{line}");
    let bytes = std::fs::read(&path).unwrap();
    (folder, bytes)
}

fn read_json(args: &[&str]) -> Value {
    serde_json::from_slice(&exported("it.json", args).1).unwrap()
}

#[test]
fn every_ending_gives_its_format() {
    for (name, starts) in [
        ("a.png", &b"\x89PNG\r\n"[..]),
        ("a.SVG", b"<svg "),
        ("a.html", b"<!doctype html>"),
        ("a.npz", b"PK\x03\x04"),
        ("a.json", b"{\"model\":"),
        ("a.csv", b"query,token,0 The,"),
    ] {
        let (folder, bytes) = exported(name, &[]);
        assert!(bytes.starts_with(starts), "{name}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing else is left in the folder");
    }
}

#[test]
fn it_agrees_with_what_is_printed() {
    let shown = json(&["show", "example", "--causal"]);
    let map = read_json(&["--causal"]);
    for (row, query) in map["weights"].as_array().unwrap().iter().zip(shown["weights"].as_array().unwrap()) {
        for (full, short) in row.as_array().unwrap().iter().zip(query.as_array().unwrap()) {
            assert_eq!(full.as_f64().map(|weight| weight as f32), short.as_f64().map(|weight| weight as f32));
        }
    }
    assert_eq!(read_json(&["--query", "it"]), json(&["row", "example", "--query", "it"]));
    let cell = ["--query", "it", "--key", "robot"];
    assert_eq!(read_json(&cell), json(&[&["cell", "example"], &cell[..]].concat()));
    assert_eq!(read_json(&["--what", "heads"]), json(&["heads", "example"]));
}

/// What an SVG says, text by text.
fn texts(svg: &[u8]) -> Vec<String> {
    let svg = String::from_utf8(svg.to_vec()).unwrap();
    let end = |part: &str| part.split("</text>").next().unwrap().split('>').next_back().unwrap().to_owned();
    svg.split("<text ").skip(1).map(end).collect()
}

#[test]
fn a_column_is_what_the_rows_say() {
    let column = read_json(&["--key", "robot", "--causal"]);
    let weights = numbers(&column["weights"]);
    for query in 0..10 {
        let row = json(&["row", "example", "--causal", "--query", &query.to_string()]);
        assert_eq!(numbers(&row["weights"])[1], weights[query]);
        assert_eq!(row["mask"][1], column["mask"][query]);
    }
    let csv = String::from_utf8(exported("it.csv", &["--key", "robot", "--causal"]).1).unwrap();
    let line = csv.lines().nth(7).unwrap().split(',').map(str::to_owned).collect::<Vec<_>>();
    assert_eq!((line[0].as_str(), line[1].as_str(), line[2].parse::<f64>().unwrap()), ("6", "it", weights[6]));
    let shown = texts(&exported("it.svg", &["--key", "robot", "--causal"]).1);
    assert!(shown.contains(&format!("{:.4}", weights[6])), "{shown:?}");
}

#[test]
fn pictures_hold_what_is_printed() {
    let cell = json(&["cell", "example", "--query", "it", "--key", "robot"]);
    let shown = texts(&exported("it.svg", &["--query", "it", "--key", "robot"]).1);
    for (what, name) in [("their sum, q · k", "dot"), ("weight = exp of it", "weight"), ("= log weight", "log_weight")]
    {
        let at = shown.iter().position(|text| text == what).unwrap_or_else(|| panic!("{what} is not in {shown:?}"));
        let (shown, printed) = (shown[at + 1].parse::<f64>().unwrap(), cell[name].as_f64().unwrap());
        assert!((shown / printed - 1.0).abs() < 1e-5, "{what}: {shown} for {printed}");
    }
    let heads = json(&["heads", "example"]);
    let shown = texts(&exported("it.svg", &["--what", "heads", "--sort", "entropy"]).1);
    assert!(shown.contains(&format!("{:.3}", heads[0]["entropy"].as_f64().unwrap())), "{shown:?}");
    // Each cell of a map says its weight.
    let map = String::from_utf8(exported("it.svg", &["--causal", "--without", "first"]).1).unwrap();
    for (query, row) in json(&["show", "example", "--causal"])["weights"].as_array().unwrap().iter().enumerate() {
        for (key, weight) in row.as_array().unwrap().iter().enumerate() {
            let note = map
                .split("<title>")
                .find(|note| note.starts_with(&format!("query {query} ")) && note.contains(&format!(", key {key} ")));
            let said = note.unwrap().split("</title>").next().unwrap();
            match weight.as_f64() {
                None => assert!(said.ends_with("the key comes later"), "{said}"),
                Some(weight) => {
                    let end = if key == 0 { ", not in the scale" } else { "" };
                    assert!(said.ends_with(&format!(": {}{end}", weight as f32)), "{said} for {weight}");
                }
            }
        }
    }
}

#[test]
fn a_part_of_the_map_is_that_part() {
    let part = read_json(&["--queries", "6..", "--keys", "..2"]);
    assert_eq!((&part["queries"], &part["keys"]), (&serde_json::json!([6, 10]), &serde_json::json!([0, 2])));
    assert_eq!(part["weights"][0][1], read_json(&[])["weights"][6][1]);
}

#[test]
fn an_existing_file_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("map.csv");
    std::fs::write(&path, "old").unwrap();
    let answer = json(&["export", "example", "-o", path.to_str().unwrap()]);
    assert_eq!(answer["bytes"], std::fs::metadata(&path).unwrap().len());
    assert!(answer["note"].is_null());
    assert_ne!(std::fs::read(&path).unwrap(), b"old");
}

#[cfg(unix)]
#[test]
fn the_file_is_as_readable_as_any_new_one() {
    use std::os::unix::fs::PermissionsExt;
    let (folder, _) = exported("a.csv", &[]);
    let plain = folder.path().join("plain");
    std::fs::write(&plain, "").unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode();
    assert_eq!(mode(&folder.path().join("a.csv")), mode(&plain));
}

#[test]
fn what_cannot_be_is_said_before_anything_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let fails = |name: &str, args: &[&str], parts: &[&str]| {
        fails(&[&["export", "example", "-o", &path(name)], args].concat(), parts);
    };
    fails("a.gif", &[], &["\"gif\"", "png, svg, html, npz, json or csv"]);
    fails("none", &[], &["png, svg, html, npz, json or csv"]);
    fails("no/such/a.png", &[], &["no such folder"]);
    fails("a.png", &["--what", "column"], &["--key"]);
    fails("a.png", &["--what", "column", "--key", "robot", "--query", "it"], &["--query"]);
    fails("a.png", &["--what", "row"], &["--query"]);
    fails("a.png", &["--queries", "3..30"], &["queries 3..30", "0..10"]);
    fails("a.png", &["--query", "it", "--keys", "0..3"], &["--queries and --keys"]);
    fails("a.png", &["--layer", "7"], &["layer 7"]);
    fails("a.json", &["--head", "mean", "--query", "it", "--key", "robot"], &["a mean"]);
    fails("a.png", &["--dpi", "9"], &["9 dots to the inch"]);
    for wrong in [
        &["--scale", "cubic"][..],
        &["--queries", "3"],
        &["--palette", "blue"],
        &["--theme", "blue"],
        &["--range", "2"],
    ] {
        let command = attnscope(&[&["export", "example", "-o", &path("a.png")], wrong].concat());
        refused(command, 2, &["must be"]);
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left of what failed");
}

#[test]
fn an_option_that_would_do_nothing_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (name, args, parts) in [
        ("a.csv", &["--what", "heads", "--sort", "entropy"][..], &["--sort is for pictures of the heads"][..]),
        ("a.json", &["--what", "heads", "--only", "0.0"], &["--only is for pictures of the heads"]),
        ("a.png", &["--only", "0.0"], &["--only is for pictures of the heads"]),
        ("a.png", &["--what", "heads", "--head", "0"], &["--head is for", "--only"]),
        ("a.png", &["--query", "it", "--scale", "log"], &["--scale is for pictures of a map"]),
        ("a.png", &["--query", "it", "--without", "first"], &["--without is for pictures of a map"]),
        ("a.csv", &["--without", "first"], &["--without is for pictures of a map"]),
        ("a.svg", &["--dpi", "96"], &["--dpi is for png"]),
        ("a.npz", &["--theme", "dark"], &["--theme is for pictures"]),
        ("a.png", &["--without", "10"], &["--without: column 10 is out of range", "0 to 9"]),
        ("a.png", &["--without", "0,1,2,3,4,5,6,7,8,9"], &["--without: no column would be left"]),
        ("a.png", &["--without", ""], &["--without: it names no column"]),
        ("a.png", &["--what", "heads", "--only", "1.0"], &["--only: there is no head 1.0"]),
        ("a.png", &["--what", "heads", "--only", ""], &["--only: it names no head"]),
        ("none", &[], &["no ending", "png, svg, html, npz, json or csv"]),
    ] {
        let path = folder.path().join(name);
        fails(&[&["export", "example", "-o", path.to_str().unwrap()], args].concat(), parts);
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    exported("a.png", &["--what", "heads", "--only", "0.0", "--sort", "proof", "--rising", "--scale", "log"]);
    exported("a.html", &["--what", "heads", "--theme", "dark"]);
}
