//! The table of characters that a SentencePiece normaliser of a tokenizer.json carries. Its library makes room for as many
//! bytes as the table says of itself, so that is held against the table's length first.

use serde_json::Value;

/// That no table claims to be longer than it is.
///
/// # Errors
/// With both numbers.
pub(crate) fn check(normalizer: &Value) -> Result<(), String> {
    let mut open = vec![normalizer];
    while let Some(normalizer) = open.pop() {
        open.extend(normalizer["normalizers"].as_array().into_iter().flatten());
        let Some(table) = normalizer["precompiled_charsmap"].as_str() else { continue };
        let has = table.len() / 4 * 3;
        if let Some(claims) = claimed(table).filter(|claims| *claims > has) {
            return Err(format!("its precompiled_charsmap says that it has {claims} bytes, but it has {has} at most"));
        }
    }
    Ok(())
}

/// The number in the first four bytes of what base64 spells; none where that is no base64.
fn claimed(table: &str) -> Option<usize> {
    let mut bits = 0u64;
    for letter in table.as_bytes().get(..6)? {
        let value = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = bits << 6 | u64::from(value);
    }
    // 36 bits, of which the first 32 are the number.
    Some(((bits >> 4) as u32).swap_bytes() as usize)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::check;

    #[test]
    fn a_table_is_as_long_as_it_says() {
        // 4, 0, 0, 0 and four bytes; then 255, 255, 255, 0 and four.
        for (table, fits) in [("BAAAAAECAwQ=", true), ("////AAECAwQ=", false), ("AAAA", true), ("none", true)] {
            let alone = json!({"type": "Precompiled", "precompiled_charsmap": table});
            assert_eq!(check(&alone).is_ok(), fits, "{table}");
            let within = json!({"type": "Sequence", "normalizers": [alone]});
            assert_eq!(check(&within).is_ok(), fits, "{table}");
        }
        let words = check(&json!({"precompiled_charsmap": "////AAECAwQ="})).unwrap_err();
        assert!(words.contains("16777215 bytes") && words.contains("9 at most"), "{words}");
    }
}
