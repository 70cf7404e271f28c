//! Transient errors.

use super::{NodeError, NodeTimeout, TaskFailure};

/// Returns true for errors that a retry may avoid: a
/// [`NodeTimeout`](crate::policy::NodeTimeout), and an input/output error
/// that concerns the connection and not the request.
///
/// Add the transient errors of your own libraries with [`RetryPolicy::retry_on_error`](crate::policy::RetryPolicy::retry_on_error).
///
/// # Examples
///
/// ```
/// use std::io::{Error, ErrorKind};
/// use langgraph::node::NodeError;
/// use langgraph::policy::is_transient;
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
