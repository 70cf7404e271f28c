//! Panics of nodes.

use std::any::Any;

/// A panic in a node or in its router, as the error of the node.
///
/// ```
/// use langgraph::error::{NodeError, Panicked};
///
/// fn is_a_bug(error: &NodeError) -> bool {
///     error.is::<Panicked>()
/// }
/// # assert!(is_a_bug(&Panicked::lost().into()));
/// ```
#[derive(thiserror::Error)]
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

crate::debug_is_message!(Panicked);
