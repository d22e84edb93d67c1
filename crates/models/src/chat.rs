//! Chat templates: how a model was trained to read turns of a conversation. A template is a small program that came with
//! the model, in the language of Jinja; it is run with bounds on its time and its memory.

mod clock;
mod json;

use std::path::{Path, PathBuf};

use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Value, ValueKind};
use minijinja::{Environment, Error as Jinja, ErrorKind, escape_formatter};
use minijinja_contrib::pycompat::unknown_method_callback;
use serde_json::Value as Json;

use crate::error::{Error, Result};
use crate::folder::read_json;

/// One turn of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    /// Who speaks: `system`, `user` or `assistant`.
    pub role: String,
    /// What is said.
    pub content: String,
}

/// A conversation, for the model's own template.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chat {
    /// What was said, in order.
    pub turns: Vec<Turn>,
    /// Whether the mark follows after which the model speaks.
    pub go_on: bool,
}

impl Chat {
    /// A user's turn, after what the system says, if that says anything.
    pub fn of(system: Option<&str>, user: &str, go_on: bool) -> Self {
        let turn = |role: &str, content: &str| Turn { role: role.to_owned(), content: content.to_owned() };
        let turns = system.map(|system| turn("system", system)).into_iter().chain([turn("user", user)]).collect();
        Self { turns, go_on }
    }
}

/// A model's template and what it may name.
#[derive(Clone, Debug)]
pub(crate) struct Template {
    /// The file that it is in.
    path: PathBuf,
    source: String,
    /// The model's marks by the names under which templates know them: `bos_token` and so on.
    marks: Vec<(String, String)>,
}

/// Where a model's template is looked for when it is first needed.
#[derive(Clone, Debug)]
pub(crate) enum Home {
    /// In the files of this folder.
    Folder(PathBuf),
    /// In the header of a file, which was read.
    Header { path: PathBuf, source: Option<String>, marks: Vec<(String, String)> },
}

impl Home {
    /// The template.
    ///
    /// # Errors
    /// If there is none, or it does not read.
    pub(crate) fn open(&self) -> Result<Template> {
        match self {
            Self::Folder(path) => Template::of_folder(path),
            Self::Header { path, source, marks } => Template::of_file(path, source.as_deref(), marks.clone()),
        }
    }
}

/// Steps that a template may take, each of which also pays for 64 bytes; a usual one takes a few hundred a turn.
const FUEL: u64 = 200_000;
/// A template may build values within values, and those are taken apart recursively.
const STACK: usize = 64 << 20;
/// No template is longer, in bytes.
const LONGEST: usize = 1 << 20;

/// Where a folder may have one.
const ALONE: &str = "chat_template.jinja";
const CONFIG: &str = "tokenizer_config.json";

impl Template {
    /// Of a Hugging Face folder.
    ///
    /// # Errors
    /// If it has none, or the files do not read.
    fn of_folder(folder: &Path) -> Result<Self> {
        let (alone, config_path) = (folder.join(ALONE), folder.join(CONFIG));
        let config = if config_path.exists() { read_json(&config_path, "")? } else { Json::Null };
        let marks = config.as_object().into_iter().flatten().filter_map(|(name, mark)| {
            let text = mark.as_str().or_else(|| mark["content"].as_str())?;
            name.ends_with("_token").then(|| (name.clone(), text.to_owned()))
        });
        let marks = marks.collect();
        if alone.exists() {
            let size = std::fs::metadata(&alone).map_or(0, |about| about.len());
            check_length(&alone, usize::try_from(size).unwrap_or(usize::MAX))?;
            let source = std::fs::read_to_string(&alone);
            let source = source.map_err(|error| Error::file(&alone, format!("cannot be read: {error}")))?;
            return Ok(Self { path: alone, source, marks });
        }
        let source = match &config["chat_template"] {
            Json::Null => return Err(Self::none(folder, &format!("{ALONE}, or chat_template in {CONFIG}"))),
            Json::String(source) => source.clone(),
            Json::Array(several) => named(several).map_err(|problem| Error::file(&config_path, problem))?,
            _ => return Err(Error::file(&config_path, "its chat_template must be a text, or a list of named ones")),
        };
        check_length(&config_path, source.len())?;
        Ok(Self { path: config_path, source, marks })
    }

    /// Of a file that holds everything. `marks` are those that the file names.
    ///
    /// # Errors
    /// If it has none.
    fn of_file(path: &Path, source: Option<&str>, marks: Vec<(String, String)>) -> Result<Self> {
        let source = source.ok_or_else(|| Self::none(path, "tokenizer.chat_template in its header"))?;
        check_length(path, source.len())?;
        Ok(Self { path: path.to_owned(), source: source.to_owned(), marks })
    }

    fn none(path: &Path, place: &str) -> Error {
        Error::file(path, format!("this model has no chat template ({place}); leave out --chat and --system"))
    }

