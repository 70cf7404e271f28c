//! Responses of axum.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use axum_core::body::Body;
use axum_core::response::{IntoResponse, Response};
use futures_core::Stream;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderName, HeaderValue, StatusCode};

use crate::{BrokenOff, Problem, Sse};

impl IntoResponse for Sse {
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::from_stream(Texts(Some(self))));
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

/// The texts of a body, which fails at the end if the stream breaks off.
struct Texts(Option<Sse>);

impl Stream for Texts {
    type Item = Result<String, BrokenOff>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Some(sse) = &mut self.0 else {
            return Poll::Ready(None);
        };
        let text = ready!(Pin::new(&mut *sse).poll_next(cx));
        let broken_off = text.is_none() && sse.is_broken_off();
        if text.is_none() {
            self.0 = None;
        }
        Poll::Ready(match text {
            None if broken_off => Some(Err(BrokenOff)),
            text => text.map(Ok),
        })
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
