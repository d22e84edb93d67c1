//! One query kept from one key of the worked example.

use attnscope_kernel::{Isa, Knockout, Params, Recall, View, forward};
use serde::Deserialize;

use super::{Example, Matrix, Setting, Worked, product, rows, sum};
use crate::Error;

/// A query and the key that is hidden from it.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnockOut {
    /// The query.
    pub query: usize,
    /// The key it no longer sees.
    pub key: usize,
}

impl Example {
    /// What each token's vector becomes, x + z W_O, with cells cut out: each (query, key), where none is every one.
    ///
    /// # Errors
    /// If a rule names a query or a key that is not there.
    pub fn outputs(&self, causal: bool, cuts: &[(Option<usize>, Option<usize>)]) -> Result<Matrix, Error> {
        let site = self.site(&Setting { causal, ..Setting::default() })?;
        let knockouts = cuts.iter().map(|&(query, key)| Knockout { head: None, query, key }).collect();
        let params = Params { knockouts, ..site.params.clone() };
        let done = forward(site.q.view()?, site.k.view()?, site.v.view()?, &params, Isa::detect())?;
        let exact: Vec<f64> = done.out.iter().map(|x| f64::from(*x)).collect();
        let back = product(&rows(&exact, site.v_head_dim()), &self.w_o);
        Ok(self.x.iter().zip(&back).map(|(x, back)| sum(x, back)).collect())
    }
}

impl Worked {
    /// Runs the row of the query again over the keys that are left. The hidden one is not there at all: no score
    /// stands in for it, so its weight is 0 and the others are what they would be in a text without it.
    pub(super) fn knock_out(&mut self, KnockOut { query, key }: KnockOut, setting: &Setting) -> Result<(), Error> {
        self.m[query][key] = None;
        let left: Vec<usize> = (0..self.k.len()).filter(|j| self.m[query][*j].is_some()).collect();
        let (weights, z) = self.row_over(query, &left, setting)?;
        self.weights[query] = vec![0.0; self.k.len()];
        for (j, weight) in left.into_iter().zip(weights) {
            self.weights[query][j] = weight;
        }
        self.zo[query] = product(&vec![z.iter().map(|x| f64::from(*x)).collect()], &self.w_o).concat();
        self.y[query] = sum(&self.x[query], &self.zo[query]);
        self.z[query] = z;
        Ok(())
    }

    /// The weights of one query over some keys, and what they mix. A row that sees nothing has the output 0.
    fn row_over(&self, query: usize, keys: &[usize], setting: &Setting) -> Result<(Vec<f64>, Vec<f32>), Error> {
        let (d_k, d_v) = (self.k[query].len(), self.v[query].len());
        if keys.is_empty() {
            return Ok((Vec::new(), vec![0.0; d_v]));
        }
        let k: Vec<f32> = keys.iter().flat_map(|j| self.k[*j].iter().copied()).collect();
        let v: Vec<f32> = keys.iter().flat_map(|j| self.v[*j].iter().copied()).collect();
        // Those that the mask hides are not among the keys.
        let params = Params { causal: false, ..setting.params(d_k) };
        let q = View::new(&self.q[query], [1, 1, 1, d_k])?;
        let k = View::new(&k, [1, keys.len(), 1, d_k])?;
        let done = forward(q, k, View::new(&v, [1, keys.len(), 1, d_v])?, &params, Isa::detect())?;
        let recall = Recall::new(q, k, &done.lse, &params, Isa::detect())?;
        Ok((recall.tile(0, 0, 0..1, 0..keys.len())?.weights, done.out))
    }
}
