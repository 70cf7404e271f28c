//! Transient errors.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use super::{NodeError, NodeTimeout, TaskFailure};

/// A cause that says: a later attempt may succeed.
///
/// A library whose errors know that puts it into their [`source`](Error::source). Then
/// [`is_transient`] and [`AgentError::is_retryable`](super::AgentError::is_retryable) know it too, and
/// every retry policy waits as long as the error asks.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use langgraph::error::{NodeError, Transient, is_transient};
///
/// #[derive(Debug, thiserror::Error)]
/// #[error("the printer is busy")]
/// struct Busy(#[source] Transient);
///
/// let busy = Busy(Transient::new().after(Duration::from_secs(5)));
/// assert!(is_transient(&NodeError::from(busy)));
/// ```
#[derive(Default)]
pub struct Transient {
    after: Option<Duration>,
    source: Option<Box<dyn Error + Send + Sync>>,
}

impl Transient {
    /// Creates a cause without a cause of its own.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets how long to wait before the next attempt.
    #[must_use]
    pub fn after(mut self, wait: Duration) -> Self {
        self.after = Some(wait);
        self
    }

    /// Sets what has happened.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// Returns the cause of an error that says so.
    fn of(error: &NodeError) -> Option<&Self> {
        let mut cause: Option<&(dyn Error + 'static)> = Some(error.source());
        while let Some(error) = cause {
            if let Some(transient) = error.downcast_ref() {
                return Some(transient);
            }
            cause = error.source();
        }
        None
    }

    /// Returns how long an error asks to wait, if it or one of its sources is a `Transient` that says so.
    pub fn wait(error: &NodeError) -> Option<Duration> {
        Self::of(error)?.after
    }
}

impl fmt::Display for Transient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.source {
            Some(source) => fmt::Display::fmt(source, f),
            None => f.write_str("a later attempt may succeed"),
        }
    }
}

impl Error for Transient {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        // It shows its source in its own place.
        self.source.as_deref()?.source()
    }
}

/// Returns true for errors that a retry may avoid: a
/// [`NodeTimeout`], an input/output error
/// that concerns the connection and not the request, and an error with the cause [`Transient`].
///
/// Add the transient errors of your own libraries with `RetryPolicy::retry_on_error`.
///
/// # Examples
///
/// ```
/// use std::io::{Error, ErrorKind};
/// use langgraph::error::{NodeError, is_transient};
///
/// assert!(is_transient(&NodeError::from(Error::from(ErrorKind::ConnectionReset))));
/// assert!(!is_transient(&NodeError::from(Error::from(ErrorKind::NotFound))));
/// assert!(!is_transient(&NodeError::msg("no such user")));
/// ```
pub fn is_transient(error: &NodeError) -> bool {
    use std::io::ErrorKind as Kind;
    let elsewhere = error.downcast_ref::<TaskFailure>();
    error.is::<NodeTimeout>()
        || elsewhere.is_some_and(TaskFailure::is_transient)
        || Transient::of(error).is_some()
        || error.downcast_ref::<std::io::Error>().is_some_and(|error| {
            matches!(
                error.kind(),
                Kind::ConnectionRefused
                    | Kind::ConnectionReset
                    | Kind::ConnectionAborted
                    | Kind::NotConnected
                    | Kind::BrokenPipe
                    | Kind::TimedOut
                    | Kind::Interrupted
                    | Kind::WouldBlock
                    | Kind::UnexpectedEof
                    | Kind::HostUnreachable
                    | Kind::NetworkUnreachable
                    | Kind::NetworkDown
            )
        })
}

crate::debug_is_message!(Transient);
