use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use candle_core::Tensor;

use crate::error::Result;

/// What an encoder made of a text, for the decoder to attend to.
#[derive(Debug)]
pub struct Memory {
    /// (len, hidden).
    hidden: Tensor,
    real: Option<Vec<bool>>,
    /// Keys and values of each of the decoder's layers, projected when they are first asked for.
    projected: Mutex<BTreeMap<usize, (Tensor, Tensor)>>,
}

impl Memory {
    pub(crate) fn new(hidden: Tensor, real: Option<Vec<bool>>) -> Self {
        Self { hidden, real, projected: Mutex::default() }
    }

    /// The vectors of every token after the encoder's last layer and norm, (len, hidden).
    pub fn hidden(&self) -> &Tensor {
        &self.hidden
    }

    /// Which of its tokens are no padding; none where all are.
    pub(crate) fn real(&self) -> &Option<Vec<bool>> {
        &self.real
    }

    /// Keys and values of a layer, (1, len, heads, head_dim) each.
    pub(crate) fn keys_and_values(
        &self,
        layer: usize,
        project: impl FnOnce(&Tensor) -> Result<(Tensor, Tensor)>,
    ) -> Result<(Tensor, Tensor)> {
        if let Some(both) = self.projected().get(&layer) {
            return Ok(both.clone());
        }
        // Not locked meanwhile: a thread that waits for its share of a product may take up another run on the same memory.
        // Should both project, both get the same.
        let both = project(&self.hidden)?;
        Ok(self.projected().entry(layer).or_insert(both).clone())
    }

    fn projected(&self) -> MutexGuard<'_, BTreeMap<usize, (Tensor, Tensor)>> {
        self.projected.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, mpsc};
    use std::time::Duration;

    use candle_core::{Device, Tensor};

    use super::Memory;

    /// One thread, which takes up a second run while the first waits for its product.
    #[test]
    fn runs_that_share_a_memory_do_not_wait_for_each_other() {
        let memory = Arc::new(Memory::new(Tensor::new(&[[1.0f32, 2.0]], &Device::Cpu).unwrap(), None));
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let (done, runs) = mpsc::channel();
        let run = move |memory: &Memory, between: &dyn Fn()| {
            let both = memory.keys_and_values(0, |hidden| {
                between();
                Ok((hidden.clone(), (hidden * 2.0)?))
            });
            done.send(both.unwrap().1.to_vec2::<f32>().unwrap()).unwrap();
        };
        pool.spawn(move || {
            let (other, again) = (Arc::clone(&memory), run.clone());
            let second = move || {
                let (other, again) = (Arc::clone(&other), again.clone());
                rayon::spawn(move || again(&other, &|| {}));
                rayon::yield_now();
            };
            run(&memory, &second);
        });
        for _ in 0..2 {
            assert_eq!(runs.recv_timeout(Duration::from_secs(10)).unwrap(), [[2.0, 4.0]]);
        }
    }
}
