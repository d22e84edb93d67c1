//! A trace that is kept and opened again answers every question with the same bits.

mod common;

use std::path::Path;

use attnscope_inspect::example::Example;
use attnscope_inspect::{At, Pick, Read, SiteKind, Trace};
use attnscope_kernel::{Bias, KeyPadding, Knockout, Params, RelativeBias, Segments, Window};
use common::{SMALL, site, tokens, trace};
use tempfile::TempDir;

fn kept(trace: &Trace) -> Trace {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("t.safetensors");
    trace.save(&path).unwrap();
    // The folder goes when this returns: an open trace must not need its name any more.
    Trace::open(&path).unwrap()
}

fn same(a: &Trace, b: &Trace) {
    assert_eq!(a.model, b.model);
    assert_eq!((&a.text, &a.tokens, &a.version, &a.isa), (&b.text, &b.tokens, &b.version, &b.isa));
    assert_eq!(a.sites.len(), b.sites.len());
    for (a_site, b_site) in a.sites.iter().zip(&b.sites) {
        assert_eq!((a_site.kind, a_site.layer), (b_site.kind, b_site.layer));
        assert_eq!(a_site.params, b_site.params);
        let (kind, layer) = (a_site.kind, a_site.layer);
        for head in 0..a_site.q_heads() {
            let at = At { site: kind, layer, head };
            let all = (0..a_site.q_len(), 0..a_site.kv_len());
            let tiles = [a, b].map(|trace| trace.tile(at, all.0.clone(), all.1.clone()).unwrap());
            assert_eq!(bits(&tiles[0].cells), bits(&tiles[1].cells));
            for query in 0..a_site.q_len() {
                assert_eq!(a.row(at, query).unwrap(), b.row(at, query).unwrap());
                for key in 0..a_site.kv_len() {
                    assert_eq!(a.cell(at, query, key).unwrap(), b.cell(at, query, key).unwrap());
                }
            }
        }
        let means = [a, b].map(|trace| trace.picked_row(kind, layer, Pick::Mean, 0).unwrap());
        assert_eq!(means[0], means[1]);
    }
    assert_eq!(a.heads(None).unwrap(), b.heads(None).unwrap());
}

fn bits(cells: &[f32]) -> Vec<u32> {
    cells.iter().map(|cell| cell.to_bits()).collect()
}

#[test]
fn the_example_comes_back_bit_by_bit() {
    for causal in [false, true] {
        let trace = Example::load().trace(causal).unwrap();
        same(&trace, &kept(&trace));
    }
}

#[test]
fn every_parameter_comes_back() {
    // Not a short decimal, so that a scale that went through text is found out.
    let scale = 0.1f32 + 0.2 / 3.0;
    let windows = [
        None,
        Some(Window { left: 0, right: 0 }),
        Some(Window { left: 3, right: 1 }),
        Some(Window { left: usize::MAX, right: usize::MAX }),
    ];
    for window in windows {
        for causal in [false, true] {
            let trace = trace(SMALL, &Params { scale, causal, window, ..Params::for_head_dim(1) });
            let again = kept(&trace);
            assert_eq!(again.sites[1].params, Params { scale, causal, window, ..Params::for_head_dim(1) });
            same(&trace, &again);
        }
    }
}

#[test]
fn every_variant_comes_back() {
    let table = (0..8 * 4).map(|at| at as f32 / 3.0).collect::<Vec<f32>>();
    let params = Params {
        causal: true,
        softcap: Some(0.1 + 0.2 / 3.0),
        segments: Some(Segments::of_lens(&[4, 0, 7]).unwrap()),
        key_padding: Some(KeyPadding::lens(&[9], 11)),
        bias: Some(Bias::new((0..4 * 121).map(|at| at as f32 / 7.0).collect::<Vec<f32>>(), [1, 4, 11, 11]).unwrap()),
        alibi_slopes: Some([0.5, 0.25, 0.125, 1.0 / 3.0].into()),
        relative_bias: Some(RelativeBias::new(table, 8, 32, true).unwrap()),
        sinks: Some([0.1, -0.2, 0.3, 1e-3].into()),
        knockouts: vec![Knockout { head: Some(2), query: None, key: Some(1) }, Knockout::default()],
        ..Params::for_head_dim(5)
    };
    let trace = trace(SMALL, &params);
    let again = kept(&trace);
    assert_eq!(again.sites[1].params, params);
    same(&trace, &again);
}

