//! Runs that wait for answers.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use langgraph_topology::NodeName;

use super::quoted;
use crate::interrupt::Interrupt;

/// A run that waits for answers.
pub struct Pause {
    /// The interrupts, in task order; empty at a breakpoint.
    pub interrupts: Vec<Interrupt>,
    /// The nodes that run after the resume.
    pub next: Vec<NodeName>,
    state: Arc<dyn Any + Send + Sync>,
}

impl Pause {
    /// Creates a pause of a run whose state is `state`.
    pub fn new<S: Send + Sync + 'static>(
        interrupts: Vec<Interrupt>,
        next: Vec<NodeName>,
        state: S,
    ) -> Self {
        let state = Arc::new(state);
        Self {
            interrupts,
            next,
            state,
        }
    }

    /// Returns the state so far, if the graph's state type is `S`.
    pub fn state<S: Send + Sync + 'static>(&self) -> Option<&S> {
        self.state.downcast_ref()
    }
}

impl fmt::Debug for Pause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pause")
            .field("interrupts", &self.interrupts)
            .field("next", &self.next)
            .finish_non_exhaustive()
    }
}

impl fmt::Display for Pause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.interrupts.is_empty() {
            return write!(
                f,
                "a call that continues it at the breakpoint at {}",
                quoted::names(&self.next)
            );
        }
        write!(f, "an answer to {}", quoted::interrupts(&self.interrupts))
    }
}