    /// The text that a conversation is to the model.
    ///
    /// # Errors
    /// If the template does not read, refuses the conversation, or takes too long.
    pub(crate) fn render(&self, chat: &Chat) -> Result<String> {
        let render = || self.run(chat).map_err(|error| Error::file(&self.path, self.words(&error)));
        std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, render);
            let thread = thread.map_err(|error| Error::Text(format!("no thread for a chat template: {error}")))?;
            thread.join().unwrap_or_else(|_| Err(Error::file(&self.path, "its chat template fails to run")))
        })
    }

    fn run(&self, chat: &Chat) -> Result<String, Jinja> {
        let source = plain(&self.source);
        let mut jinja = Environment::new();
        jinja.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
        jinja.set_unknown_method_callback(unknown_method_callback);
        let said: usize = chat.turns.iter().map(|turn| turn.content.len()).sum();
        jinja.set_fuel(Some(FUEL + said as u64));
        jinja.add_filter("tojson", json::tojson);
        jinja.add_function("strftime_now", |format: String| clock::now(&format));
        jinja.add_function("raise_exception", |message: String| -> Result<String, Jinja> {
            Err(Jinja::new(ErrorKind::InvalidOperation, format!("{REFUSED}{message}")))
        });
        // As Python writes them.
        jinja.set_formatter(|out, state, value| match value.kind() {
            ValueKind::Bool => Ok(out.write_str(if value.is_true() { "True" } else { "False" })?),
            ValueKind::None => Ok(out.write_str("None")?),
            _ => escape_formatter(out, state, value),
        });
        let turn = |turn: &Turn| Value::from_pairs([("role", &turn.role), ("content", &turn.content)]);
        let marks = self.marks.iter().map(|(name, mark)| (name.as_str(), Value::from(mark)));
        let given = [
            ("messages", chat.turns.iter().map(turn).collect::<Value>()),
            ("add_generation_prompt", Value::from(chat.go_on)),
            ("tools", Value::from(())),
            ("documents", Value::from(())),
        ];
        let context = Value::from_pairs(marks.chain(given));
        jinja.template_from_named_str("chat template", &source)?.render(context)
    }

    /// What went wrong, in one line.
    fn words(&self, error: &Jinja) -> String {
        let detail = error.detail().unwrap_or_default();
        if let Some(message) = detail.strip_prefix(REFUSED) {
            return format!("its chat template refuses this conversation: {message}");
        }
        let line = error.line().map_or_else(String::new, |line| format!(" (line {line})"));
        match error.kind() {
            ErrorKind::OutOfFuel => {
                format!("its chat template runs too long or writes too much, and was stopped{line}")
            }
            ErrorKind::SyntaxError => format!("its chat template does not read: {detail}{line}"),
            kind if detail.is_empty() => format!("its chat template fails: {kind}{line}"),
            _ => format!("its chat template fails: {detail}{line}"),
        }
    }
}

/// Before what a template itself says.
const REFUSED: &str = "\u{0}refused ";

fn check_length(path: &Path, len: usize) -> Result<()> {
    match len > LONGEST {
        true => Err(Error::file(path, format!("its chat template is {len} bytes long, and none is over {LONGEST}"))),
        false => Ok(()),
    }
}

/// The one called `default` of several.
fn named(several: &[Json]) -> Result<String, String> {
    let of = |name: &str| several.iter().find(|one| one["name"] == name).and_then(|one| one["template"].as_str());
    let names = several.iter().filter_map(|one| one["name"].as_str()).collect::<Vec<_>>();
    of("default")
        .map(str::to_owned)
        .ok_or_else(|| format!("none of its chat templates is called \"default\"; there are {names:?}"))
}

