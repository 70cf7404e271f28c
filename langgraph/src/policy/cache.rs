//! Caches of node outputs.

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde::Serialize;
use serde_json::Value;

use crate::checkpoint::Json;
use crate::error::{FormatError, NodeError};
use crate::node::{Call, Context, Output};
use crate::state::{State, Write};
use langgraph_topology::NodeName;

/// When to reuse a node's output: for the same key, until it expires.
///
/// The item of a worker is always part of the key. The cache holds the node's writes and targets.
/// It never holds errors, pauses, outputs that depend on a person's answer, or outputs of an error
/// handler.
///
/// A message that the node adds to a chat history is a new message each time, so a chat can hold the same answer twice:
/// the cache keeps no generated ids of messages. An id that the node has chosen stays, and the message replaces the
/// one of that id.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use langgraph::prelude::*;
/// use langgraph::policy::CachePolicy;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// async fn square(n: &i64) -> i64 {
///     n * n
/// }
///
/// let hour = Duration::from_secs(3600);
/// let mut graph = StateGraph::<i64>::new();
/// graph
///     .add_node("square", square.cache(CachePolicy::new(|n: &i64| n.abs()).ttl(hour)))
///     .add_sequence(&["square"]);
/// let graph = graph.compile()?;
///
/// assert_eq!(graph.invoke(3).await?, 9);
/// assert_eq!(graph.invoke(-3).await?, 9); // the node does not run again
/// graph.clear_cache().await;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct CachePolicy<S: State> {
    key: KeyOf<S>,
    ttl: Option<Duration>,
    version: String,
}

type KeyOf<S> = Arc<dyn Fn(&S) -> Result<Value, FormatError> + Send + Sync>;

impl<S: State> CachePolicy<S> {
    /// Reuses outputs for states with the same `key`.
    pub fn new<K: Serialize>(key: impl Fn(&S) -> K + Send + Sync + 'static) -> Self {
        Self {
            key: Arc::new(move |state| Json::to_exact_value(&key(state))),
            ttl: None,
            version: String::new(),
        }
    }

    /// Reuses outputs for equal states.
    pub fn input() -> Self
    where
        S: Serialize,
    {
        Self {
            key: Arc::new(|state| Json::to_exact_value(state)),
            ttl: None,
            version: String::new(),
        }
    }

    /// Reuses outputs of a worker that depend only on its item.
    pub fn item() -> Self {
        Self::new(|_| ())
    }

    /// Limits how long an output is reused; the default is no limit.
    #[must_use]
    pub fn ttl(mut self, ttl: Duration) -> Self {
        self.ttl = Some(ttl);
        self
    }

    /// Distinguishes the outputs of this code from those of earlier code, in a cache that outlives
    /// the program. The name of the node's function is always part of the key.
    #[must_use]
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.version = version.into();
        self
    }
}

impl<S: State + Serialize> Default for CachePolicy<S> {
    fn default() -> Self {
        Self::input()
    }
}

impl_debug!([S: State] CachePolicy<S>, |policy| ttl = policy.ttl, version = policy.version);

/// The key of a cached output.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CacheKey {
    graph: Arc<str>,
    node: NodeName,
    code: Arc<str>,
    input: String,
}

impl CacheKey {
    /// Returns the name of the graph.
    pub fn graph(&self) -> &str {
        &self.graph
    }

    /// Returns the name of the node.
    pub fn node(&self) -> &str {
        &self.node
    }

    /// Returns what distinguishes this code from other code under the same names.
    pub fn code(&self) -> &str {
        &self.code
    }

    /// Returns the key of the input, and a worker's item, as JSON.
    pub fn input(&self) -> &str {
        &self.input
    }
}

/// A cached output.
///
/// Cheap to clone: the output itself is shared.
#[derive(Clone)]
pub struct CachedOutput(Arc<dyn Any + Send + Sync>);

impl CachedOutput {
    fn new<S: State>(output: Output<S>) -> Self {
        Self(Arc::new(output))
    }

    /// Returns the output, if it is one of a graph over `S`.
    pub fn output<S: State>(&self) -> Option<&Output<S>> {
        self.0.downcast_ref()
    }
}

impl_debug!([] CachedOutput);

