//! Responses of axum.

use axum_core::body::Body;
use axum_core::response::{IntoResponse, Response};
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderName, HeaderValue, StatusCode};

use crate::{Problem, Sse};

impl IntoResponse for Sse {
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::from_stream(Texts(self)));
        let headers = response.headers_mut();
        let event_stream = HeaderValue::from_static("text/event-stream");
        headers.insert(CONTENT_TYPE, event_stream);
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        // nginx would collect events before it passes them on.
        let buffering = HeaderName::from_static("x-accel-buffering");
        headers.insert(buffering, HeaderValue::from_static("no"));
        response
    }
}

/// A body that never fails.
struct Texts(Sse);

impl futures_core::Stream for Texts {
    type Item = Result<String, std::convert::Infallible>;

    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Self::Item>> {
        let text = std::pin::Pin::new(&mut self.0).poll_next(cx);
        text.map(|text| text.map(Ok))
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status());
        let status = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        if status == StatusCode::NO_CONTENT {
            return status.into_response();
        }
        let json = HeaderValue::from_static("application/json");
        (status, [(CONTENT_TYPE, json)], self.body().to_string()).into_response()
    }
}
