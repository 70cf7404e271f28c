//! The body of a request, which has to come in time.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use http_body::{Body, Frame, SizeHint};
use hyper::body::{Bytes, Incoming};
use tower_http::timeout::{TimeoutBody, TimeoutError};

/// The body of a request that [`serve`](crate::serve) has accepted.
///
/// It fails with [`TimedOut`](io::ErrorKind::TimedOut) if the client sends no part of it in time.
pub struct RequestBody(Pin<Box<TimeoutBody<Incoming>>>);

impl RequestBody {
    pub(super) fn new(body: Incoming, timeout: Duration) -> Self {
        Self(Box::pin(TimeoutBody::new(timeout, body)))
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let frame = self.0.as_mut().poll_frame(cx);
        frame.map_err(|error| {
            if error.is::<TimeoutError>() {
                io::Error::new(io::ErrorKind::TimedOut, error)
            } else {
                io::Error::other(error)
            }
        })
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.0.size_hint()
    }
}

impl fmt::Debug for RequestBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequestBody").finish_non_exhaustive()
    }
}
