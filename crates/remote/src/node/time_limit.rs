//! The time limit of a reply.

use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;

use tokio::time::Sleep;

use crate::RemoteError;

/// The time limit for a complete reply.
pub(super) struct TimeLimit(Option<(Pin<Box<Sleep>>, Duration)>);

impl TimeLimit {
    pub(super) fn new(limit: Option<Duration>) -> Self {
        Self(limit.map(|limit| (Box::pin(tokio::time::sleep(limit)), limit)))
    }

    pub(super) async fn within<T>(
        &mut self,
        work: impl Future<Output = T>,
    ) -> Result<T, RemoteError> {
        let mut work = pin!(work);
        std::future::poll_fn(|cx| {
            if let Poll::Ready(done) = work.as_mut().poll(cx) {
                return Poll::Ready(Ok(done));
            }
            match &mut self.0 {
                Some((sleep, limit)) => sleep
                    .as_mut()
                    .poll(cx)
                    .map(|()| Err(RemoteError::TimedOut(*limit))),
                None => Poll::Pending,
            }
        })
        .await
    }
}
