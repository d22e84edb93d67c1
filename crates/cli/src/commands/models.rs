use attnscope_models::families::FAMILIES;
use serde::Serialize;

use crate::args::ModelsArgs;
use crate::output;

/// One family, as `--json` says it.
#[derive(Serialize)]
struct Listed {
    family: &'static str,
    model_types: &'static [&'static str],
    formats: &'static [&'static str],
    proven_on: &'static [&'static str],
}

pub(crate) fn run(args: ModelsArgs) -> anyhow::Result<()> {
    let listed: Vec<Listed> = FAMILIES
        .iter()
        .map(|entry| Listed {
            family: entry.family,
            model_types: entry.model_types,
            formats: entry.formats(),
            proven_on: entry.proven_on,
        })
        .collect();
    if args.json { output::json(&listed) } else { output::print(&text(&listed)) }
}

fn text(listed: &[Listed]) -> String {
    let line = |family: &str, types: &str, formats: &str, proven: &str| {
        format!("{family:<11} {types:<14} {formats:<12} {proven}\n")
    };
    let mut text = line("family", "model_type", "formats", "proven against transformers on");
    for Listed { family, model_types, formats, proven_on } in listed {
        text += &line(family, &model_types.join(" "), &formats.join(" "), &proven_on.join(", "));
    }
    text + "\ntiny/... are small models with random weights and every option of the family switched on, made by \
            transformers.\nA folder is one of Hugging Face's, with config.json, model.safetensors and tokenizer.json.\n"
}
