//! The worked example: ten tokens, hand-designed, not trained, so small that every number fits on a page, and run
//! through the same kernel as any model.

mod knock_out;

use attnscope_kernel::{Isa, Params, View, forward};
use serde::{Deserialize, Serialize};

pub use knock_out::KnockOut;

use crate::{Error, Model, Site, SiteKind, Tensor, Token, Trace};

/// The example as it is written down.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Example {
    /// The ten tokens.
    pub tokens: Vec<String>,
    /// That it is hand-designed.
    pub note: String,
    /// Short names of the dimensions.
    pub dims: Dims,
    /// One sentence about each dimension.
    pub dim_notes: Dims,
    /// (len, d_model): the tokens' own vectors.
    pub x: Matrix<f64>,
    /// (d_model, d_k).
    pub w_q: Matrix<f64>,
    /// (d_model, d_k).
    pub w_k: Matrix<f64>,
    /// (d_model, d_v).
    pub w_v: Matrix<f64>,
    /// (d_v, d_model).
    pub w_o: Matrix<f64>,
}

/// Rows of a matrix: f64 where it is written down as decimals, f32 where the kernel reads or made it.
pub type Matrix<T = f32> = Vec<Vec<T>>;

/// Words about the dimensions of x, of q and k, and of v.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Dims {
    /// Of the tokens' own vectors.
    pub x: Vec<String>,
    /// Of queries and keys.
    pub qk: Vec<String>,
    /// Of values.
    pub v: Vec<String>,
}

/// Every matrix of the example, for a page that shows them all.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Worked {
    /// Short names of the dimensions.
    pub dims: Dims,
    /// One sentence about each dimension.
    pub dim_notes: Dims,
    /// The tokens' own vectors.
    pub x: Matrix<f64>,
    /// Makes queries.
    pub w_q: Matrix<f64>,
    /// Makes keys.
    pub w_k: Matrix<f64>,
    /// Makes values.
    pub w_v: Matrix<f64>,
    /// Takes what was mixed back to the tokens' own space.
    pub w_o: Matrix<f64>,
    /// X W_Q.
    pub q: Matrix,
    /// X W_K.
    pub k: Matrix,
    /// X W_V.
    pub v: Matrix,
    /// A V, as the kernel made it.
    pub z: Matrix,
    /// z W_O.
    pub zo: Matrix,
    /// x + z W_O.
    pub y: Matrix,
    /// Q K' / sqrt(d_k), nothing hidden.
    pub scores: Vec<Vec<f64>>,
    /// The mask: 0 where visible, null (minus infinity) where hidden.
    pub m: Vec<Vec<Option<f32>>>,
    /// softmax(scores + M).
    pub weights: Vec<Vec<f64>>,
    /// softmax(scores): the weights were nothing hidden.
    pub weights_unmasked: Vec<Vec<f64>>,
}

impl Example {
    /// The built-in example.
    pub fn load() -> Self {
        // Built in and covered by tests: it parses.
        serde_json::from_str(include_str!("example.json")).expect("the built-in example parses")
    }

