//! Turns a panic in a node into the node's error.

use std::any::Any;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

use super::NodeError;

/// A panic in a node or in its router, as the error of the node.
///
/// ```
/// use langgraph::NodeError;
/// use langgraph::node::Panicked;
///
/// fn is_a_bug(error: &NodeError) -> bool {
///     error.is::<Panicked>()
/// }
/// # assert!(is_a_bug(&Panicked::lost().into()));
/// ```
#[derive(Debug, thiserror::Error)]
#[error("{}panicked: {text}", if *.router { "a router behind it " } else { "" })]
pub struct Panicked {
    text: String,
    router: bool,
}

impl Panicked {
    /// Creates the error of a panic with this payload.
    pub fn new(payload: &(dyn Any + Send)) -> Self {
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

    /// Returns the error as one of the node's router.
    #[must_use]
    pub fn of_router(&self) -> Self {
        Self {
            text: self.text.clone(),
            router: true,
        }
    }
}

/// Runs `work`, and turns a panic into an error.
///
/// The caller must not use what the panicking code changed.
///
/// # Errors
///
/// The panic.
#[inline]
pub fn caught<T>(work: impl FnOnce() -> T) -> Result<T, Panicked> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| Panicked::new(&*payload))
}

impl Panicked {
    /// Returns what the panic said.
    pub fn into_message(self) -> String {
        self.text
    }

    /// Creates the error of a task that the runtime lost the silently, for example at its shutdown.
    pub fn lost() -> Self {
        Self::saying("the async runtime dropped the task".to_owned())
    }
}

/// Runs `start` and its future, and turns a panic in either into an error.
///
/// The task has failed, so nothing uses what the panicking node saw.
pub fn catch<T, C, F>(start: C) -> Catch<C, F>
where
    C: FnOnce() -> F,
    F: Future<Output = Result<T, NodeError>> + Unpin,
{
    Catch(Stage::Start(Some(start)))
}

/// The future of [`catch`].
#[derive(Debug)]
pub struct Catch<C, F>(Stage<C, F>);

#[derive(Debug)]
enum Stage<C, F> {
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

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let polled = match &mut self.0 {
            Stage::Start(start) => {
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
                        self.0 = Stage::Running(future);
                        return Poll::Pending;
                    }
                    Err(payload) => Err(payload),
                }
            }
            Stage::Running(future) => catch_unwind(AssertUnwindSafe(|| Pin::new(future).poll(cx))),
        };
        polled.unwrap_or_else(|payload| Poll::Ready(Err(Panicked::new(&*payload).into())))
    }
}
