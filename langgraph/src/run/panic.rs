//! A panic in a node as the node's error.

use std::any::Any;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::node::NodeError;

/// A node panicked.
#[derive(Debug, thiserror::Error)]
#[error("panicked: {0}")]
pub(crate) struct Panicked(String);

impl Panicked {
    pub(super) fn new(payload: &(dyn Any + Send)) -> Self {
        let text = payload
            .downcast_ref::<&str>()
            .map(|text| (*text).to_owned());
        Self(
            text.or_else(|| payload.downcast_ref::<String>().cloned())
                .unwrap_or_else(|| "unknown".to_owned()),
        )
    }
}

impl Panicked {
    /// The runtime lost the task without a word, as when it shuts down.
    pub(super) fn lost() -> Self {
        Self("the async runtime dropped the task".to_owned())
    }
}

/// Runs `start` and the future it makes; a panic in either is an error.
///
/// What the panicking node saw is not used again: its task has failed.
pub(crate) fn catch<T, F>(start: impl FnOnce() -> F) -> Catch<F>
where
    F: Future<Output = Result<T, NodeError>> + Unpin,
{
    match catch_unwind(AssertUnwindSafe(start)) {
        Ok(future) => Catch::Running(future),
        Err(payload) => Catch::Failed(Some(Panicked::new(&*payload).into())),
    }
}

pub(crate) enum Catch<F> {
    Running(F),
    Failed(Option<NodeError>),
}

impl<T, F: Future<Output = Result<T, NodeError>> + Unpin> Future for Catch<F> {
    type Output = Result<T, NodeError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut *self {
            Self::Failed(error) => match error.take() {
                Some(error) => Poll::Ready(Err(error)),
                None => Poll::Pending,
            },
            Self::Running(future) => {
                match catch_unwind(AssertUnwindSafe(|| Pin::new(future).poll(cx))) {
                    Ok(poll) => poll,
                    Err(payload) => Poll::Ready(Err(Panicked::new(&*payload).into())),
                }
            }
        }
    }
}
