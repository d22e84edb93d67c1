//! Whose word is taken for it that a server is who it says: Mozilla's list, which is built in, or one of a person's own.

use std::path::Path;

use ureq::tls::{Certificate, PemItem, RootCerts, parse_pem};

/// No list is longer, in bytes.
const LONGEST: u64 = 16 << 20;

/// # Errors
/// Words on why there is no such list.
pub(super) fn read(list: Option<&Path>) -> Result<RootCerts, String> {
    let Some(path) = list else { return Ok(RootCerts::WebPki) };
    let bad = |problem: String| {
        format!("{}: {problem}; SSL_CERT_FILE must name a file of certificates (PEM), or be unset", path.display())
    };
    let size = std::fs::metadata(path).map_err(|error| bad(error.to_string()))?.len();
    if size > LONGEST {
        return Err(bad(format!("is {size} bytes long")));
    }
    let text = std::fs::read(path).map_err(|error| bad(error.to_string()))?;
    let certificates: Vec<Certificate<'static>> = parse_pem(&text)
        .filter_map(|item| match item {
            Ok(PemItem::Certificate(certificate)) => Some(certificate),
            _ => None,
        })
        .collect();
    if certificates.is_empty() {
        return Err(bad("holds no certificate".to_owned()));
    }
    Ok(RootCerts::new_with_certs(&certificates))
}
