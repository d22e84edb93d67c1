//! What a source is called on the page: a name a person would say, and apart from it how its weights are kept.

use std::path::Path;

use attnscope_models::{Model, Source};

/// A name, and the quantisation of a GGUF file whose name tells it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Label {
    pub(crate) name: String,
    pub(crate) quantisation: Option<String>,
}

/// File names that say nothing of the model.
const NAMELESS: [&str; 5] = ["", "model", "ggml-model", "gguf-model", "weights"];

/// Of a folder its name, and of a model of the Hub that of its repository; of a file its name without the ending. A GGUF file with a name such as `model-Q4_K_M.gguf`
/// says in its header what it is: many a header's name is that of a training run, so it is only the second choice.
pub(crate) fn label(source: &str) -> Label {
    if source == "example" {
        return Label { name: "The worked example".to_owned(), quantisation: None };
    }
    if let Some(id) = Source::on_the_hub(source) {
        return match id
            .file()
            .map(|file| apart(Path::new(file).file_stem().unwrap_or_default().to_string_lossy().as_ref()))
        {
            Some(label) if !NAMELESS.contains(&&*label.name.to_ascii_lowercase()) => label,
            other => Label { name: id.name().to_owned(), quantisation: other.and_then(|label| label.quantisation) },
        };
    }
    let path = Path::new(source);
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let is_file = !path.is_dir();
    let last = if is_file { path.file_stem() } else { path.file_name() };
    let Some(last) = last.map(|last| last.to_string_lossy().into_owned()) else {
        return Label { name: source.to_owned(), quantisation: None };
    };
    if !(is_file && path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("gguf"))) {
        return Label { name: last, quantisation: None };
    }
    let Label { name, quantisation } = apart(&last);
    let nameless = NAMELESS.contains(&name.to_ascii_lowercase().as_str());
    let own = if nameless { Model::glance_name(&path) } else { None };
    let name = own.unwrap_or(if name.is_empty() { last } else { name });
    Label { name, quantisation }
}

/// Takes the quantisation off the end of a GGUF file's name.
fn apart(stem: &str) -> Label {
    let parts = stem.char_indices().filter(|(_, c)| matches!(c, '.' | '-'));
    let starts = [(0, 0)].into_iter().chain(parts.map(|(at, _)| (at, at + 1)));
    for (end, start) in starts {
        if is_quantisation(&stem[start..]) {
            let quantisation = Some(stem[start..].to_ascii_uppercase());
            return Label { name: stem[..end].to_owned(), quantisation };
        }
    }
    Label { name: stem.to_owned(), quantisation: None }
}

/// `Q4_1`, `q4_k_m`, `IQ2_XXS`, `F16`, `BF16`, `F32` and their like.
fn is_quantisation(word: &str) -> bool {
    let word = word.to_ascii_uppercase();
    let quantised = |rest: &str| {
        rest.starts_with(|c: char| c.is_ascii_digit()) && rest.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    };
    matches!(word.as_str(), "F16" | "BF16" | "F32" | "FP16" | "FP32")
        || ["Q", "IQ", "TQ"].iter().any(|start| word.strip_prefix(start).is_some_and(quantised))
}

#[cfg(test)]
mod tests {
    use super::{apart, label};

    #[test]
    fn the_quantisation_is_taken_off() {
        for (stem, name, quantisation) in [
            ("smollm2-135m-instruct.Q4_1", "smollm2-135m-instruct", Some("Q4_1")),
            ("Llama-3.2-1B-Instruct-q4_k_m", "Llama-3.2-1B-Instruct", Some("Q4_K_M")),
            ("tiny-IQ2_XXS", "tiny", Some("IQ2_XXS")),
            ("ggml-model-f16", "ggml-model", Some("F16")),
            ("Qwen2-0.5B", "Qwen2-0.5B", None),
            ("q8_0", "", Some("Q8_0")),
            ("quiet-model", "quiet-model", None),
            ("", "", None),
        ] {
            let found = apart(stem);
            assert_eq!((found.name.as_str(), found.quantisation.as_deref()), (name, quantisation), "{stem}");
        }
    }

    #[test]
    fn models_of_the_hub_are_called_as_there() {
        for (id, name, quantisation) in [
            ("gpt2", "gpt2", None),
            ("Qwen/Qwen3-0.6B", "Qwen3-0.6B", None),
            ("Qwen/Qwen3-0.6B@v1.0", "Qwen3-0.6B", None),
            ("org/some-GGUF:some-0.6B-Q8_0.gguf", "some-0.6B", Some("Q8_0")),
            ("org/some-GGUF:sub/model-q4_0.gguf", "some-GGUF", Some("Q4_0")),
        ] {
            let found = label(id);
            assert_eq!((found.name.as_str(), found.quantisation.as_deref()), (name, quantisation), "{id}");
        }
    }

    #[test]
    fn folders_and_traces_keep_their_names() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("all-minilm-l6-v2.5");
        std::fs::create_dir(&path).unwrap();
        assert_eq!(label(path.to_str().unwrap()).name, "all-minilm-l6-v2.5");
        assert_eq!(label("kept-q4_1.safetensors").name, "kept-q4_1");
        assert_eq!(label("example").name, "The worked example");
    }

    /// A header with a name, behind a number that comes first.
    #[test]
    fn a_file_that_says_nothing_is_called_as_its_header_says() {
        let mut header = b"GGUF".to_vec();
        header.extend(3_u32.to_le_bytes());
        header.extend(0_u64.to_le_bytes());
        header.extend(2_u64.to_le_bytes());
        let text = |header: &mut Vec<u8>, text: &str| {
            header.extend((text.len() as u64).to_le_bytes());
            header.extend(text.bytes());
        };
        text(&mut header, "general.file_type");
        header.extend([4_u32, 2].into_iter().flat_map(u32::to_le_bytes));
        text(&mut header, "general.name");
        header.extend(8_u32.to_le_bytes());
        text(&mut header, "A Small\u{1b} Model");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model-Q4_0.gguf");
        std::fs::write(&path, &header).unwrap();
        let found = label(path.to_str().unwrap());
        assert_eq!(found.name, "A Small\\u{1b} Model");
        assert_eq!(found.quantisation.as_deref(), Some("Q4_0"));
        for len in 0..header.len() {
            std::fs::write(&path, &header[..len]).unwrap();
            assert_eq!(label(path.to_str().unwrap()).name, "model", "cut to {len} bytes");
        }
    }
}
