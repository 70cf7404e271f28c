//! What is done around a node, as a value; and what is done around every node of a graph.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use super::cache::{CachePolicy, Cached, InMemoryCache, NodeCache};
use super::guard::Guarded;
use super::handler::{ErasedHandler, ErrorHandler, Handler};
use super::middleware::Middleware;
use super::policy::RetryPolicy;
use super::{ConfiguredNode, Step};
use crate::state::State;

/// What is done around a node.
#[derive(Clone)]
pub(crate) struct Policies<S: State> {
    pub(crate) retry: Vec<RetryPolicy>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) idle: Option<Duration>,
    pub(crate) cache: Option<CachePolicy<S>>,
    pub(super) handler: Option<Arc<dyn ErasedHandler<S>>>,
    /// The outermost first.
    pub(crate) middleware: Vec<Arc<dyn Middleware<S>>>,
}

impl<S: State> Default for Policies<S> {
    fn default() -> Self {
        Self {
            retry: Vec::new(),
            timeout: None,
            idle: None,
            cache: None,
            handler: None,
            middleware: Vec::new(),
        }
    }
}

impl<S: State> Policies<S> {
    fn is_empty(&self) -> bool {
        self.retry.is_empty()
            && self.timeout.is_none()
            && self.idle.is_none()
            && self.cache.is_none()
            && self.handler.is_none()
            && self.middleware.is_empty()
    }

    pub(super) fn set_handler<K: 'static>(&mut self, handler: impl ErrorHandler<S, K>) {
        self.handler = Some(Arc::new(Handler(handler, PhantomData)));
    }

    /// A node's own options, and for the rest those of its graph.
    fn inside(&self, graph: &Self) -> Self {
        let retry = if self.retry.is_empty() {
            &graph.retry
        } else {
            &self.retry
        };
        let middleware = graph.middleware.iter().chain(&self.middleware);
        Self {
            retry: retry.clone(),
            timeout: self.timeout.or(graph.timeout),
            idle: self.idle.or(graph.idle),
            cache: self.cache.as_ref().or(graph.cache.as_ref()).cloned(),
            handler: self.handler.as_ref().or(graph.handler.as_ref()).cloned(),
            middleware: middleware.cloned().collect(),
        }
    }
}

impl<S: State> fmt::Debug for Policies<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Policies")
            .field("retry", &self.retry)
            .field("timeout", &self.timeout)
            .field("idle", &self.idle)
            .field("cache", &self.cache)
            .field("handler", &self.handler.is_some())
            .field("middleware", &self.middleware.len())
            .finish()
    }
}

/// Options of every node of a graph, as
/// [`StateGraph::defaults`](crate::StateGraph::defaults) takes them.
///
/// A node's own option wins over the default of the same kind. Nodes of subgraphs have the defaults
/// of their own graph.
#[derive(Clone)]
pub struct NodeDefaults<S: State>(pub(crate) Policies<S>);

impl<S: State> NodeDefaults<S> {
    /// Tries again when a node fails; as [`NodeExt::retry`](super::NodeExt::retry). A node opts out
    /// with `.retry(1)`.
    #[must_use]
    pub fn retry(mut self, policy: impl Into<RetryPolicy>) -> Self {
        self.0.retry.push(policy.into());
        self
    }

    /// Bounds each attempt; as [`NodeExt::timeout`](super::NodeExt::timeout). A node opts out with
    /// `.timeout(Duration::MAX)`.
    #[must_use]
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.0.timeout = Some(limit);
        self
    }

    /// Bounds the time without progress; as
    /// [`NodeExt::idle_timeout`](super::NodeExt::idle_timeout).
    #[must_use]
    pub fn idle_timeout(mut self, limit: Duration) -> Self {
        self.0.idle = Some(limit);
        self
    }

    /// Uses answers again; as [`NodeExt::cache`](super::NodeExt::cache).
    #[must_use]
    pub fn cache(mut self, policy: CachePolicy<S>) -> Self {
        self.0.cache = Some(policy);
        self
    }

    /// Answers for nodes that have failed; as [`NodeExt::on_error`](super::NodeExt::on_error).
    #[must_use]
    pub fn on_error<K: 'static>(mut self, handler: impl ErrorHandler<S, K>) -> Self {
        self.0.set_handler(handler);
        self
    }
}

impl<S: State> fmt::Debug for NodeDefaults<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("NodeDefaults").field(&self.0).finish()
    }
}

/// What a graph puts around its nodes, when it is compiled.
pub(crate) struct Around<'a, S: State> {
    pub(crate) defaults: &'a Policies<S>,
    /// The cache that the graph was given.
    pub(crate) cache: Option<Arc<dyn NodeCache>>,
    pub(crate) graph: Arc<str>,
}

impl<S: State> Around<'_, S> {
    /// The step to run: the node itself, or the node inside its policies.
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
            Cached::new(policy, Arc::clone(cache), graph, step.code())
        });
        Arc::new(Guarded::new(step, cache, policies))
    }

    /// How often a node is tried at most.
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
