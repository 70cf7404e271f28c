//! Components that pages load from a server (`LoadExternalComponent`). Graphs of Rust have none, and
//! the answer is that of a server whose graphs bring none.

use axum::http::StatusCode;
use serde::Deserialize;

use super::address::Path;
use super::query::Body;
use crate::guard::Access;

/// The component that a page wants.
#[derive(Deserialize)]
pub(super) struct Component {
    #[serde(rename = "name")]
    _name: String,
}

pub(super) async fn load(
    _app: Access,
    Path(assistant): Path<String>,
    Body(_wanted): Body<Component>,
) -> (StatusCode, String) {
    let says = format!("UI not found for agent \"{assistant}\"");
    (StatusCode::NOT_FOUND, says)
}

pub(super) async fn file(
    _app: Access,
    Path((_, file)): Path<(String, String)>,
) -> (StatusCode, String) {
    (StatusCode::NOT_FOUND, format!("File not found: {file}"))
}
