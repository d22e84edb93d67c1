//! Files to take along.

use attnscope_render::{Blocks, Format, Palette, Scale, Statistic, Theme, Top};
use axum::http::StatusCode;
use serde_json::{Value, json};

use crate::models::asking;
use crate::support::{Answer, Asking};

fn text(answer: &Answer) -> String {
    String::from_utf8(answer.body.to_vec()).expect("UTF-8")
}

/// That it is a file of this kind and name, which no browser takes for anything else.
#[track_caller]
fn is_file(answer: &Answer, kind: &str, name: &str) {
    assert_eq!(answer.status, StatusCode::OK, "{}", String::from_utf8_lossy(&answer.body));
    assert_eq!(answer.headers["content-type"], kind);
    assert_eq!(answer.headers["content-disposition"], format!("attachment; filename=\"{name}\"").as_str());
    assert_eq!(answer.headers["x-content-type-options"], "nosniff");
    assert_eq!(answer.headers["cache-control"], "no-store");
    let policy = answer.headers["content-security-policy"].to_str().expect("text");
    assert!(policy.starts_with("sandbox; default-src 'none'") && !policy.contains("script-src"), "{policy}");
    assert_eq!(answer.headers.get_all("content-security-policy").iter().count(), 1);
}

#[tokio::test]
async fn every_format_is_what_it_says() {
    let asking = Asking::example();
    let trace = asking.trace(true).await;
    for (format, kind, begins) in [
        ("png", "image/png", &b"\x89PNG\r\n\x1a\n"[..]),
        ("svg", "image/svg+xml", b"<"),
        ("html", "text/html; charset=utf-8", b"<!doctype html>"),
        ("npz", "application/zip", b"PK"),
        ("json", "application/json", b"{"),
        ("csv", "text/csv; charset=utf-8", b""),
    ] {
        let answer = asking.get(&format!("{trace}/export?format={format}")).await;
        is_file(&answer, kind, &format!("attnscope-the-worked-example-layer-0-head-0-map.{format}"));
        assert!(answer.body.starts_with(begins) && answer.body.len() > 100, "{format}");
        let again = asking.get(&format!("{trace}/export?format={format}&what=map&layer=0&head=0&site=self")).await;
        assert_eq!(again.body, answer.body, "{format}: these are what it does without them");
    }
}

#[tokio::test]
async fn numbers_are_those_of_the_questions() {
    let folder = tempfile::tempdir().expect("a folder");
    let asking = asking(folder.path());
    let meta = asking.make(json!({ "source": "s1", "text": "a robot" })).await;
    let trace = format!("/api/traces/{}", meta["id"].as_str().unwrap());
    for (what, question, asks) in [
        ("row", "row", "layer=1&head=1&query=3"),
        ("row", "row", "layer=1&head=mean&query=3"),
        ("column", "column", "layer=1&head=1&key=3"),
        ("column", "column", "layer=1&head=mean&key=3"),
        ("heads", "heads", "layer=1"),
        ("heads", "heads", ""),
    ] {
        let file = asking.get(&format!("{trace}/export?what={what}&format=json&{asks}")).await;
        assert_eq!(file.json(), asking.get(&format!("{trace}/{question}?{asks}")).await.json(), "{what} {asks}");
    }
    let asks = "layer=1&head=0&query=3&key=2";
    let file = asking.get(&format!("{trace}/export?what=cell&format=json&{asks}")).await.json();
    let cell = asking.get(&format!("{trace}/cell?{asks}")).await.json();
    for (name, value) in file.as_object().unwrap() {
        assert_eq!(*value, cell[name], "{name}");
    }
    let csv = text(&asking.get(&format!("{trace}/export?what=row&format=csv&layer=1&head=1&query=3")).await);
    let row = asking.get(&format!("{trace}/row?layer=1&head=1&query=3")).await.json();
    assert!(csv.contains(&row["weights"][0].to_string()), "{csv}");
}

#[tokio::test]
async fn names_say_what_is_in_the_files() {
    let asking = Asking::example();
    let trace = asking.trace(false).await;
    for (asks, name) in [
        ("what=map&q0=0&q1=5", "layer-0-head-0-part-of-map.png"),
        ("what=map&k0=3&head=mean", "layer-0-mean-part-of-map.png"),
        ("what=row&query=6", "layer-0-head-0-row-6.png"),
        ("what=column&key=6", "layer-0-head-0-column-6.png"),
        ("what=cell&query=6&key=1", "layer-0-head-0-cell-6-1.png"),
        ("what=heads&sort=entropy&order=rising", "heads.png"),
    ] {
        let answer = asking.get(&format!("{trace}/export?format=png&dpi=96&{asks}")).await;
        is_file(&answer, "image/png", &format!("attnscope-the-worked-example-{name}"));
    }
    let cell = asking.get(&format!("{trace}/export?format=csv&what=cell&query=6&key=1")).await;
    is_file(&cell, "text/csv; charset=utf-8", "attnscope-the-worked-example-layer-0-head-0-cell-6-1.csv");
    let heads = asking.get(&format!("{trace}/export?format=html&what=heads&head=0&query=6&key=1")).await;
    is_file(&heads, "text/html; charset=utf-8", "attnscope-the-worked-example-heads.html");
}

