//! Threads change nothing: how many there are, who asks at the same time, and what became of the runs of others.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread::scope;

use attnscope_models::{Error, Keep, Model, Run};

use crate::checkpoints::Tiny;

fn hidden(model: &Model, ids: &[u32]) -> Vec<u32> {
    let hidden = model.hidden(ids, &mut Run::keeping(Keep::Nothing)).unwrap();
    hidden.flatten_all().unwrap().to_vec1::<f32>().unwrap().into_iter().map(f32::to_bits).collect()
}

/// From outside of the pool and from within, beside runs that are stopped and runs that fall.
#[test]
fn runs_at_the_same_time_are_what_they_are_alone() {
    let tiny = Tiny::all().into_iter().find(|tiny| tiny.name.starts_with("llama")).unwrap();
    let (model, ids) = (tiny.open(), &tiny.case.ids[..]);
    let alone = hidden(&model, ids);
    let many = || {
        for _ in 0..5 {
            assert_eq!(hidden(&model, ids), alone);
            let stops = |_: usize, _: usize| false;
            let stopped = model.hidden(ids, &mut Run { progress: &stops, ..Run::keeping(Keep::Nothing) });
            assert!(matches!(stopped, Err(Error::Stopped)));
            let falls = |_: usize, _: usize| -> bool { std::panic::resume_unwind(Box::new("as asked")) };
            let fell = catch_unwind(AssertUnwindSafe(|| {
                model.hidden(ids, &mut Run { progress: &falls, ..Run::keeping(Keep::Nothing) })
            }));
            assert_eq!(fell.unwrap_err().downcast_ref(), Some(&"as asked"));
        }
    };
    for threads in [1, 2, 5] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        scope(|scope| {
            for at in 0..24 {
                let (pool, many) = (&pool, &many);
                scope.spawn(move || if at % 2 == 0 { pool.install(many) } else { many() });
            }
        });
        // A pool that goes while its threads still wait for more.
        drop(pool);
    }
}
