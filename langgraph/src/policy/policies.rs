//! The policies of a node, and the defaults of a graph.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use super::cache::CachePolicy;
use super::error_handler::{ErasedHandler, ErrorHandler, Handler};
use super::middleware::Middleware;
use super::retry::RetryPolicy;
use crate::state::State;

/// The policies of a node.
#[derive(Clone)]
pub(crate) struct Policies<S: State> {
    pub(crate) retry: Vec<RetryPolicy>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) idle: Option<Duration>,
    pub(crate) cache: Option<CachePolicy<S>>,
    pub(super) handler: Option<Arc<dyn ErasedHandler<S>>>,
    /// Outermost first.
    pub(crate) middleware: Vec<Arc<dyn Middleware<S>>>,
}

impl_default!([S: State] Policies<S> { retry, timeout, idle, cache, handler, middleware });

impl<S: State> Policies<S> {
    pub(crate) fn is_empty(&self) -> bool {
        self.retry.is_empty()
            && self.timeout.is_none()
            && self.idle.is_none()
            && self.cache.is_none()
            && self.handler.is_none()
            && self.middleware.is_empty()
    }

    pub(crate) fn set_handler<K: 'static>(&mut self, handler: impl ErrorHandler<S, K>) {
        self.handler = Some(Arc::new(Handler(handler, PhantomData)));
    }

    /// Returns a node's own options, completed by those of its graph.
    pub(crate) fn inside(&self, graph: &Self) -> Self {
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

impl_debug!([S: State] Policies<S>, |policies|
    retry = policies.retry, timeout = policies.timeout, idle = policies.idle,
    cache = policies.cache, handler = policies.handler.is_some(),
    middleware = policies.middleware.len());

/// Options of every node of a graph, for [`StateGraph::defaults`](crate::StateGraph::defaults).
///
/// A node's own option overrides the default of the same kind. Nodes of subgraphs have the defaults
/// of their own graph.
#[derive(Clone)]
pub struct NodeDefaults<S: State>(pub(crate) Policies<S>);

impl<S: State> NodeDefaults<S> {
    /// Retries a node that fails; as [`NodeExt::retry`](crate::graph::NodeExt::retry). A node opts
    /// out with `.retry(1)`.
    #[must_use]
    pub fn retry(mut self, policy: impl Into<RetryPolicy>) -> Self {
        self.0.retry.push(policy.into());
        self
    }

    /// Limits each attempt; as [`NodeExt::timeout`](crate::graph::NodeExt::timeout). A node opts
    /// out with `.timeout(Duration::MAX)`.
    #[must_use]
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.0.timeout = Some(limit);
        self
    }

    /// Limits the time without progress; as
    /// [`NodeExt::idle_timeout`](crate::graph::NodeExt::idle_timeout).
    #[must_use]
    pub fn idle_timeout(mut self, limit: Duration) -> Self {
        self.0.idle = Some(limit);
        self
    }

    /// Caches outputs; as [`NodeExt::cache`](crate::graph::NodeExt::cache).
    #[must_use]
    pub fn cache(mut self, policy: CachePolicy<S>) -> Self {
        self.0.cache = Some(policy);
        self
    }

    /// Handles failures of nodes; as [`NodeExt::on_error`](crate::graph::NodeExt::on_error).
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
