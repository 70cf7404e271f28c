//! What the server says of itself.

use axum::Json;
use serde_json::{Value, json};

use crate::error::ApiError;

pub(super) async fn ok() -> Json<Value> {
    Json(json!({"ok": true}))
}

pub(super) async fn info() -> Json<Value> {
    Json(json!({
        "version": env!("CARGO_PKG_VERSION"),
        "flags": {"assistants": true, "crons": false, "langsmith": false},
        "host": {"kind": "self-hosted"},
    }))
}

pub(super) async fn not_found() -> ApiError {
    ApiError::not_found("Not Found")
}
