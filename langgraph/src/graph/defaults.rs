//! Policies of all nodes of a graph.

use std::sync::Arc;

use super::{ConfiguredNode, StateGraph};
use crate::node::Step;
use crate::policy::{Cached, InMemoryCache, Middleware, NodeCache, NodeDefaults, Policies, Stack};
use crate::state::State;

impl<S: State> StateGraph<S> {
    /// Sets options of every node, including nodes that are added later. A node's own option
    /// overrides the default of the same kind.
    ///
    /// A further call adds to the earlier ones.
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

    /// Wraps every node in `middleware`, inside the existing middleware; see [`Middleware`].
    pub fn middleware(&mut self, middleware: impl Middleware<S>) -> &mut Self {
        self.around.middleware.push(Arc::new(middleware));
        self
    }

    /// Stores the outputs of [cached](crate::graph::NodeExt::cache) nodes in `cache`. Without it, they are stored
    /// in the resource `dyn NodeCache` of the run, or of a graph around; without that, each compiled graph caches
    /// them in memory.
    ///
    /// Graphs that share a cache (in an `Arc`) share outputs only if they have the same
    /// [name](Self::set_name) and run the same function under the same node name.
    pub fn cache(&mut self, cache: impl NodeCache) -> &mut Self {
        self.cache = Some(Arc::new(cache));
        self
    }

    /// Lets the first failing node stop the nodes in parallel.
    ///
    /// Without it, they finish, and the run reports the first failure in the graph's order. With
    /// it, the run reports the first failure in time. On a thread, what had finished before is stored; the
    /// nodes that were stopped run again, with all that they have cost, when the thread goes on.
    /// [`Run::fail_fast`](crate::run::Run::fail_fast) sets it for one run.
    pub fn fail_fast(&mut self) -> &mut Self {
        self.fail_fast = true;
        self
    }
}

/// The policies that a graph adds to its nodes, at compilation.
pub(crate) struct Around<'a, S: State> {
    pub(crate) defaults: &'a Policies<S>,
    /// The cache that was set for the graph, or its own.
    pub(crate) cache: Option<Arc<dyn NodeCache>>,
    pub(crate) cache_is_default: bool,
    pub(crate) graph: Arc<str>,
}

impl<S: State> Around<'_, S> {
    /// Returns the step to run: the node itself, or the node inside its policies.
    pub(crate) fn step(&mut self, node: &ConfiguredNode<S>) -> Arc<dyn Step<S>> {
        let step = Arc::clone(&node.step);
        let mut policies = node.policies.inside(self.defaults);
        if policies.is_empty() {
            return step;
        }
        let cache = policies.cache.take().map(|policy| {
            let own = || Arc::new(InMemoryCache::new());
            let cache = self.cache.get_or_insert_with(|| own());
            let graph = Arc::clone(&self.graph);
            let cache = (Arc::clone(cache), self.cache_is_default);
            Cached::new(policy, cache, graph, step.code())
        });
        Arc::new(Stack::new(step, cache, policies))
    }

    /// Returns the maximum of attempts of a node.
    pub(crate) fn max_attempts(&self, node: &ConfiguredNode<S>) -> u32 {
        let own = &node.policies.retry;
        let retry = if own.is_empty() {
            &self.defaults.retry
        } else {
            own
        };
        retry
            .iter()
            .map(|policy| policy.max_attempts)
            .max()
            .unwrap_or(1)
    }
}
