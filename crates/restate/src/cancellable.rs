//! Entries of the journal that end with a cancellation.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;

/// Whether the work of an entry is under way.
#[derive(Clone, Debug, Default)]
pub(crate) struct Work(Arc<AtomicBool>);

impl Work {
    /// Runs the work.
    pub(crate) async fn run<T>(self, work: impl Future<Output = T>) -> T {
        self.0.store(true, Ordering::Relaxed);
        let result = work.await;
        self.0.store(false, Ordering::Relaxed);
        result
    }
}

/// Waits for an entry; returns `None` if the invocation is cancelled while the entry's work is under way.
///
/// Both futures take what Restate sends from one stream, and a future of the SDK looks at what it has taken
/// itself, not at what another one has taken. An entry whose work is done waits for Restate's acknowledgement.
/// If `cancelled` took that, the entry would not be woken. So it is polled only while the work runs: an entry
/// that waits for Restate ends with a cancellation by itself.
pub(crate) async fn unless_cancelled<T>(
    mut entry: Pin<&mut impl Future<Output = T>>,
    mut cancelled: Pin<&mut impl Future>,
    work: &Work,
) -> Option<T> {
    poll_fn(|cx| {
        if let Poll::Ready(result) = entry.as_mut().poll(cx) {
            return Poll::Ready(Some(result));
        }
        if work.0.load(Ordering::Relaxed) && cancelled.as_mut().poll(cx).is_ready() {
            return Poll::Ready(None);
        }
        Poll::Pending
    })
    .await
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::sync::Mutex;
    use std::time::Duration;

    use tokio::sync::oneshot;
    use tokio::time::timeout;

    use super::*;

    /// What Restate sends: it may arrive at any time, also between two polls.
    type Input = Arc<Mutex<VecDeque<&'static str>>>;

    /// Takes the next message, as futures of the SDK do, and looks whether it is the wanted one.
    fn taker(input: Input, wanted: &'static str) -> impl Future<Output = ()> {
        poll_fn(move |_| match input.lock().unwrap().pop_front() {
            Some(found) if found == wanted => Poll::Ready(()),
            _ => Poll::Pending,
        })
    }

    #[tokio::test]
    async fn an_acknowledgement_that_comes_between_two_polls_is_not_lost() {
        let input = Input::default();
        let work = Work::default();
        let (here, arriving) = (work.clone(), Arc::clone(&input));
        let mut acknowledged = Box::pin(taker(Arc::clone(&input), "acknowledged"));
        let entry = async {
            here.run(async {}).await;
            poll_fn(|cx| {
                let polled = acknowledged.as_mut().poll(cx);
                if polled.is_pending() {
                    arriving.lock().unwrap().push_back("acknowledged");
                    cx.waker().wake_by_ref();
                }
                polled
            })
            .await;
            "done"
        };
        let mut entry = std::pin::pin!(entry);
        let mut cancelled = std::pin::pin!(taker(input, "cancelled"));
        let waits = unless_cancelled(entry.as_mut(), cancelled.as_mut(), &work);
        let result = timeout(Duration::from_secs(5), waits).await;
        assert_eq!(result.expect("the acknowledgement is lost"), Some("done"));
    }

    #[tokio::test]
    async fn a_cancellation_reaches_work_that_runs() {
        let work = Work::default();
        let (cancel, cancelled) = oneshot::channel::<()>();
        let here = work.clone();
        let entry = here.run(async {
            cancel.send(()).unwrap();
            std::future::pending::<()>().await;
        });
        let mut entry = std::pin::pin!(entry);
        let mut cancelled = std::pin::pin!(cancelled);
        let waits = unless_cancelled(entry.as_mut(), cancelled.as_mut(), &work);
        let result = timeout(Duration::from_secs(5), waits).await;
        assert_eq!(result.expect("the cancellation is lost"), None);
    }
}
