//! The statistics of a head, against a plain f64 computation on the reference's weights.

mod common;

use std::sync::atomic::{AtomicUsize, Ordering};

use attnscope_inspect::{Error, HeadStats, Site, SiteKind, Trace, Wanted};
use attnscope_kernel::{Params, View, Window, reference};
use common::{Sizes, site, tokens};

/// More queries than are computed at a time, and not a multiple of that.
const SIZES: Sizes = Sizes { len: 75, layers: 1, q_heads: 6, kv_heads: 2, head_dim: 8, v_head_dim: 5 };

struct Plain {
    entropy: f64,
    first: f64,
    own: f64,
    previous: Option<f64>,
    distance: f64,
}

/// The definitions, one after another. `rows` are (query, position, weights) of the rows that see something.
fn plain(site: &Site, head: usize) -> Plain {
    let (q_len, kv_len) = (site.q_len(), site.kv_len());
    let view = |tensor: &attnscope_inspect::Tensor| tensor.data.to_vec();
    let (q, k, v) = (view(&site.q), view(&site.k), view(&site.v));
    let shape = |shape: [usize; 3]| [1, shape[0], shape[1], shape[2]];
    let done = reference::attention(
        View::new(&q, shape(site.q.shape)).unwrap(),
        View::new(&k, shape(site.k.shape)).unwrap(),
        View::new(&v, shape(site.v.shape)).unwrap(),
        &site.params,
    );
    let weights = done.unwrap().weights;
    let row = |query: usize| &weights[(head * q_len + query) * kv_len..][..kv_len];
    let seeing: Vec<usize> = (0..q_len).filter(|query| row(*query).iter().sum::<f64>() > 0.5).collect();
    let position = |query: usize| kv_len as i64 - q_len as i64 + query as i64;
    let at = |query: usize, key: i64| usize::try_from(key).map_or(0.0, |key| row(query)[key]);
    let mean = |of: &dyn Fn(usize) -> f64, over: &[usize]| {
        if over.is_empty() { 0.0 } else { over.iter().map(|query| of(*query)).sum::<f64>() / over.len() as f64 }
    };
    let from_second: Vec<usize> = seeing.iter().copied().filter(|query| position(*query) > 0).collect();
    Plain {
        entropy: mean(&|query| row(query).iter().filter(|a| **a > 0.0).map(|a| -a * a.ln()).sum(), &seeing),
        first: mean(&|query| row(query)[0], &seeing),
        own: mean(&|query| at(query, position(query)), &seeing),
        previous: (!from_second.is_empty()).then(|| mean(&|query| at(query, position(query) - 1), &from_second)),
        distance: mean(
            &|query| (0..kv_len).map(|key| row(query)[key] * (position(query) - key as i64).abs() as f64).sum(),
            &seeing,
        ),
    }
}

fn close(what: &str, got: f64, want: f64) {
    assert!((got - want).abs() <= 1e-5 * want.abs().max(1.0), "{what}: {got} for {want}");
}

fn check(site: &Site, stats: &HeadStats, what: &str) {
    let want = plain(site, stats.head);
    close(&format!("{what}, entropy"), stats.entropy, want.entropy);
    close(&format!("{what}, first"), stats.first, want.first);
    if site.kind == SiteKind::Cross {
        assert_eq!((stats.own, stats.previous, stats.distance), (None, None, None));
    } else {
        close(&format!("{what}, self"), stats.own.unwrap(), want.own);
        assert_eq!(stats.previous.is_some(), want.previous.is_some(), "{what}");
        close(&format!("{what}, previous"), stats.previous.unwrap_or(0.0), want.previous.unwrap_or(0.0));
        close(&format!("{what}, distance"), stats.distance.unwrap(), want.distance);
    }
    assert!(stats.proof.row_sum_error < 1e-5 && stats.proof.output_error < 1e-5, "{what}: {stats:?}");
}

fn masks() -> Vec<(String, Params)> {
    let window = |left, right| Some(Window { left, right });
    let windows = [None, window(0, 0), window(5, 0), window(2, 7), window(100, 100)];
    let mut all = Vec::new();
    for causal in [false, true] {
        for window in windows {
            all.push((format!("causal {causal}, {window:?}"), Params { causal, window, ..Params::for_head_dim(8) }));
        }
    }
    all
}

#[test]
fn they_are_their_definitions_under_every_mask() {
    for (what, params) in masks() {
        let trace = common::trace(SIZES, &params);
        let heads = trace.heads(None).unwrap();
        assert_eq!(heads.iter().map(|stats| stats.head).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5]);
        for stats in &heads {
            check(&trace.sites[0], stats, &what);
        }
    }
}

