//! What the server says of itself.

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::{Html, IntoResponse, Response};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::app::App;
use crate::error::{ApiError, ApiResult};

pub(super) async fn ok() -> Json<Value> {
    Json(json!({"ok": true}))
}

/// Says whether the server takes up runs: not while it drains, and not without its database.
pub(super) async fn ready(State(app): State<Arc<App>>) -> ApiResult<Json<Value>> {
    let stored = tokio::time::timeout(Duration::from_secs(2), app.rows.ping()).await;
    match stored {
        Ok(Ok(())) if !app.runs.is_draining() => Ok(Json(json!({"ready": true}))),
        _ => Err(ApiError::unavailable()),
    }
}

pub(super) async fn info() -> Json<Value> {
    Json(json!({
        "version": env!("CARGO_PKG_VERSION"),
        "flags": {"assistants": true, "crons": true, "langsmith": false, "strict_resume": true},
        "host": {"kind": "self-hosted"},
    }))
}

/// Returns the description of the routes.
pub(super) async fn openapi() -> impl IntoResponse {
    let json = [(header::CONTENT_TYPE, "application/json")];
    (json, include_str!("../openapi.json"))
}

/// Shows the description of the routes. The page runs its own script and nothing else.
pub(super) async fn docs() -> impl IntoResponse {
    let nonce = Uuid::new_v4().simple();
    let page =
        include_str!("../docs.html").replace("<script>", &format!("<script nonce=\"{nonce}\">"));
    let policy = format!(
        "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'unsafe-inline'; \
         connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    );
    let headers = [
        (header::CONTENT_SECURITY_POLICY, policy),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff".to_owned()),
    ];
    (headers, Html(page))
}

pub(super) async fn not_allowed() -> ApiError {
    ApiError::not_allowed()
}

/// A handler panicked: what it said is in the log of the program.
#[allow(clippy::needless_pass_by_value)] // the form that the layer calls
pub(super) fn broken(_: Box<dyn Any + Send>) -> Response {
    ApiError::broken().into_response()
}

pub(super) async fn not_found() -> ApiError {
    ApiError::not_found("Not Found")
}
