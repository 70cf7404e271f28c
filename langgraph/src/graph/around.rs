//! What a builder is told about all of its nodes.

use std::sync::Arc;

use super::StateGraph;
use crate::node::{Middleware, NodeCache, NodeDefaults};
use crate::state::State;

impl<S: State> StateGraph<S> {
    /// Sets options of every node, also of those that are added later. A node's own option wins over
    /// the default of the same kind.
    ///
    /// Called again, it goes on from what was set before.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use langgraph::prelude::*;
    ///
    /// let mut graph = StateGraph::<i64>::new();
    /// graph
    ///     .defaults(|nodes| nodes.retry(3).timeout(Duration::from_secs(30)))
    ///     .add_node("slow", (|n: &i64| n + 1).timeout(Duration::from_secs(300)))
    ///     .add_sequence(&["slow"]);
    /// ```
    pub fn defaults(&mut self, set: impl FnOnce(NodeDefaults<S>) -> NodeDefaults<S>) -> &mut Self {
        self.around = set(NodeDefaults(std::mem::take(&mut self.around))).0;
        self
    }

    /// Puts `middleware` around every node, inside what is around them already; see
    /// [`Middleware`].
    pub fn add_middleware(&mut self, middleware: impl Middleware<S>) -> &mut Self {
        self.around.middleware.push(Arc::new(middleware));
        self
    }

    /// Keeps the answers of [cached](crate::node::NodeExt::cache) nodes in `cache`. Without it, each
    /// compiled graph keeps them in memory.
    ///
    /// Graphs that share a cache (in an `Arc`) share answers only if they have the same
    /// [name](Self::set_name) and run the same function under the same node name.
    pub fn cache(&mut self, cache: impl NodeCache) -> &mut Self {
        self.cache = Some(Arc::new(cache));
        self
    }

    /// Lets the first node that fails stop those that run beside it.
    ///
    /// Without it, they finish, and of several failures the first in the graph's order is reported;
    /// with it, the first in time. [`Run::fail_fast`](crate::run::Run::fail_fast) says the same
    /// for one run.
    pub fn fail_fast(&mut self) -> &mut Self {
        self.fail_fast = true;
        self
    }
}
