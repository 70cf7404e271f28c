//! Turns a panic in a node into the node's error.

use std::any::Any;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

use super::NodeError;

/// A panic in a node or in its router.
#[derive(Debug, thiserror::Error)]
#[error("{}panicked: {text}", if *.router { "a router behind it " } else { "" })]
pub(crate) struct Panicked {
    text: String,
    router: bool,
}

impl Panicked {
    pub(crate) fn new(payload: &(dyn Any + Send)) -> Self {
        let text = payload
            .downcast_ref::<&str>()
            .map(|text| (*text).to_owned());
        let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
        Self::saying(text.unwrap_or_else(|| "unknown".to_owned()))
    }

    fn saying(text: String) -> Self {
        let router = false;
        Self { text, router }
    }

    /// Marks a panic of the node's router.
    pub(crate) fn of_router(&self) -> Self {
        Self {
            text: self.text.clone(),
            router: true,
        }
    }
}

/// Runs `work`, and turns a panic into an error.
///
/// The run ends, so nothing uses what the panicking code changed.
#[inline]
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> Result<T, Panicked> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| Panicked::new(&*payload))
}

impl Panicked {
    pub(crate) fn into_message(self) -> String {
        self.text
    }

    /// The error if the runtime lost the task silently, for example at its shutdown.
    pub(crate) fn lost() -> Self {
        Self::saying("the async runtime dropped the task".to_owned())
    }
}

/// Awaits `work`, and turns a panic into an error.
///
/// The caller decides about what the panicking code changed.
pub(crate) async fn contained<T>(
    mut work: Pin<&mut impl Future<Output = T>>,
) -> Result<T, Panicked> {
    poll_fn(|cx| {
        let polled = catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(cx)));
        polled.map_or_else(
            |payload| Poll::Ready(Err(Panicked::new(&*payload))),
            |poll| poll.map(Ok),
        )
    })
    .await
}

/// Runs `start` and its future, and turns a panic in either into an error.
///
/// The task has failed, so nothing uses what the panicking node saw.
pub(crate) fn catch<T, C, F>(start: C) -> Catch<C, F>
where
    C: FnOnce() -> F,
    F: Future<Output = Result<T, NodeError>> + Unpin,
{
    Catch::Start(Some(start))
}

pub(crate) enum Catch<C, F> {
    Start(Option<C>),
    Running(F),
}

// Nothing is pinned in place: the closure is moved out, and the future itself is `Unpin`.
impl<C, F: Unpin> Unpin for Catch<C, F> {}

impl<T, C, F> Future for Catch<C, F>
where
    C: FnOnce() -> F,
    F: Future<Output = Result<T, NodeError>> + Unpin,
{
    type Output = Result<T, NodeError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let polled = match &mut *self {
            Self::Start(start) => {
                let Some(start) = start.take() else {
                    return Poll::Pending;
                };
                // Started and polled at once: a future that is ready immediately is never moved.
                let first = catch_unwind(AssertUnwindSafe(|| {
                    let mut future = start();
                    match Pin::new(&mut future).poll(cx) {
                        Poll::Ready(result) => Ok(result),
                        Poll::Pending => Err(future),
                    }
                }));
                match first {
                    Ok(Ok(result)) => return Poll::Ready(result),
                    Ok(Err(future)) => {
                        *self = Self::Running(future);
                        return Poll::Pending;
                    }
                    Err(payload) => Err(payload),
                }
            }
            Self::Running(future) => catch_unwind(AssertUnwindSafe(|| Pin::new(future).poll(cx))),
        };
        polled.unwrap_or_else(|payload| Poll::Ready(Err(Panicked::new(&*payload).into())))
    }
}