#[tokio::test]
async fn looks_change_pictures_and_never_numbers() {
    let asking = Asking::example();
    let trace = asking.trace(false).await;
    let svg = text(&asking.get(&format!("{trace}/export?format=svg")).await);
    let csv = text(&asking.get(&format!("{trace}/export?format=csv")).await);
    for look in
        ["scale=log", "scale=rank", "palette=cividis", "theme=dark", "cell=31", "without=first", "range=largest"]
    {
        let other = asking.get(&format!("{trace}/export?format=svg&{look}")).await;
        assert_ne!(text(&other), svg, "{look}");
        assert_eq!(text(&asking.get(&format!("{trace}/export?format=csv&{look}")).await), csv, "{look}");
    }
    assert_eq!(
        text(&asking.get(&format!("{trace}/export?format=svg&scale=linear&theme=light&palette=amber")).await),
        svg
    );
    let (small, large) = (
        asking.get(&format!("{trace}/export?format=png&dpi=48")).await.body,
        asking.get(&format!("{trace}/export?format=png&dpi=192")).await.body,
    );
    let width = |png: &[u8]| u32::from_be_bytes(png[16..20].try_into().expect("four bytes"));
    assert!(width(&large).abs_diff(4 * width(&small)) <= 4, "{} {}", width(&small), width(&large));
}

#[tokio::test]
async fn files_that_cannot_be_are_refused_in_words() {
    let asking = Asking::example();
    let trace = asking.trace(false).await;
    for (asks, says) in [
        ("", "format"),
        ("format=gif", "\"gif\" is not one of png, svg, html, npz, json, csv"),
        ("format=PNG", "is not one of"),
        ("format=png&what=all", "unknown variant"),
        ("format=png&scale=cubic", "\"cubic\" is not one of linear, sqrt, log, row, rank"),
        ("format=png&palette=rainbow", "is not one of amber,"),
        ("format=png&range=2", "is not one of 1, largest"),
        ("format=png&blocks=most", "is not one of largest, mean"),
        ("format=png&without=last", "\"last\" is no column to leave out"),
        ("format=svg&what=heads&sort=size", "is not one of entropy, first,"),
        ("format=svg&what=heads&only=3", "\"3\" is no head"),
        ("format=svg&what=heads&order=up", "unknown variant"),
        ("format=png&theme=blue", "is not one of light, dark"),
        ("format=png&layer=1", "layer 1 is out of range"),
        ("format=png&head=1", "head 1 is out of range"),
        ("format=png&site=cross", "no cross attention"),
        ("format=png&q0=5&q1=5", "queries 5..5"),
        ("format=png&k1=11", "keys 0..11"),
        ("format=png&cell=1000", "cells of 1000 pixels"),
        ("format=png&cell=NaN", "pixels"),
        ("format=png&dpi=10", "10 dots to the inch"),
        ("format=png&dpi=100000", "dots to the inch"),
        ("format=csv&what=row", "the query is not given"),
        ("format=csv&what=row&query=10", "query 10 is out of range"),
        ("format=csv&what=cell&query=1", "the key is not given"),
        ("format=csv&what=cell&query=1&key=1&head=mean", "a cell is of one head"),
        ("format=csv&what=column&query=1", "the key is not given"),
        ("format=svg&what=heads&site=cross", "no cross attention"),
        ("format=json&what=heads&layer=1", "layer 1 is out of range"),
        ("format=png&colour=red", "colour"),
    ] {
        let error = asking.get(&format!("{trace}/export?{asks}")).await.refused(400);
        assert!(error.contains(says), "{asks}: {error}");
        assert!(!error.contains("--"), "{asks}: {error} speaks of the command line");
    }
    asking.get("/api/traces/nobody/export?format=png").await.refused(404);
}

#[tokio::test]
async fn the_description_names_every_choice() {
    let description = Asking::example().get("/api/openapi.json").await.json();
    let parameters = description["paths"]["/api/traces/{id}/export"]["get"]["parameters"].as_array().unwrap();
    for (name, choices) in [
        ("format", Format::ALL.map(Format::ending).to_vec()),
        ("scale", Scale::ALL.map(Scale::name).to_vec()),
        ("palette", Palette::ALL.map(Palette::name).to_vec()),
        ("theme", Theme::ALL.map(Theme::name).to_vec()),
        ("range", Top::ALL.map(Top::name).to_vec()),
        ("blocks", Blocks::ALL.map(Blocks::name).to_vec()),
        ("sort", Statistic::ALL.map(Statistic::name).to_vec()),
    ] {
        let parameter = parameters.iter().find(|parameter| parameter["name"] == name).expect("it is described");
        assert_eq!(parameter["schema"]["enum"], json!(choices), "{name}");
    }
}

/// A text may hold anything; what is made of it is read as text.
#[tokio::test]
async fn markup_in_a_text_stays_text() {
    let folder = tempfile::tempdir().expect("a folder");
    let asking = asking(folder.path());
    let meta = asking.make(json!({ "source": "s1", "text": "<script>alert(1)</script>" })).await;
    let trace = format!("/api/traces/{}", meta["id"].as_str().unwrap());
    for format in ["svg", "html"] {
        let page = text(&asking.get(&format!("{trace}/export?format={format}")).await);
        assert!(!page.contains("<script"), "{format}");
    }
    let row: Value = asking.get(&format!("{trace}/export?format=json&what=row&query=1")).await.json();
    assert_eq!(row["query"]["token"], "s");
}