/// A cache of outputs; see [`StateGraph::cache`](crate::StateGraph::cache).
///
/// If a cache fails, it returns nothing, and the node runs. The cache has to report its errors
/// itself.
///
/// # Examples
///
/// A cache that is always empty:
///
/// ```
/// use std::time::Duration;
/// use langgraph::async_trait;
/// use langgraph::policy::{CacheKey, CachedOutput, NodeCache};
///
/// struct Forgetful;
///
/// #[async_trait]
/// impl NodeCache for Forgetful {
///     async fn get(&self, _: &CacheKey) -> Option<CachedOutput> {
///         None
///     }
///     async fn put(&self, _: CacheKey, _: CachedOutput, _: Option<Duration>) {}
///     async fn clear(&self, _: &str, _: Option<&str>) {}
/// }
/// ```
#[async_trait]
pub trait NodeCache: Send + Sync + 'static {
    /// Returns the output under `key`, unless it has expired.
    async fn get(&self, key: &CacheKey) -> Option<CachedOutput>;

    /// Stores `output` under `key`; without a `ttl` it never expires.
    async fn put(&self, key: CacheKey, output: CachedOutput, ttl: Option<Duration>);

    /// Removes the outputs of one node of `graph`, or of all its nodes.
    async fn clear(&self, graph: &str, node: Option<&str>);
}

#[async_trait]
impl<C: NodeCache + ?Sized> NodeCache for Arc<C> {
    async fn get(&self, key: &CacheKey) -> Option<CachedOutput> {
        (**self).get(key).await
    }

    async fn put(&self, key: CacheKey, output: CachedOutput, ttl: Option<Duration>) {
        (**self).put(key, output, ttl).await;
    }

    async fn clear(&self, graph: &str, node: Option<&str>) {
        (**self).clear(graph, node).await;
    }
}

/// A node's policy with the cache of its graph.
pub(crate) struct Cached<S: State> {
    policy: CachePolicy<S>,
    cache: Arc<dyn NodeCache>,
    /// True if the cache was not given: a run may bring another.
    is_default: bool,
    graph: Arc<str>,
    code: Arc<str>,
}

impl<S: State> Cached<S> {
    pub(crate) fn new(
        policy: CachePolicy<S>,
        (cache, is_default): (Arc<dyn NodeCache>, bool),
        graph: Arc<str>,
        code: &str,
    ) -> Self {
        let code = match policy.version.as_str() {
            "" => code.into(),
            version => format!("{code}@{version}").into(),
        };
        Self {
            policy,
            cache,
            is_default,
            graph,
            code,
        }
    }

    /// Returns the cache that a task uses.
    fn cache<'a>(&'a self, cx: &'a Context) -> &'a dyn NodeCache {
        let given = self.is_default.then(|| cx.resource().ok()).flatten();
        given.unwrap_or(&*self.cache)
    }

    pub(crate) fn key(&self, call: &Call<'_, S>) -> Result<CacheKey, NodeError> {
        let unfit = |what: &str, error: &FormatError| {
            NodeError::msg(format!(
                "the {what} cannot be a cache key, because it cannot be written as JSON: {error}; \
                 give `CachePolicy::new` a key that can"
            ))
        };
        let state = (self.policy.key)(call.state).map_err(|error| unfit("key", &error))?;
        let item = call
            .item
            .map(|item| Ok(serde_json::from_str(&item.to_text()?)?));
        let item = item.transpose().map_err(|error| unfit("item", &error))?;
        // As values, whose objects have sorted keys: equal inputs give equal texts.
        let input = match item {
            None => state,
            Some(item) => Value::Array(vec![state, item]),
        };
        Ok(CacheKey {
            graph: Arc::clone(&self.graph),
            node: call.cx.name(),
            code: Arc::clone(&self.code),
            input: input.to_string(),
        })
    }

    pub(crate) async fn get(&self, key: &CacheKey, cx: &Context) -> Option<Output<S>> {
        let kept = self.cache(cx).get(key).await?;
        kept.output().cloned()
    }

    /// Keeps the output of the call.
    pub(crate) async fn put(&self, key: CacheKey, output: &Output<S>, call: Call<'_, S>) {
        let mut kept = output.clone();
        for write in kept.writes.as_mut_slice() {
            if let Write::Update(update) | Write::Overwrite(update) = write {
                call.state.make_reusable(update);
            }
        }
        let kept = CachedOutput::new(kept);
        self.cache(call.cx).put(key, kept, self.policy.ttl).await;
    }
}
