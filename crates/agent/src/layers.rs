//! The middleware of a ready-made agent.

use std::fmt;
use std::sync::Arc;

use langgraph::graph::StateGraph;
use langgraph::policy::Middleware;
use langgraph::state::State;

/// Middleware around the nodes of an agent, the outermost first.
pub(super) struct Layers<S: State>(Vec<Arc<dyn Middleware<S>>>);

impl<S: State> Layers<S> {
    pub(super) fn add(&mut self, middleware: impl Middleware<S>) {
        self.0.push(Arc::new(middleware));
    }

    /// Puts the nodes of a graph inside the middleware.
    pub(super) fn apply(&self, graph: &mut StateGraph<S>) {
        for middleware in &self.0 {
            graph.middleware(Arc::clone(middleware));
        }
    }
}

impl<S: State> Default for Layers<S> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<S: State> Clone for Layers<S> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<S: State> fmt::Debug for Layers<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} layers", self.0.len())
    }
}
