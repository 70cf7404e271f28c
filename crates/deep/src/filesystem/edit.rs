//! One edit of a file.

use std::fmt::Write as _;

use langgraph_agent::ToolError;
use serde::{Deserialize, Serialize};

use super::call::EditFile;

/// What an edit does to a file: enough to recognise the file in which it is done.
#[derive(Serialize, Deserialize)]
pub(super) struct Edit {
    pub(super) places: usize,
    /// The SHA-256 digest of the text after it.
    after: String,
}

impl Edit {
    /// Checks an edit of this text.
    pub(super) fn of(asks: &EditFile, text: &str) -> Result<Self, ToolError> {
        if asks.old_string.is_empty() || asks.old_string == asks.new_string {
            return Err(ToolError::arguments(
                "`old_string` is a text to replace by another one",
            ));
        }
        let places = text.matches(&*asks.old_string).count();
        match places {
            0 => Err(ToolError::model(missing(asks, text))),
            2.. if !asks.replace_all => Err(ToolError::model(format!(
                "`old_string` stands in `{}` {places} times; give more of the text around it, or set `replace_all`",
                asks.path
            ))),
            _ => Ok(Self {
                places,
                after: digest(&Self::apply(asks, text)),
            }),
        }
    }

    /// Returns the text after an edit.
    pub(super) fn apply(asks: &EditFile, text: &str) -> String {
        text.replace(&*asks.old_string, &asks.new_string)
    }

    /// Returns true if this is the text after the edit.
    pub(super) fn is_done(&self, text: &str) -> bool {
        digest(text) == self.after
    }
}

/// Returns what is wrong with an `old_string` that does not stand in the file. The model sees each line with an
/// end, also the last one of a file that has none.
fn missing(asks: &EditFile, text: &str) -> String {
    let path = &asks.path;
    let old = &asks.old_string;
    let cut = old.strip_suffix("\r\n").or(old.strip_suffix('\n'));
    let Some(cut) = cut.filter(|cut| !cut.is_empty() && text.ends_with(cut)) else {
        return format!("`old_string` does not stand in `{path}`; read the file");
    };
    let mut why = format!("`old_string` ends with a line end, and `{path}` does not; leave it out");
    let places = text.matches(cut).count();
    if places > 1 {
        let _ = write!(
            why,
            ". It stands there {places} times then: give more of the text around it, or set `replace_all`"
        ); // never fails
    }
    why
}

/// Returns the digest of a text.
pub(super) fn digest(text: &str) -> String {
    let bytes = hmac_sha256::Hash::hash(text.as_bytes());
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}"); // never fails
        text
    })
}
