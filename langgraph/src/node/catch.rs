//! Turns a panic in a node into the node's error.

use std::any::Any;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::error::{NodeError, Panicked};

/// Runs `work`, and turns a panic into an error.
///
/// The caller must not use what the panicking code changed.
///
/// # Errors
///
/// The panic.
#[inline]
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> Result<T, Panicked> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| panicked(&*payload))
}

/// The panic of that payload. Apart, so that the rest is inlined.
#[cold]
fn panicked(payload: &(dyn Any + Send)) -> Panicked {
    Panicked::new(payload)
}

/// Runs `start` and its future, and turns a panic in either into an error.
///
/// The task has failed, so nothing uses what the panicking node saw.
pub(crate) fn catch<C: FnOnce() -> F, F>(start: C) -> Catch<C, F> {
    Catch(Stage::Start(Some(start)))
}

/// The future of [`catch`].
#[derive(Debug)]
pub(crate) struct Catch<C, F>(Stage<C, F>);

#[derive(Debug)]
enum Stage<C, F> {
    Start(Option<C>),
    Running(F),
}

// Nothing is pinned in place: the closure is moved out, and the future itself is `Unpin`.
impl<C, F: Unpin> Unpin for Catch<C, F> {}

impl<C: FnOnce() -> F, F> Catch<C, F> {
    /// Starts the future, if it has not started yet, and polls it with `poll`.
    #[inline]
    pub(crate) fn poll_by<T, E: From<NodeError>>(
        &mut self,
        poll: impl FnOnce(&mut F) -> Poll<Result<T, E>>,
    ) -> Poll<Result<T, E>> {
        let polled = match &mut self.0 {
            Stage::Start(start) => {
                let Some(start) = start.take() else {
                    return Poll::Pending;
                };
                // Started and polled at once: a future that is ready immediately is never moved.
                catch_unwind(AssertUnwindSafe(|| {
                    let mut future = start();
                    let polled = poll(&mut future);
                    if polled.is_pending() {
                        self.0 = Stage::Running(future);
                    }
                    polled
                }))
            }
            Stage::Running(future) => catch_unwind(AssertUnwindSafe(|| poll(future))),
        };
        polled
            .unwrap_or_else(|payload| Poll::Ready(Err(NodeError::from(panicked(&*payload)).into())))
    }
}

impl<T, E: From<NodeError>, C, F> Future for Catch<C, F>
where
    C: FnOnce() -> F,
    F: Future<Output = Result<T, E>> + Unpin,
{
    type Output = Result<T, E>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.poll_by(|future| Pin::new(future).poll(cx))
    }
}
