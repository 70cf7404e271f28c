//! Values that a job passes on while it runs.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

use tokio::sync::mpsc::UnboundedReceiver;

/// Waits for `job`, and passes the values that arrive in the meantime to `take`. The job holds the
/// other end of `from`, and drops it before it returns.
pub(crate) async fn while_handed<T, U>(
    job: impl Future<Output = T>,
    mut from: UnboundedReceiver<U>,
    mut take: impl FnMut(U),
) -> T {
    let mut job = pin!(job);
    let mut answer = None;
    poll_fn(|context| {
        if answer.is_none()
            && let Poll::Ready(ready) = job.as_mut().poll(context)
        {
            answer = Some(ready);
        }
        loop {
            match from.poll_recv(context) {
                Poll::Ready(Some(handed)) => take(handed),
                Poll::Pending => return Poll::Pending,
                Poll::Ready(None) => break,
            }
        }
        answer.take().map_or(Poll::Pending, Poll::Ready)
    })
    .await
}
