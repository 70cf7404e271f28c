//! A node of a compiled graph inside middleware.

use std::sync::Arc;

use super::middleware::{Middleware, NodeCall};
use crate::error::NodeError;
use crate::node::{Call, ErasedItem, GraphNode, NodeRun, Step};
use crate::state::State;

/// A node with its policies, inside middleware.
pub(crate) struct Surrounded<S: State> {
    step: Arc<dyn Step<S>>,
    middleware: Arc<dyn Middleware<S>>,
}

impl<S: State> Surrounded<S> {
    pub(crate) fn new(step: &Arc<dyn Step<S>>, middleware: &Arc<dyn Middleware<S>>) -> Self {
        Self {
            step: Arc::clone(step),
            middleware: Arc::clone(middleware),
        }
    }
}

impl<S: State> Step<S> for Surrounded<S> {
    fn call<'a>(&'a self, call: Call<'a, S>) -> NodeRun<'a, S> {
        self.middleware
            .around(NodeCall::new(call, &[], &*self.step))
    }

    fn graph(&self) -> Option<GraphNode<'_>> {
        self.step.graph()
    }

    fn check_item(&self, item: &dyn ErasedItem, node: &str) -> Result<(), NodeError> {
        self.step.check_item(item, node)
    }

    fn code(&self) -> &'static str {
        self.step.code()
    }
}
