//! Runs that wait for answers.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use langgraph_topology::NodeName;

use super::{list, questions};
use crate::checkpoint::Interrupt;

/// A run that waits for answers.
pub struct Pause {
    /// The interrupts, in task order; empty at a breakpoint.
    pub interrupts: Vec<Interrupt>,
    /// The nodes that run after the resume.
    pub next: Vec<NodeName>,
    pub(crate) state: Arc<dyn Any + Send + Sync>,
}

impl Pause {
    /// Returns the state so far, if the graph's state type is `S`.
    pub fn state<S: Send + Sync + 'static>(&self) -> Option<&S> {
        self.state.downcast_ref()
    }
}

impl_debug!([] Pause, |pause| interrupts = pause.interrupts, next = pause.next);

impl fmt::Display for Pause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.interrupts.is_empty() {
            return write!(
                f,
                "somebody to continue it at the breakpoint at {}",
                list(&self.next)
            );
        }
        write!(f, "an answer to {}", questions(&self.interrupts))
    }
}
