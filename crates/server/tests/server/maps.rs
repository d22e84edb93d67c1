//! Maps in fewer pixels than cells.

use std::ops::Range;

use attnscope_inspect::example::Example;
use attnscope_inspect::{Site, SiteKind, Tensor, Trace};
use attnscope_models::Source;
use attnscope_server::Opening;
use serde_json::json;

use crate::models::asking;
use crate::small_model::{HEADS, LAYERS};
use crate::support::{Asking, close, entry};

/// The i-th of n parts of a range.
fn part(range: &Range<usize>, i: usize, n: usize) -> Range<usize> {
    range.start + i * range.len() / n..range.start + (i + 1) * range.len() / n
}

/// A whole map by its cells, and what a block of it comes to: (max, mean), or its first cell's code twice.
struct Map(Vec<f32>);

impl Map {
    async fn of(asking: &Asking, trace: &str, layer: usize, head: usize, len: usize) -> Self {
        let tile = format!("{trace}/tile?layer={layer}&head={head}&q0=0&q1={len}&k0=0&k1={len}");
        Self(asking.get(&tile).await.floats())
    }

    fn block(&self, queries: Range<usize>, keys: Range<usize>) -> (f32, f32) {
        let len = self.0.len().isqrt();
        let cells: Vec<f32> = queries.flat_map(|i| keys.clone().map(move |j| self.0[i * len + j])).collect();
        let seen: Vec<f32> = cells.iter().copied().filter(|cell| *cell >= 0.0).collect();
        if seen.is_empty() {
            return (cells[0], cells[0]);
        }
        (seen.iter().copied().fold(0.0, f32::max), seen.iter().sum::<f32>() / seen.len() as f32)
    }
}

#[tokio::test]
async fn a_pixel_is_the_block_it_stands_for() {
    let asking = Asking::example();
    for causal in [false, true] {
        let trace = asking.trace(causal).await;
        let map = Map::of(&asking, &trace, 0, 0, 10).await;
        for (queries, keys, rows, columns) in
            [(0..10, 0..10, 10, 10), (0..10, 0..10, 3, 4), (1..9, 2..5, 2, 1), (0..2, 4..9, 1, 2)]
        {
            let (Range { start: q0, end: q1 }, Range { start: k0, end: k1 }) = (queries.clone(), keys.clone());
            let path =
                format!("{trace}/pooled?layer=0&head=0&q0={q0}&q1={q1}&k0={k0}&k1={k1}&rows={rows}&columns={columns}");
            let (sizes, pixels) = asking.get(&path).await.sized_floats();
            assert_eq!((sizes, pixels.len()), ([rows, columns], 2 * rows * columns));
            let (max, mean) = pixels.split_at(rows * columns);
            for (index, (max, mean)) in max.iter().zip(mean).enumerate() {
                let want = map.block(part(&queries, index / columns, rows), part(&keys, index % columns, columns));
                assert_eq!(*max, want.0, "{path}, pixel {index}");
                close(f64::from(*mean), f64::from(want.1), 1e-6);
            }
        }
    }
}

#[tokio::test]
async fn there_are_no_more_pixels_than_cells() {
    let asking = Asking::example();
    let trace = asking.trace(true).await;
    let path = format!("{trace}/pooled?layer=0&head=0&q0=2&q1=7&k0=0&k1=10&rows=1024&columns=1024");
    let (sizes, pixels) = asking.get(&path).await.sized_floats();
    assert_eq!((sizes, pixels.len()), ([5, 10], 100));
    let tile = asking.get(&format!("{trace}/tile?layer=0&head=0&q0=2&q1=7&k0=0&k1=10")).await.floats();
    assert_eq!((&pixels[..50], &pixels[50..]), (&tile[..], &tile[..]));
}

#[tokio::test]
async fn the_mean_of_heads_is_pooled_as_it_is_shown() {
    let folder = tempfile::tempdir().expect("a folder");
    let asking = asking(folder.path());
    let meta = asking.make(json!({ "source": "s1", "text": "a robot" })).await;
    let trace = format!("/api/traces/{}", meta["id"].as_str().unwrap());
    let span = "layer=1&head=mean&q0=0&q1=7&k0=0&k1=7";
    let map = Map(asking.get(&format!("{trace}/tile?{span}")).await.floats());
    let (_, pixels) = asking.get(&format!("{trace}/pooled?{span}&rows=2&columns=3")).await.sized_floats();
    for (pixel, max) in pixels[..6].iter().enumerate() {
        let want = map.block(part(&(0..7), pixel / 3, 2), part(&(0..7), pixel % 3, 3));
        assert_eq!(*max, want.0, "pixel {pixel}");
        close(f64::from(pixels[6 + pixel]), f64::from(want.1), 1e-6);
    }
}

