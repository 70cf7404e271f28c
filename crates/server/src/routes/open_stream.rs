//! Responses that stay open: how many there may be, and how they are sent.

use std::sync::Arc;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use futures_util::StreamExt;
use langgraph_http::Sse;
use tokio::sync::OwnedSemaphorePermit;

use crate::error::{ApiError, ApiResult};
use crate::guard::{Access, Counted};

/// The permit for a stream, as long as it is open.
pub(super) struct StreamPermit {
    _one: OwnedSemaphorePermit,
    _of_owner: Option<Counted>,
}

/// Permits one more stream.
pub(super) fn permit(app: &Access) -> ApiResult<StreamPermit> {
    let one = Arc::clone(&app.streams).try_acquire_owned();
    let one = one.map_err(|_| ApiError::too_many("too many streams are open"))?;
    let limit = app.limits.owner_streams;
    let of_owner = match app.filter() {
        None => None,
        Some(owner) => Some(app.owner_streams.count_below(owner, limit).ok_or_else(|| {
            ApiError::too_many(format!("{limit} streams are open, which is the limit"))
        })?),
    };
    Ok(StreamPermit {
        _one: one,
        _of_owner: of_owner,
    })
}

/// Holds the permit until a response is sent.
pub(super) fn held(permit: StreamPermit, response: Response) -> Response {
    let (parts, body) = response.into_parts();
    let body = body.into_data_stream().map(move |bytes| {
        let _held = &permit;
        bytes
    });
    Response::from_parts(parts, Body::from_stream(body))
}

pub(super) fn event_stream(permit: StreamPermit, mut headers: HeaderMap, sse: Sse) -> Response {
    for (name, value) in [
        (header::CONTENT_TYPE, "text/event-stream; charset=utf-8"),
        (header::CACHE_CONTROL, "no-store"),
        (HeaderName::from_static("x-accel-buffering"), "no"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    let body = sse.into_response().into_body().into_data_stream();
    let body = body.map(move |bytes| {
        let _held = &permit;
        bytes
    });
    (headers, Body::from_stream(body)).into_response()
}
