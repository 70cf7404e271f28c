//! Asks who sends a request, for every route.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::{Caller, Refusal};
use crate::app::App;
use crate::error::ApiError;

/// Files and answers that are the same for everyone. All other paths need a user, also those that
/// do not exist.
fn is_open(path: &str) -> bool {
    matches!(path, "/ok" | "/ready" | "/docs" | "/openapi.json")
}

/// Lets a request through if somebody has sent it.
pub(crate) async fn authenticate(
    State(app): State<Arc<App>>,
    request: Request,
    next: Next,
) -> Response {
    let Some(hook) = &app.authenticate else {
        return next.run(request).await;
    };
    if is_open(request.uri().path()) {
        return next.run(request).await;
    }
    let (mut parts, body) = request.into_parts();
    match hook.authenticate(Caller::of(&parts)).await {
        Ok(user) => {
            parts.extensions.insert(Arc::new(user));
            next.run(Request::from_parts(parts, body)).await
        }
        Err(Refusal::Unauthorized) => ApiError::unauthorized().into_response(),
        Err(Refusal::Forbidden) => ApiError::forbidden("Forbidden").into_response(),
    }
}