#[test]
fn an_encoder_decoder_keeps_its_three_attentions_apart() {
    let params = Params::for_head_dim(SMALL.head_dim);
    let causal = Params { causal: true, ..params.clone() };
    let sites = vec![
        site(SiteKind::Encoder, 0, 6, 6, SMALL, &params),
        site(SiteKind::SelfAttention, 0, 11, 11, SMALL, &causal),
        site(SiteKind::Cross, 0, 11, 6, SMALL, &params),
    ];
    let trace = Trace::new(Default::default(), String::new(), tokens(11), sites).unwrap();
    same(&trace, &kept(&trace));
    let read = Read { text: "what the encoder read".to_owned(), tokens: tokens(6) };
    let trace = trace.with_encoder(read.clone()).unwrap();
    let again = kept(&trace);
    same(&trace, &again);
    assert_eq!(again.encoder, Some(read));
    let lens = |kind| {
        let site = again.site(kind, 0).unwrap();
        (site.q_len(), site.kv_len())
    };
    assert_eq!(
        [lens(SiteKind::Encoder), lens(SiteKind::SelfAttention), lens(SiteKind::Cross)],
        [(6, 6), (11, 11), (11, 6)]
    );
}

#[test]
fn a_trace_may_be_kept_over_the_file_it_was_opened_from() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("t.safetensors");
    let trace = trace(SMALL, &Params::for_head_dim(SMALL.head_dim));
    trace.save(&path).unwrap();
    let opened = Trace::open(&path).unwrap();
    opened.save(&path).unwrap();
    same(&trace, &opened);
    same(&trace, &Trace::open(&path).unwrap());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing else is left behind");
}

#[test]
fn a_trace_that_cannot_be_written_says_where_and_leaves_nothing() {
    let trace = Example::load().trace(false).unwrap();
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    for path in [folder.path().join("none").join("t.safetensors"), file.join("t.safetensors"), folder.path().to_owned()]
    {
        let message = trace.save(&path).unwrap_err().to_string();
        assert!(message.contains(path.to_str().unwrap()), "{message}");
        assert!(message.contains("cannot write the trace"), "{message}");
        assert_eq!(message.lines().count(), 1, "{message}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

/// Names, shapes and types are a promise to whoever opens the file with another tool.
#[test]
fn the_file_holds_what_its_format_says() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("t.safetensors");
    let trace = trace(SMALL, &Params { causal: true, ..Params::for_head_dim(5) });
    trace.save(&path).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let file = safetensors::SafeTensors::deserialize(&bytes).unwrap();
    assert_eq!(file.len(), 10);
    for (part, shape) in [("q", [11, 4, 5]), ("k", [11, 2, 5]), ("v", [11, 2, 3]), ("out", [11, 4, 3])] {
        let tensor = file.tensor(&format!("blocks.1.self.{part}")).unwrap();
        assert_eq!((tensor.dtype(), tensor.shape()), (safetensors::Dtype::F32, &shape[..]));
    }
    let lse = file.tensor("blocks.1.self.lse").unwrap();
    assert_eq!((lse.dtype(), lse.shape()), (safetensors::Dtype::F64, &[4, 11][..]));
    assert_eq!(lse.data()[..8], trace.sites[1].lse[0].to_le_bytes());

    let (_, metadata) = safetensors::SafeTensors::read_metadata(&bytes).unwrap();
    let entry = &metadata.metadata().as_ref().unwrap()["attnscope"];
    let entry: serde_json::Value = serde_json::from_str(entry).unwrap();
    assert_eq!(entry["format"], 1);
    assert_eq!(entry["sites"][1]["causal"], true);
    assert_eq!(entry["sites"][1]["site"], "self");
    assert_eq!(entry["model"]["sha256"], "00ff");
    assert_eq!(entry["tokens"].as_array().unwrap().len(), 11);
    readable(&path);
}

/// A trace is made to be handed on.
fn readable(path: &Path) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode();
        let any = path.with_extension("any");
        std::fs::File::create(&any).unwrap();
        assert_eq!(mode(path), mode(&any), "the rights of any new file");
    }
    let _ = path;
}

/// A file that was written to or cut in place is not read any further.
#[test]
fn a_file_that_changes_while_it_is_open_is_not_asked() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.safetensors");
    trace(SMALL, &Params::for_head_dim(5)).save(&path).unwrap();
    let open = Trace::open(&path).unwrap();
    let at = attnscope_inspect::At::default();
    open.row(at, 0).unwrap();
    // Another in its place is another file: this one is still what it was.
    std::fs::copy(&path, folder.path().join("other")).unwrap();
    std::fs::rename(folder.path().join("other"), &path).unwrap();
    open.row(at, 0).unwrap();
    let open = Trace::open(&path).unwrap();
    std::fs::File::options().write(true).open(&path).unwrap().set_len(100).unwrap();
    let errors = [
        open.row(at, 0).unwrap_err(),
        open.cell(at, 0, 0).unwrap_err(),
        open.tile(at, 0..1, 0..1).unwrap_err(),
        open.heads(None).unwrap_err(),
        open.pooled(at, 0..4, 0..4, 2, 2).unwrap_err(),
    ];
    for error in errors {
        assert!(error.to_string().contains("changed while it was open; open it again"), "{error}");
    }
}
