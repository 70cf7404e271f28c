//! Namespaces as text.
//!
//! A namespace is the JSON array of its labels. As labels are quoted, what is below `["a"]` begins
//! with `["a",`, and nothing else does: a range of the index.

use langgraph_store::{Namespace, StoreError};
use rusqlite::types::Value;

use super::filter::Conditions;

pub(super) fn text(namespace: &Namespace) -> String {
    labels(namespace.labels())
}

fn labels(labels: &[String]) -> String {
    serde_json::Value::from(labels).to_string()
}

pub(super) fn read(text: &str) -> Result<Namespace, StoreError> {
    serde_json::from_str(text).map_err(StoreError::storage)
}

/// Only what is in the namespace or below.
pub(super) fn within(prefix: &[String], conditions: &mut Conditions) {
    if prefix.is_empty() {
        return;
    }
    let here = labels(prefix);
    let open = here.strip_suffix(']').unwrap_or(&here);
    let from = conditions.bind(Value::Text(format!("{open},")));
    // The character after the comma.
    let to = conditions.bind(Value::Text(format!("{open}-")));
    let here = conditions.bind(Value::Text(here.clone()));
    conditions.add(&format!(
        "(i.namespace = {here} OR (i.namespace >= {from} AND i.namespace < {to}))"
    ));
}
