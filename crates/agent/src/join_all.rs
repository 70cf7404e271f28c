//! Runs several futures in one task, and catches their panics.

use std::any::Any;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::Poll;

/// Awaits all of `futures` and returns, in order, the output or the panic of each.
///
/// They share one task, so a future that computes without awaiting delays the others.
pub(super) async fn join_all<F: Future + Unpin>(
    futures: impl IntoIterator<Item = F>,
) -> Vec<Result<F::Output, String>> {
    let mut slots: Vec<Slot<F>> = futures.into_iter().map(Slot::Running).collect();
    poll_fn(|cx| {
        let mut pending = false;
        for slot in &mut slots {
            let Slot::Running(future) = slot else {
                continue;
            };
            // A future that panicked is not polled again.
            match catch_unwind(AssertUnwindSafe(|| Pin::new(future).poll(cx))) {
                Ok(Poll::Pending) => pending = true,
                Ok(Poll::Ready(output)) => *slot = Slot::Ended(Ok(output)),
                Err(payload) => *slot = Slot::Ended(Err(text(&*payload))),
            }
        }
        if pending {
            Poll::Pending
        } else {
            Poll::Ready(())
        }
    })
    .await;
    let ended = slots.into_iter().filter_map(|slot| match slot {
        Slot::Ended(result) => Some(result),
        Slot::Running(_) => None,
    });
    ended.collect()
}

enum Slot<F: Future> {
    Running(F),
    Ended(Result<F::Output, String>),
}

fn text(payload: &(dyn Any + Send)) -> String {
    let text = payload
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".to_owned())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn all_run_at_once_and_keep_their_order() {
        let start = tokio::time::Instant::now();
        let sleeps = (0..20_u64).map(|n| {
            Box::pin(async move {
                tokio::time::sleep(Duration::from_secs(20 - n)).await;
                assert!(n != 7, "seven");
                n
            })
        });
        let ended = join_all(sleeps).await;
        assert_eq!(start.elapsed(), Duration::from_secs(20));
        for (n, result) in ended.into_iter().enumerate() {
            match result {
                Ok(value) => assert_eq!(value, n as u64),
                Err(panic) => assert_eq!((n, &*panic), (7, "seven")),
            }
        }
    }

    #[tokio::test]
    async fn nothing_is_ready_at_once() {
        let none: [std::future::Ready<()>; 0] = [];
        assert!(join_all(none).await.is_empty());
    }
}
