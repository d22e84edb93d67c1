//! The part of JSON Schema that openapi.json uses. A keyword that is not known here is an error, so that nothing is
//! promised there and not looked at.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

/// Says nothing about a value.
const WORDS: [&str; 2] = ["description", "default"];

/// Checks a value against a schema, whose references lead into `document`.
///
/// # Errors
/// What does not fit, and where.
pub(crate) fn check(document: &Value, schema: &Value, value: &Value) -> Result<(), String> {
    Checker { document }.check(schema, value, "").map(|_| ())
}

/// What a reference leads to, or the value itself where it is none.
pub(crate) fn resolve<'a>(document: &'a Value, value: &'a Value) -> &'a Value {
    match value["$ref"].as_str() {
        Some(reference) => {
            let target = reference.strip_prefix('#').and_then(|pointer| document.pointer(pointer));
            resolve(document, target.unwrap_or_else(|| panic!("{reference} leads nowhere")))
        }
        None => value,
    }
}

struct Checker<'a> {
    document: &'a Value,
}

impl Checker<'_> {
    /// The names of the fields that the schema speaks of.
    fn check(&self, schema: &Value, value: &Value, at: &str) -> Result<BTreeSet<String>, String> {
        let schema = schema.as_object().expect("a schema is an object");
        let fails = |says: String| Err(format!("{at}: {says}"));
        let mut known = BTreeSet::new();
        for (keyword, says) in schema {
            match keyword.as_str() {
                "$ref" => known.extend(self.check(resolve(self.document, &json!({ "$ref": says })), value, at)?),
                "allOf" => {
                    for part in list(says) {
                        known.extend(self.check(part, value, at)?);
                    }
                }
                "anyOf" => {
                    let tried: Vec<_> = list(says).iter().map(|one| self.check(one, value, at)).collect();
                    match tried.iter().find_map(|one| one.as_ref().ok()) {
                        Some(found) => known.extend(found.clone()),
                        None => return fails(format!("none fits: {tried:?}")),
                    }
                }
                "type" if !is(says, value) => return fails(format!("{value} is no {says}")),
                "const" if !same(says, value) => return fails(format!("{value} is not {says}")),
                "enum" if !list(says).iter().any(|one| same(one, value)) => {
                    return fails(format!("{value} is not one of {says}"));
                }
                "minimum" if value.as_f64() < says.as_f64() && value.is_number() => {
                    return fails(format!("{value} is below {says}"));
                }
                "maximum" if value.as_f64() > says.as_f64() => return fails(format!("{value} is above {says}")),
                "minItems" if len(value) < says.as_u64() && value.is_array() => return fails("too short".to_owned()),
                "maxItems" if len(value) > says.as_u64() => return fails("too long".to_owned()),
                "minLength" if chars(value) < says.as_u64() && value.is_string() => {
                    return fails("too short".to_owned());
                }
                "maxLength" if chars(value) > says.as_u64() => return fails("too long".to_owned()),
                "items" => {
                    for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                        self.check(says, item, &format!("{at}[{index}]"))?;
                    }
                }
                "required" => {
                    let missing = |name: &&Value| value.is_object() && value.get(text(name)).is_none();
                    if let Some(name) = list(says).iter().find(missing) {
                        return fails(format!("{name} is missing"));
                    }
                }
                "properties" => {
                    for (name, schema) in says.as_object().expect("properties") {
                        known.insert(name.clone());
                        if let Some(field) = value.get(name) {
                            self.check(schema, field, &format!("{at}.{name}"))?;
                        }
                    }
                }
                // Looked at when all names are known.
                "additionalProperties" | "unevaluatedProperties" => assert_eq!(*says, false),
                "type" | "const" | "enum" | "minimum" | "maximum" | "minItems" | "maxItems" | "minLength"
                | "maxLength" => {}
                word if WORDS.contains(&word) => {}
                other => panic!("{at}: the keyword {other} is not known to this checker"),
            }
        }
        let closed = |keyword: &str| schema.contains_key(keyword);
        if closed("additionalProperties") || closed("unevaluatedProperties") {
            let fields = value.as_object().into_iter().flat_map(Map::keys);
            if let Some(name) = fields.into_iter().find(|name| !known.contains(*name)) {
                return fails(format!("{name} is not described"));
            }
        }
        Ok(known)
    }
}

fn is(types: &Value, value: &Value) -> bool {
    let is = |name: &str| match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "number" => value.is_number(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        other => panic!("there is no type {other}"),
    };
    types.as_str().map_or_else(|| list(types).iter().any(|name| is(text(name))), is)
}

/// To JSON Schema, 0 and 0.0 are the same.
fn same(a: &Value, b: &Value) -> bool {
    a == b || (a.is_number() && a.as_f64() == b.as_f64())
}

fn list(value: &Value) -> &[Value] {
    value.as_array().expect("a list")
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}

fn len(value: &Value) -> Option<u64> {
    value.as_array().map(|list| list.len() as u64)
}

fn chars(value: &Value) -> Option<u64> {
    value.as_str().map(|text| text.chars().count() as u64)
}

#[test]
fn what_does_not_fit_is_found() {
    let document = json!({ "a": { "type": "object", "required": ["n"], "properties": { "n": { "type": "integer", "minimum": 0 } } } });
    let open = json!({ "$ref": "#/a" });
    let closed = json!({ "allOf": [{ "$ref": "#/a" }], "unevaluatedProperties": false, "properties": { "m": { "enum": [null, "x"] } } });
    for (schema, value, fits) in [
        (&open, json!({ "n": 1 }), true),
        (&open, json!({ "n": 1, "more": 2 }), true),
        (&open, json!({}), false),
        (&open, json!({ "n": -1 }), false),
        (&open, json!({ "n": 1.5 }), false),
        (&open, json!([]), false),
        (&closed, json!({ "n": 1, "m": null }), true),
        (&closed, json!({ "n": 1, "m": "y" }), false),
        (&closed, json!({ "n": 1, "more": 2 }), false),
        (&json!({ "type": ["number", "null"], "maximum": 2 }), json!(null), true),
        (&json!({ "type": ["number", "null"], "maximum": 2 }), json!(3), false),
        (&json!({ "type": "array", "maxItems": 1, "items": { "type": "string" } }), json!(["a"]), true),
        (&json!({ "type": "array", "maxItems": 1, "items": { "type": "string" } }), json!(["a", "b"]), false),
        (&json!({ "type": "array", "items": { "type": "string" } }), json!([1]), false),
        (&json!({ "anyOf": [{ "type": "null" }, { "const": "mean" }] }), json!("mean"), true),
        (&json!({ "anyOf": [{ "type": "null" }, { "const": "mean" }] }), json!("min"), false),
    ] {
        let got = check(&document, schema, &value);
        assert_eq!(got.is_ok(), fits, "{schema} {value}: {got:?}");
    }
}
