//! Responses that wait for the result of a run.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use langgraph_http::BrokenOff;
use serde_json::Value;

use crate::error::ApiError;
use crate::runs::Disconnect;
use crate::stream::Feed;

/// How often a response that waits sends a line break, which JSON allows before the result. So no
/// proxy and no client takes it for a dead connection.
const HEARTBEAT: Duration = Duration::from_secs(5);

/// The form in which a protocol shows the result of a run.
pub(super) type Shown = Box<dyn FnOnce(Value) -> Value + Send>;

/// Returns the result of a run when it has ended. The guard is dropped with the response.
pub(super) async fn result_of(feed: Arc<Feed>, guard: Disconnect, headers: HeaderMap) -> Response {
    result_as(feed, guard, headers, Box::new(|result| result)).await
}

/// As [`result_of`], in the form of another protocol.
pub(super) async fn result_as(
    feed: Arc<Feed>,
    mut guard: Disconnect,
    mut headers: HeaderMap,
    shown: Shown,
) -> Response {
    if let Ok(result) = tokio::time::timeout(HEARTBEAT, feed.result()).await {
        return match result {
            Some(result) => {
                guard.disarm();
                (headers, Json(shown(result))).into_response()
            }
            None => (headers, broken_off(&mut guard).await).into_response(),
        };
    }
    let lines = stream::unfold(Some((feed, guard, shown)), |state| async move {
        let (feed, mut guard, shown) = state?;
        let Ok(result) = tokio::time::timeout(HEARTBEAT, feed.result()).await else {
            return Some((Ok("\n".to_owned()), Some((feed, guard, shown))));
        };
        let line = if let Some(result) = result {
            guard.disarm();
            Ok(shown(result).to_string())
        } else {
            broken_off(&mut guard).await;
            Err(BrokenOff)
        };
        Some((line, None))
    });
    let json = HeaderValue::from_static("application/json");
    headers.insert(header::CONTENT_TYPE, json);
    let first = stream::iter([Ok("\n".to_owned())]);
    let body = Body::from_stream(futures_util::StreamExt::chain(first, lines));
    (headers, body).into_response()
}

/// The server stops while a client waits. Returns what it is told: whether its run goes on.
async fn broken_off(guard: &mut Disconnect) -> ApiError {
    guard.broken_off().await;
    if guard.can_return() {
        ApiError::goes_on()
    } else {
        ApiError::unavailable()
    }
}
