//! The marks that a tokenizer.json puts around a text. Its library indexes them unchecked and panics on one that is
//! not there, so they are looked at first.

use serde_json::Value;

/// That every mark which a template names is one that it defines.
///
/// # Errors
/// Naming the mark that is not.
pub(crate) fn check(post_processor: &Value) -> Result<(), String> {
    let mut open = vec![post_processor];
    while let Some(processor) = open.pop() {
        open.extend(list(&processor["processors"]));
        for piece in list(&processor["single"]).chain(list(&processor["pair"])) {
            let Some(mark) = piece["SpecialToken"]["id"].as_str() else { continue };
            if processor["special_tokens"].get(mark).is_none() {
                return Err(format!("its post_processor uses {mark:?}, which its special_tokens do not have"));
            }
        }
    }
    Ok(())
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}
