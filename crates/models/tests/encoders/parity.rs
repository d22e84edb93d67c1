//! What transformers makes of the same weights: every weight of every head, and what comes out.

use attnscope_models::families::FAMILIES;
use attnscope_models::{Keep, Prompt, Run};

use crate::support::{Tiny, apart, hidden, trace, variants};

#[test]
fn every_weight_of_every_head_is_what_transformers_has() {
    for variant in variants() {
        let tiny = Tiny::load(&variant);
        let model = tiny.model();
        for (name, case) in &tiny.cases {
            let trace = trace(&model, &case.prompt());
            let maps = tiny.maps(name);
            assert!(maps.len() >= 2, "{variant} {name}");
            assert_eq!(maps.len(), trace.sites.len(), "{variant} {name}");
            let furthest = tiny.furthest(&trace, name);
            assert!(furthest <= 5e-6, "{variant} {name}: {furthest}");
            for (site, layer, map) in maps {
                let found = trace.site(site, layer).unwrap();
                assert_eq!(
                    (map.len(), map[0].len(), map[0][0].len()),
                    (found.q_heads(), found.q_len(), found.kv_len())
                );
            }
        }
    }
}

/// What the table of families says they were proven on is what is tested here.
#[test]
fn the_table_names_every_checkpoint() {
    for variant in variants() {
        let family = variant.split('-').next().unwrap();
        let entry = FAMILIES.iter().find(|entry| entry.family == family).unwrap();
        assert!(entry.proven_on.contains(&&*format!("tiny/{variant}")), "{variant}");
        let model = Tiny::load(&variant).model();
        assert_eq!((model.family(), model.shape().causal), (family, entry.causal), "{variant}");
    }
}

#[test]
fn what_comes_out_is_what_transformers_has() {
    for variant in variants() {
        let tiny = Tiny::load(&variant);
        let model = tiny.model();
        for (name, case) in &tiny.cases {
            let hidden = hidden(&model, case);
            let off = apart(&hidden, &tiny.numbers(&format!("{name}.hidden")).unwrap());
            assert!(off <= 2e-5, "{variant} {name}: {off} of the largest");
            match tiny.numbers(&format!("{name}.logits")) {
                Some(want) => {
                    let off = apart(&model.logits(&hidden).unwrap(), &want);
                    assert!(off <= 2e-5, "{variant} {name}: logits {off} of the largest");
                }
                None => {
                    let refused = model.logits(&hidden).unwrap_err().to_string();
                    assert!(refused.contains("no head that names words"), "{refused}");
                }
            }
            if let Some(want) = tiny.numbers(&format!("{name}.memory")) {
                let mut run = Run { real: case.real.clone(), ..Run::keeping(Keep::Nothing) };
                let memory = model.encode(&case.ids, &mut run).unwrap();
                let off = apart(memory.hidden(), &want);
                assert!(off <= 2e-5, "{variant} {name}: {off} of the encoder's largest");
            }
        }
    }
}

/// The maps would not show an option that leaves every head flat.
#[test]
fn every_head_has_a_row_that_knows_what_it_wants() {
    for variant in variants() {
        let tiny = Tiny::load(&variant);
        let mut peaks = std::collections::BTreeMap::new();
        for name in tiny.cases.keys() {
            for (site, layer, map) in tiny.maps(name) {
                for (head, rows) in map.iter().enumerate() {
                    let peak: &mut f32 = peaks.entry((site.name(), layer, head)).or_default();
                    *peak = rows.iter().flatten().fold(*peak, |max, weight| max.max(*weight));
                }
            }
        }
        assert!(peaks.values().all(|peak| *peak > 0.5), "{variant}: {peaks:?}");
    }
}

#[test]
fn texts_become_the_ids_that_the_tokenizer_of_transformers_gives() {
    for variant in variants() {
        let tiny = Tiny::load(&variant);
        let model = tiny.model();
        for (name, case) in tiny.cases.iter().filter(|(_, case)| case.text.is_some()) {
            let text = case.text.clone().unwrap();
            let prompt = match &case.second {
                Some(second) => Prompt::Pair(text, second.clone()),
                None => Prompt::Text(text),
            };
            let reading = model.reading(&prompt).unwrap();
            assert_eq!(reading.ids, case.ids, "{variant} {name}");
            if case.types.is_some() {
                assert_eq!(reading.types, case.types, "{variant} {name}");
            }
            // The tokens of a text read as that text.
            let tokens = trace(&model, &prompt);
            let read = tokens.encoder.as_ref().map_or(&tokens.tokens, |read| &read.tokens);
            assert!(read.iter().all(|token| !token.text.contains(['\u{2581}', '\u{120}'])), "{variant}: {read:?}");
        }
    }
}