/// Rows that see nothing are left out of the means, and their output is proved to be nothing.
#[test]
fn rows_that_see_nothing_count_for_nothing() {
    for (what, params) in masks() {
        for (q_len, kv_len) in [(40, 70), (70, 40), (50, 3), (1, 40)] {
            for kind in [SiteKind::Cross, SiteKind::Encoder] {
                let sites = vec![site(kind, 0, q_len, kv_len, SIZES, &params)];
                let trace = Trace::new(Default::default(), String::new(), tokens(0), sites).unwrap();
                for stats in trace.heads(None).unwrap() {
                    check(&trace.sites[0], &stats, &format!("{kind} {q_len} x {kv_len}, {what}"));
                }
            }
        }
    }
}

#[test]
fn a_head_with_one_token_is_not_divided_by_nothing() {
    let params = Params { causal: true, ..Params::for_head_dim(8) };
    let trace = common::trace(Sizes { len: 1, ..SIZES }, &params);
    for stats in trace.heads(None).unwrap() {
        assert_eq!((stats.entropy, stats.first, stats.own), (0.0, 1.0, Some(1.0)));
        // There is no token before it, so no weight on one.
        assert_eq!((stats.previous, stats.distance), (None, Some(0.0)));
    }
}

#[test]
fn one_layer_alone_is_the_same_layer() {
    let params = Params { causal: true, ..Params::for_head_dim(8) };
    let trace = common::trace(Sizes { layers: 3, ..SIZES }, &params);
    let all = trace.heads(None).unwrap();
    assert_eq!(all.len(), 18);
    assert_eq!(trace.heads(Some(1)).unwrap(), all[6..12]);
    let message = trace.heads(Some(3)).unwrap_err().to_string();
    assert!(message.contains("layer 3 is out of range") && message.contains("layers 0 to 2"), "{message}");
}

#[test]
fn each_head_is_told_once() {
    let trace = common::trace(SIZES, &Params::for_head_dim(8));
    let told = std::sync::Mutex::new(Vec::new());
    trace.heads_with(None, Wanted::ALWAYS, |stats| told.lock().unwrap().push(stats.head)).unwrap();
    let mut told = told.into_inner().unwrap();
    told.sort_unstable();
    assert_eq!(told, [0, 1, 2, 3, 4, 5]);
}

#[test]
fn what_is_wanted_no_longer_ends_within_a_block_of_rows() {
    let trace = common::trace(Sizes { layers: 8, ..SIZES }, &Params::for_head_dim(8));
    let (asked, told) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let still = || asked.fetch_add(1, Ordering::Relaxed) < 10;
    let left = trace.heads_with(None, Wanted::while_true(&still), |_| {
        told.fetch_add(1, Ordering::Relaxed);
    });
    assert!(matches!(left, Err(Error::NotWanted)), "{left:?}");
    // Three blocks a head, 48 heads: ten blocks are three heads. What other threads had begun asks once more each.
    assert!(told.load(Ordering::Relaxed) <= 3, "{told:?} heads were finished");
    let threads = std::thread::available_parallelism().map_or(64, usize::from);
    assert!(asked.load(Ordering::Relaxed) <= 10 + 2 * threads, "{asked:?} blocks were begun");
}

/// A proof that could not fail would prove nothing.
#[test]
fn a_weight_or_an_output_that_is_off_fails_the_proof() {
    let params = Params::for_head_dim(8);
    let good = common::trace(SIZES, &params);
    let with = |change: &dyn Fn(&mut Site)| {
        let mut sites = good.sites.clone();
        change(&mut sites[0]);
        Trace::new(good.model.clone(), String::new(), good.tokens.clone(), sites).unwrap().heads(None).unwrap()
    };
    let lse = with(&|site| {
        let mut lse = site.lse.to_vec();
        lse[2 * 75 + 40] += 1e-3;
        site.lse = lse.into();
    });
    let out = with(&|site| {
        let mut out = site.out.data.to_vec();
        out[(40 * 6 + 2) * 5 + 1] += 1e-2;
        site.out.data = out.into();
    });
    for head in 0..6 {
        assert_eq!(lse[head].proof.row_sum_error > 5e-4, head == 2, "{:?}", lse[head]);
        assert_eq!(out[head].proof.output_error > 1e-3, head == 2, "{:?}", out[head]);
        assert!(out[head].proof.row_sum_error < 1e-5);
    }
}
