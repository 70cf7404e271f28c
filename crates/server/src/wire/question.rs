//! What an interrupt asks, for a person.

use std::borrow::Cow;

use serde_json::Value;

use super::approval::is_approval;

/// Returns the text of an interrupt's payload: the payload, what it says in a field of a usual name, or which call is to
/// be approved.
pub(crate) fn question(payload: &Value) -> Option<Cow<'_, str>> {
    let fields = ["question", "message", "description"].map(|key| payload[key].as_str());
    let said = payload
        .as_str()
        .or_else(|| fields.into_iter().flatten().next());
    match said {
        Some(said) => Some(said.into()),
        None if is_approval(payload) => {
            let tool = payload["call"]["name"].as_str().unwrap_or_default();
            Some(format!("May the tool `{tool}` be called?").into())
        }
        None => None,
    }
}
