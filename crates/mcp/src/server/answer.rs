//! The answer to one question of a run.

use serde_json::Value;

/// An answer for the interrupt of that id: the values that it may mean, the likeliest first.
pub(super) struct Answered<'a> {
    pub(super) id: &'a str,
    pub(super) values: Vec<Value>,
}
