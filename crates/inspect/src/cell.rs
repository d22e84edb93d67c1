use attnscope_kernel::Isa;
use serde::Serialize;

use crate::{At, Error, SiteKind, Trace, budget, tokens};

/// A token with its position.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TokenAt {
    /// Position, from 0.
    pub index: usize,
    /// Display text.
    pub token: String,
}

/// One cell of the attention matrix, worked out from the two vectors to the weight and what it moves.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cell {
    /// The layer, from 0.
    pub layer: usize,
    /// The query head, from 0.
    pub head: usize,
    /// The kv head that this query head reads.
    pub kv_head: usize,
    /// Which attention of the layer.
    pub site: SiteKind,
    /// Who asks.
    pub query: TokenAt,
    /// Who is asked.
    pub key: TokenAt,
    /// The query vector, (head_dim), after rotary embedding where there is one.
    pub q: Vec<f32>,
    /// The key vector, (head_dim), likewise.
    pub k: Vec<f32>,
    /// q and k multiplied element by element.
    pub products: Vec<f64>,
    /// Their sum.
    pub dot: f64,
    /// What the sum is multiplied by.
    pub scale: f32,
    /// scale * dot as the kernel computes it, in f32.
    pub scaled: f64,
    /// c of softcap, c tanh(scaled / c); null where scores are not capped.
    pub softcap: Option<f32>,
    /// What ALiBi adds, -slope |p - j|; null where it is not in use.
    pub alibi: Option<f32>,
    /// What the relative-position table adds; null where there is none.
    pub relative_bias: Option<f32>,
    /// What the bias adds; null where there is none.
    pub bias: Option<f32>,
    /// The sum of all that, as the kernel computes it, before the mask hides anything.
    pub score: f64,
    /// Why the query does not see the key; null where it does.
    pub mask: Option<&'static str>,
    /// Natural log of the row's sum of exponentials; null for a row that sees nothing.
    pub lse: Option<f64>,
    /// score - lse; null where hidden.
    pub log_weight: Option<f64>,
    /// exp(score - lse); exactly 0 where hidden; NaN where one of the two is no number.
    pub weight: f64,
    /// The sum of all weights of the row.
    pub row_sum: f64,
    /// The weight that the head's sink takes of the row; null where there is none.
    pub sink: Option<f64>,
    /// What these two must sum to: 1, or 0 for a row that sees nothing and has no sink.
    #[serde(skip)]
    pub due: f64,
    /// The value vector, (v_head_dim).
    pub v: Vec<f32>,
    /// The row's output z, (v_head_dim): the sum of weight * v over all keys.
    pub out: Vec<f32>,
    /// The weighted value vector's part of out: |A_ij v_j| / sum over j of |A_ij v_j|.
    pub share: f64,
}

impl Cell {
    /// Why the weights of its row cannot be those of the run, in words; none where they can.
    pub fn doubt(&self) -> Option<String> {
        budget::doubt(self.row_sum, self.sink, self.due)
    }

    /// How q . k becomes the score: what is done at each step, and what is there then. The last is the score.
    pub fn steps(&self) -> Vec<(String, f64)> {
        let mut at = self.scaled;
        let mut steps = vec![(format!("× scale {}", self.scale), at)];
        if let Some(softcap) = self.softcap {
            let c = f64::from(softcap);
            at = c * (at / c).tanh();
            steps.push((format!("softcap {softcap}: {softcap} tanh(s / {softcap})"), at));
        }
        let added = [("ALiBi", self.alibi), ("relative position", self.relative_bias), ("bias", self.bias)];
        for (name, term) in added {
            if let Some(term) = term {
                at += f64::from(term);
                let sign = if term < 0.0 { '−' } else { '+' };
                steps.push((format!("{sign} {} {name}", term.abs()), at));
            }
        }
        if let Some((what, value)) = steps.last_mut() {
            what.push_str(" = score");
            *value = self.score;
        }
        steps
    }
}

impl Trace {
    /// One cell, worked out. The weight costs O(head_dim); the row's sum and the share O(n head_dim).
    ///
    /// # Errors
    /// If the layer, head, query or key is out of range.
    pub fn cell(&self, at: At, query: usize, key: usize) -> Result<Cell, Error> {
        let site = self.head_site(at)?;
        tokens::check(site.q_len(), "query", query)?;
        tokens::check(site.kv_len(), "key", key)?;
        let recall = site.recall(Isa::detect())?;
        let cell = recall.cell(0, at.head, query, key)?;
        let steps = recall.steps(0, at.head, query, key)?;
        let mut row = recall.tile(0, at.head, query..query + 1, 0..site.kv_len())?;
        for key in (0..site.kv_len()).filter(|key| recall.mask().hidden(0, at.head, query, *key).is_none()) {
            row.weights[key] = budget::number(row.weights[key], row.scores[key], cell.lse);
        }
        let row = row.weights;
        let kv_head = site.kv_head(at.head);
        let (q, k, v) = (site.q.row(query, at.head), site.k.row(key, kv_head), site.v.row(key, kv_head));
        // Adding 0 turns -0 into 0, which reads better and is the same number.
        let products: Vec<f64> = q.iter().zip(k).map(|(q, k)| f64::from(*q) * f64::from(*k) + 0.0).collect();
        let moved = |j: usize, weight: f64| weight * length(site.v.row(j, kv_head));
        let all_moved: f64 = row.iter().enumerate().map(|(j, weight)| moved(j, *weight)).sum();
        let finite = |x: f64| x.is_finite().then_some(x);
        Ok(Cell {
            layer: at.layer,
            head: at.head,
            kv_head,
            site: at.site,
            query: self.query_at(at.site, query),
            key: self.key_at(at.site, key),
            q: q.to_vec(),
            k: k.to_vec(),
            dot: products.iter().sum(),
            products,
            scale: site.params.scale,
            scaled: steps.scaled,
            softcap: site.params.softcap,
            alibi: steps.alibi,
            relative_bias: steps.relative,
            bias: steps.bias,
            score: cell.score,
            mask: cell.hidden.map(|hidden| hidden.name()),
            lse: finite(cell.lse),
            log_weight: finite(cell.log_weight),
            weight: row[key],
            row_sum: row.iter().sum(),
            sink: site.sink_weight(at.head, cell.lse),
            due: site.due(&recall, at.head, query),
            v: v.to_vec(),
            out: site.out.row(query, at.head).to_vec(),
            share: if all_moved == 0.0 { 0.0 } else { moved(key, row[key]) / all_moved },
        })
    }
}

/// The length of a vector.
fn length(x: &[f32]) -> f64 {
    x.iter().map(|x| f64::from(*x) * f64::from(*x)).sum::<f64>().sqrt()
}
