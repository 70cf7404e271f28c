//! Code as text that does not depend on its format.

use quote::ToTokens;

/// Returns the text of a type or an expression, however it is formatted: spaces only between words.
pub(crate) fn compact(code: &impl ToTokens) -> String {
    let mut text = String::new();
    for part in code.to_token_stream().to_string().split_whitespace() {
        let word = |c: char| c.is_alphanumeric() || c == '_';
        if text.ends_with(word) && part.starts_with(word) {
            text.push(' ');
        }
        text.push_str(part);
    }
    text
}
