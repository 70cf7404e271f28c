//! Signatures of reasoning, which bear the name of their provider.
//!
//! A provider checks its own signatures and refuses those of others. After a fallback, the history holds
//! both.

use genai::adapter::AdapterKind;

/// Between the name and the signature. No signature contains it: they are base64.
const MARK: char = ':';

/// Adds the name of the provider.
pub(crate) fn sign(signature: &str, provider: AdapterKind) -> String {
    format!("{}{MARK}{signature}", provider.as_str())
}

/// Whose signature it is.
pub(crate) enum Origin {
    /// The provider's own; or it carries no name.
    Own(String),
    /// Another provider's.
    Foreign,
}

/// Returns whose signature it is, without the name.
pub(crate) fn origin(signature: String, provider: AdapterKind) -> Origin {
    match signature.split_once(MARK) {
        None => Origin::Own(signature),
        Some((name, own)) if name == provider.as_str() => Origin::Own(own.to_owned()),
        Some(_) => Origin::Foreign,
    }
}