    /// The sentence.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for token in &self.tokens {
            if !text.is_empty() && token != "." {
                text.push(' ');
            }
            text.push_str(token);
        }
        text
    }

    /// Runs it through the kernel, bidirectional or causal.
    ///
    /// # Errors
    /// If the kernel refuses, which it does not for the built-in numbers.
    pub fn trace(&self, causal: bool) -> Result<Trace, Error> {
        let site = self.site(&Setting { causal, ..Setting::default() })?;
        let tokens = self.tokens.iter().map(|token| Token::plain(None, token)).collect();
        let model = Model { name: "The worked example".to_owned(), note: self.note.clone(), ..Model::default() };
        Trace::new(model, self.text(), tokens, vec![site])
    }

    /// Every matrix of it.
    ///
    /// # Errors
    /// As [`Example::trace`].
    pub fn worked(&self, causal: bool) -> Result<Worked, Error> {
        self.worked_as(&Setting { causal, ..Setting::default() })
    }

    /// Every matrix of it, run in some other way.
    ///
    /// # Errors
    /// As [`Example::trace`].
    pub fn worked_as(&self, setting: &Setting) -> Result<Worked, Error> {
        let mut worked = self.worked_whole(setting)?;
        if let Some(edge) = setting.knock_out {
            worked.knock_out(edge, setting)?;
        }
        Ok(worked)
    }

    fn worked_whole(&self, setting: &Setting) -> Result<Worked, Error> {
        let site = self.site(setting)?;
        let unmasked = self.site(&Setting { causal: false, ..*setting })?;
        let [q, k, v] = self.projected(setting);
        let len = self.x.len();
        let recall = site.recall(Isa::detect())?;
        let tile = recall.tile(0, 0, 0..len, 0..len)?;
        let all = unmasked.recall(Isa::detect())?.tile(0, 0, 0..len, 0..len)?;
        let z = rows(&site.out.data, site.v_head_dim());
        let exact: Matrix<f64> = z.iter().map(|row: &Vec<f32>| row.iter().map(|x| f64::from(*x)).collect()).collect();
        let zo = product(&exact, &self.w_o);
        let hidden = |i: usize, j: usize| recall.mask().hidden(0, 0, i, j).is_none().then_some(0.0);
        Ok(Worked {
            dims: self.dims.clone(),
            dim_notes: self.dim_notes.clone(),
            x: self.x.clone(),
            w_q: self.w_q.clone(),
            w_k: self.w_k.clone(),
            w_v: self.w_v.clone(),
            w_o: self.w_o.clone(),
            q,
            k,
            v,
            y: self.x.iter().zip(&zo).map(|(x, zo)| sum(x, zo)).collect(),
            z,
            zo,
            scores: rows(&tile.scores, len),
            m: (0..len).map(|i| (0..len).map(|j| hidden(i, j)).collect()).collect(),
            weights: rows(&tile.weights, len),
            weights_unmasked: rows(&all.weights, len),
        })
    }

    /// Queries, keys and values: X times its three matrices, or what is put in their place.
    fn projected(&self, setting: &Setting) -> [Matrix; 3] {
        let or = |given: Option<&Matrix>, weights| given.cloned().unwrap_or_else(|| product(&self.x, weights));
        [product(&self.x, &self.w_q), or(setting.k, &self.w_k), or(setting.v, &self.w_v)]
    }

    /// The one attention of it.
    fn site(&self, setting: &Setting) -> Result<Site, Error> {
        let len = self.x.len();
        let [mut q, mut k, v] = self.projected(setting);
        let params = setting.params(q[0].len());
        if let Some(extra) = setting.extra_score {
            // One more dimension, in which this query and this key alone are not 0: their product is what is added.
            for (index, (q, k)) in q.iter_mut().zip(&mut k).enumerate() {
                q.push(if index == extra.query { 1.0 } else { 0.0 });
                k.push(if index == extra.key { extra.add / params.scale } else { 0.0 });
            }
        }
        let (d_k, d_v) = (q[0].len(), v[0].len());
        let [q, k, v] = [q, k, v].map(|matrix| matrix.concat());
        let view = |data, dim| View::new(data, [1, len, 1, dim]);
        let done = forward(view(&q, d_k)?, view(&k, d_k)?, view(&v, d_v)?, &params, Isa::detect())?;
        Ok(Site {
            kind: SiteKind::SelfAttention,
            layer: 0,
            params,
            q: Tensor::new(q, [len, 1, d_k]),
            k: Tensor::new(k, [len, 1, d_k]),
            v: Tensor::new(v, [len, 1, d_v]),
            out: Tensor::new(done.out, [len, 1, d_v]),
            lse: done.lse.into(),
        })
    }
}

/// How the example is run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Setting<'a> {
    /// Whether a token is kept from those after it.
    pub causal: bool,
    /// What q . k is multiplied by; 1 / sqrt(d_k) where none is given.
    pub scale: Option<f32>,
    /// Something added to one score.
    pub extra_score: Option<ExtraScore>,
    /// (len, d_k): keys in the place of X W_K.
    pub k: Option<&'a Matrix>,
    /// (len, d_v): values in the place of X W_V.
    pub v: Option<&'a Matrix>,
    /// One query that is kept from one key.
    pub knock_out: Option<KnockOut>,
}

impl Setting<'_> {
    /// What the kernel is told.
    fn params(&self, d_k: usize) -> Params {
        let usual = Params::for_head_dim(d_k);
        Params { causal: self.causal, scale: self.scale.unwrap_or(usual.scale), ..usual }
    }
}

/// Something added to one score before the softmax.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub struct ExtraScore {
    /// The query of the score.
    pub query: usize,
    /// Its key.
    pub key: usize,
    /// What is added.
    pub add: f32,
}

fn rows<T: Copy>(data: &[T], width: usize) -> Vec<Vec<T>> {
    data.chunks_exact(width).map(<[T]>::to_vec).collect()
}

/// x + z W_O of one token.
fn sum(x: &[f64], zo: &[f32]) -> Vec<f32> {
    x.iter().zip(zo).map(|(x, zo)| (x + f64::from(*zo)) as f32).collect()
}

/// a b, in f64 and then rounded to f32, so that sums of short decimals are short decimals.
fn product(a: &Matrix<f64>, b: &Matrix<f64>) -> Matrix {
    let entry = |row: &[f64], column: usize| {
        let sum: f64 = row.iter().zip(b).map(|(a, b)| a * b[column]).sum();
        (sum + 0.0) as f32 // -0 is 0
    };
    a.iter().map(|row| (0..b[0].len()).map(|column| entry(row, column)).collect()).collect()
}