#[tokio::test]
async fn thumbnails_are_every_head_pooled() {
    let folder = tempfile::tempdir().expect("a folder");
    let asking = asking(folder.path());
    let meta = asking.make(json!({ "source": "s1", "text": "a robot" })).await;
    let trace = format!("/api/traces/{}", meta["id"].as_str().unwrap());
    for size in [3, 32] {
        let side = size.min(7);
        let (sizes, pixels) = asking.get(&format!("{trace}/thumbs?size={size}")).await.sized_floats();
        assert_eq!((sizes, pixels.len()), ([LAYERS * HEADS, side], LAYERS * HEADS * side * side));
        for (index, thumb) in pixels.chunks_exact(side * side).enumerate() {
            let map = Map::of(&asking, &trace, index / HEADS, index % HEADS, 7).await;
            for (pixel, max) in thumb.iter().enumerate() {
                let want = map.block(part(&(0..7), pixel / side, side), part(&(0..7), pixel % side, side));
                assert_eq!(*max, want.0, "size {size}, head {index}, pixel {pixel}");
            }
        }
        let (sizes, last) = asking.get(&format!("{trace}/thumbs?size={size}&layer=1")).await.sized_floats();
        assert_eq!((sizes, &last[..]), ([HEADS, side], &pixels[HEADS * side * side..]));
    }
}

/// The first tokens of a site.
fn shorter(site: &Site, layer: usize, len: usize) -> Site {
    let cut = |tensor: &Tensor| {
        let [_, heads, dim] = tensor.shape;
        Tensor::new(tensor.data[..len * heads * dim].to_vec(), [len, heads, dim])
    };
    Site {
        kind: SiteKind::Encoder,
        layer,
        params: site.params.clone(),
        q: cut(&site.q),
        k: cut(&site.k),
        v: cut(&site.v),
        out: cut(&site.out),
        lse: site.lse[..len].to_vec().into(),
    }
}

#[tokio::test]
async fn thumbnails_of_one_answer_have_one_size() {
    let example = Example::load().trace(true).expect("the example runs");
    let sites = vec![shorter(&example.sites[0], 0, 4), shorter(&example.sites[0], 1, 8)];
    let trace = Trace::new(example.model, example.text, example.tokens, sites).expect("the pieces fit");
    let asking = Asking::of(vec![entry("t1", Opening::Ready(Box::new(Source::Trace(trace))))]);
    let meta = asking.make(json!({ "source": "t1" })).await;
    let path = format!("/api/traces/{}/thumbs?site=encoder&size=6", meta["id"].as_str().unwrap());
    let (sizes, pixels) = asking.get(&path).await.sized_floats();
    assert_eq!((sizes, pixels.len()), ([2, 4], 2 * 4 * 4));
}

#[tokio::test]
async fn maps_that_are_not_there_are_refused() {
    let asking = Asking::example();
    let trace = asking.trace(false).await;
    for (question, says) in [
        ("pooled?layer=0&head=0&q0=0&q1=10&k0=0&k1=10&rows=0&columns=1", "1 to 1024"),
        ("pooled?layer=0&head=0&q0=0&q1=10&k0=0&k1=10&rows=1&columns=1025", "1 to 1024"),
        ("pooled?layer=0&head=0&q0=0&q1=11&k0=0&k1=10&rows=1&columns=1", "queries is 0..11"),
        ("pooled?layer=0&head=0&q0=0&q1=10&k0=0&k1=11&rows=1&columns=1", "keys is 0..11"),
        ("pooled?layer=0&head=0&q0=3&q1=3&k0=0&k1=10&rows=1&columns=1", "non-empty"),
        ("pooled?layer=0&head=0&q0=0&q1=10&k0=5&k1=3&rows=1&columns=1", "non-empty"),
        ("pooled?layer=0&head=1&q0=0&q1=10&k0=0&k1=10&rows=1&columns=1", "head 1 is out of range"),
        ("pooled?layer=0&head=0&q0=0&q1=18446744073709551615&k0=0&k1=10&rows=1&columns=1", "within 0..10"),
        ("pooled?layer=0&head=0&q0=0&q1=10&k0=0&k1=10", "rows"),
        ("thumbs?size=0", "1 to 128"),
        ("thumbs?size=129", "1 to 128"),
        ("thumbs?size=8&layer=1", "layer 1 is out of range"),
        ("thumbs?size=8&site=cross", "no cross attention"),
        ("thumbs", "size"),
    ] {
        let error = asking.get(&format!("{trace}/{question}")).await.refused(400);
        assert!(error.contains(says), "{question}: {error}");
    }
}