/// A template without the tags that say, for training, what the model itself spoke: they change nothing that is written.
fn plain(source: &str) -> String {
    let mut plain = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(start) = rest.find("{%") {
        let (before, tag) = rest.split_at(start);
        plain += before;
        let Some(end) = tag.find("%}") else {
            rest = tag;
            break;
        };
        let (tag, after) = tag.split_at(end + 2);
        let word = tag[2..end].trim_matches(['-', '+', ' ', '\t', '\n', '\r']);
        plain += &match word {
            "generation" => tag.replace(word, "if true"),
            "endgeneration" => tag.replace(word, "endif"),
            _ => tag.to_owned(),
        };
        rest = after;
    }
    plain + rest
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{Chat, Template, plain};

    fn rendered(source: &str) -> Result<String, String> {
        let marks = vec![("bos_token".to_owned(), "<s>".to_owned())];
        let template = Template::of_file(Path::new("a.gguf"), Some(source), marks).unwrap();
        template.render(&Chat::of(Some("Be brief."), " Who are you? ", true)).map_err(|error| error.to_string())
    }

    fn written(source: &str) -> String {
        rendered(source).unwrap()
    }

    /// What jinja2 writes with transformers' settings, by hand.
    #[test]
    fn templates_read_as_in_python() {
        let turns =
            "{% for message in messages %}\n  {{- message['role'] }}: {{ message.content.strip() }}\n{% endfor %}\n";
        assert_eq!(written(turns), "system: Be brief.\nuser: Who are you?\n");
        assert_eq!(written("{{ bos_token }}{% if add_generation_prompt %}>{% endif %}{{ eos_token }}"), "<s>>");
        assert_eq!(written("{{ messages[0]['content'].split(' ')[-1] }}"), "brief.");
        assert_eq!(written("{%- if messages[1:]|length == 1 and tools is none %}one{% endif %}"), "one");
        assert_eq!(written("{{ true }} {{ none }} {{ 'é' ~ 1 }}"), "True None é1");
        let spaced = "{% set ns = namespace(n=0) %}{% for m in messages %}{% set ns.n = ns.n + loop.index0 %}{% endfor %}{{ ns.n }}";
        assert_eq!(written(spaced), "1");
        let looped = "{% for i in range(9) %}{% if i == 1 %}{% continue %}{% endif %}{% if i == 3 %}{% break %}{% endif %}{{ i }}{% endfor %}";
        assert_eq!(written(looped), "02");
        assert_eq!(written("a{% generation %}b{%- endgeneration -%} c"), "abc");
    }

    #[test]
    fn json_is_that_of_python() {
        let map = "{'b': [1, 2.0, true, none], 'a': 'é\"<', 'e': {}, 'l': []}";
        let plain = r#"{"b": [1, 2.0, true, null], "a": "é\"<", "e": {}, "l": []}"#;
        assert_eq!(written(&format!("{{{{ {map} | tojson }}}}")), plain);
        let sorted = r#"{"a": "\u00e9\"<", "b": [1, 2.0, true, null], "e": {}, "l": []}"#;
        assert_eq!(written(&format!("{{{{ {map} | tojson(sort_keys=true, ensure_ascii=true) }}}}")), sorted);
        let deep = "{\n  \"b\": [\n    1,\n    2.0,\n    true,\n    null\n  ],\n  \"a\": \"é\\\"<\",\n  \"e\": {},\n  \"l\": []\n}";
        assert_eq!(written(&format!("{{{{ {map} | tojson(indent=2) }}}}")), deep);
        assert_eq!(written("{{ [1, {'a': 2}] | tojson(separators=(',', ':')) }}"), "[1,{\"a\":2}]");
        assert_eq!(
            written("{{ messages | tojson }}").find(r#"[{"role": "system", "content": "Be brief."}, {"#),
            Some(0)
        );
        assert_eq!(written("{{ '\u{1F916}' | tojson(ensure_ascii=true) }}"), r#""\ud83e\udd16""#);
    }

    #[test]
    fn a_template_may_refuse() {
        let refused = rendered("{{ raise_exception('Roles must\nalternate') }}").unwrap_err();
        assert!(refused.starts_with("a.gguf: its chat template refuses this conversation: Roles must"), "{refused}");
        assert_eq!(refused.lines().count(), 1);
        let broken = rendered("{% if %}").unwrap_err();
        assert!(broken.contains("its chat template does not read: ") && broken.contains("line 1"), "{broken}");
        let failing = rendered("{{ messages.first.what() }}").unwrap_err();
        assert!(failing.contains("its chat template fails: "), "{failing}");
    }

    /// Each would otherwise run for ever, or take all memory, or the whole stack.
    #[test]
    fn a_hostile_template_is_stopped() {
        let loops = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}";
        let doubled = "{% set ns = namespace(x='ab') %}{% for i in range(60) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}{{ ns.x }}";
        let joined =
            "{% set ns = namespace(x='ab') %}{% for i in range(60) %}{% set ns.x = [ns.x, ns.x] | join %}{% endfor %}";
        let replaced = "{% set ns = namespace(x='a') %}{% for i in range(60) %}{% set ns.x = ns.x.replace('a', 'aa') %}{% endfor %}";
        for (source, kind) in [
            (loops, "runs too long"),
            (doubled, "runs too long"),
            (joined, "runs too long"),
            (replaced, "runs too long"),
            ("{{ 'x' * 90000000 }}", "runs too long"),
            ("{{ ('%' ~ '90000000d') | format(1) }}", "its chat template"),
            ("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "its chat template"),
        ] {
            let error = rendered(source).unwrap_err();
            assert!(error.contains(kind) && error.lines().count() == 1, "{source}: {error}");
        }
        let nested = "{% set ns = namespace(x=[]) %}{% for i in range(99999) %}{% set ns.x = [ns.x] %}{% endfor %}{{ ns.x | tojson }}";
        rendered(nested).unwrap_err();
        let deep = "(".repeat(100_000);
        rendered(&format!("{{{{ {deep} }}}}")).unwrap_err();
    }

    #[test]
    fn only_the_tags_of_training_are_taken_out() {
        assert_eq!(plain("{%- generation -%}x{% endgeneration %}"), "{%- if true -%}x{% endif %}");
        for same in ["{% set generation = 1 %}{{ generation }}", "{% broken", "generation", ""] {
            assert_eq!(plain(same), same);
        }
    }
}
