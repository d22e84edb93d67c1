//! JSON as Python's `json.dumps` writes it, which is what models were trained on.

use minijinja::value::{Kwargs, Value, ValueKind};
use minijinja::{Error, ErrorKind};

/// Values within values at most.
const DEEPEST: usize = 64;

/// How it is written.
struct Style {
    ascii: bool,
    indent: Option<String>,
    sorted: bool,
    /// Between items, and between a key and its value.
    item: String,
    key: String,
}

/// The filter `tojson`, with the arguments that transformers gives it.
pub(super) fn tojson(value: &Value, options: Kwargs) -> Result<String, Error> {
    let indent: Option<Value> = options.get("indent")?;
    let indent = indent.filter(|indent| !indent.is_none()).map(|indent| match indent.as_usize() {
        Some(spaces) => " ".repeat(spaces.min(16)),
        None => indent.as_str().unwrap_or_default().to_owned(),
    });
    let flag = |name: &str| -> Result<bool, Error> { Ok(options.get::<Option<bool>>(name)?.unwrap_or(false)) };
    let separators: Option<Value> = options.get("separators")?;
    let (item, key) = match separators.filter(|both| !both.is_none()) {
        Some(both) => (text(&both, 0)?, text(&both, 1)?),
        None if indent.is_some() => (",".to_owned(), ": ".to_owned()),
        None => (", ".to_owned(), ": ".to_owned()),
    };
    let style = Style { ascii: flag("ensure_ascii")?, indent, sorted: flag("sort_keys")?, item, key };
    options.assert_all_used()?;
    let mut out = String::new();
    style.write(value, 0, &mut out)?;
    Ok(out)
}

fn text(both: &Value, at: usize) -> Result<String, Error> {
    let item = both.get_item(&Value::from(at))?;
    item.as_str().map(str::to_owned).ok_or_else(|| failed("separators must be two texts".to_owned()))
}

fn failed(problem: String) -> Error {
    Error::new(ErrorKind::InvalidOperation, format!("tojson: {problem}"))
}

impl Style {
    fn write(&self, value: &Value, depth: usize, out: &mut String) -> Result<(), Error> {
        if depth > DEEPEST {
            return Err(failed(format!("a value has more than {DEEPEST} others around it")));
        }
        match value.kind() {
            ValueKind::None => out.push_str("null"),
            ValueKind::Bool => out.push_str(if value.is_true() { "true" } else { "false" }),
            ValueKind::Number => out.push_str(&value.to_string()),
            ValueKind::String => self.quote(value.as_str().unwrap_or_default(), out),
            ValueKind::Map => {
                let mut keys: Vec<Value> = value.try_iter()?.collect();
                if self.sorted {
                    keys.sort();
                }
                self.list(('{', '}'), keys, depth, out, |style, key, out| {
                    style.quote(&key.to_string(), out);
                    out.push_str(&style.key);
                    style.write(&value.get_item(&key)?, depth + 1, out)
                })?;
            }
            ValueKind::Seq | ValueKind::Iterable => {
                let items = value.try_iter()?.collect();
                self.list(('[', ']'), items, depth, out, |style, item, out| style.write(&item, depth + 1, out))?;
            }
            kind => return Err(failed(format!("{kind} is nothing that JSON has"))),
        }
        Ok(())
    }

    fn list(
        &self,
        (open, close): (char, char),
        items: Vec<Value>,
        depth: usize,
        out: &mut String,
        write: impl Fn(&Self, Value, &mut String) -> Result<(), Error>,
    ) -> Result<(), Error> {
        out.push(open);
        let some = !items.is_empty();
        for (at, item) in items.into_iter().enumerate() {
            if at > 0 {
                out.push_str(&self.item);
            }
            self.line(depth + 1, out);
            write(self, item, out)?;
        }
        if some {
            self.line(depth, out);
        }
        out.push(close);
        Ok(())
    }

    /// A new line, where there are lines.
    fn line(&self, depth: usize, out: &mut String) {
        if let Some(indent) = &self.indent {
            out.push('\n');
            out.push_str(&indent.repeat(depth));
        }
    }

    fn quote(&self, text: &str, out: &mut String) {
        out.push('"');
        for c in text.chars() {
            match c {
                '"' => out.push_str("\\\""),
                '\\' => out.push_str("\\\\"),
                '\n' => out.push_str("\\n"),
                '\r' => out.push_str("\\r"),
                '\t' => out.push_str("\\t"),
                '\u{8}' => out.push_str("\\b"),
                '\u{c}' => out.push_str("\\f"),
                c if c < ' ' || (self.ascii && !c.is_ascii()) => {
                    for unit in c.encode_utf16(&mut [0; 2]) {
                        out.push_str(&format!("\\u{unit:04x}"));
                    }
                }
                c => out.push(c),
            }
        }
        out.push('"');
    }
}
