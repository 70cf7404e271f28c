//! What a job hands over while it runs.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

use tokio::sync::mpsc::UnboundedReceiver;

/// Waits for `job`, and gives `take` what comes meanwhile. Whatever holds the other end of `from`
/// belongs to the job, which lets go of it before it answers.
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
