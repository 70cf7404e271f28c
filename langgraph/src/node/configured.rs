//! A node with its options.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::guard::Guarded;
use super::policy::RetryPolicy;
use super::{IntoNode, NodeMeta, Step};
use crate::graph::{NodeInfo, NodeKind};
use crate::state::State;

/// A node together with its options, as [`NodeExt`]'s methods return it.
pub struct ConfiguredNode<S: State> {
    pub(crate) step: Arc<dyn Step<S>>,
    pub(crate) info: NodeInfo,
    pub(crate) aliases: Vec<String>,
    pub(crate) policies: Policies,
}

/// What is done around a node.
#[derive(Clone, Debug, Default)]
pub(crate) struct Policies {
    pub(crate) retry: Vec<RetryPolicy>,
    pub(crate) timeout: Option<Duration>,
}

impl Policies {
    fn is_empty(&self) -> bool {
        self.retry.is_empty() && self.timeout.is_none()
    }
}

impl<S: State> ConfiguredNode<S> {
    pub(crate) fn new(step: Arc<dyn Step<S>>, may_goto: bool) -> Self {
        let mut info = NodeInfo::new("");
        info.may_goto = may_goto;
        Self {
            step,
            info,
            aliases: Vec::new(),
            policies: Policies::default(),
        }
    }

    pub(crate) fn with_kind(mut self, kind: NodeKind) -> Self {
        self.info.kind = kind;
        self
    }

    /// Takes over what `#[node]` knows of the function.
    pub(crate) fn described<M: NodeMeta>(mut self) -> Self {
        self.info.docs = M::DOCS.map(str::to_owned);
        self.info.writes =
            M::WRITES.map(|names| names.iter().map(|name| (*name).to_owned()).collect());
        self.aliases = M::ALIASES.iter().map(|name| (*name).to_owned()).collect();
        self
    }

    /// The step to run: the node itself, or the node inside its policies.
    pub(crate) fn guarded(&self) -> Arc<dyn Step<S>> {
        if self.policies.is_empty() {
            return Arc::clone(&self.step);
        }
        Arc::new(Guarded::new(Arc::clone(&self.step), self.policies.clone()))
    }
}

impl<S: State> Clone for ConfiguredNode<S> {
    fn clone(&self) -> Self {
        Self {
            step: Arc::clone(&self.step),
            info: self.info.clone(),
            aliases: self.aliases.clone(),
            policies: self.policies.clone(),
        }
    }
}

impl<S: State> fmt::Debug for ConfiguredNode<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConfiguredNode")
            .field("info", &self.info)
            .field("policies", &self.policies)
            .finish()
    }
}

/// Options of a node, on everything that is one.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use langgraph::prelude::*;
///
/// async fn call_model(state: &i64) -> i64 {
///     state + 1
/// }
///
/// let mut graph = StateGraph::<i64>::new();
/// graph.add_node("call_model", call_model.retry(3).timeout(Duration::from_secs(30)));
/// ```
pub trait NodeExt<S: State, K>: IntoNode<S, K> + Sized {
    /// Tries again when the node fails; `retry(3)` is three attempts in all.
    ///
    /// Called several times, the first policy that accepts an error decides on it.
    fn retry(self, policy: impl Into<RetryPolicy>) -> ConfiguredNode<S> {
        let mut node = self.into_node();
        let policy = policy.into();
        node.info.max_attempts = node.info.max_attempts.max(policy.max_attempts);
        node.policies.retry.push(policy);
        node
    }

    /// Fails an attempt that takes longer than `limit`.
    fn timeout(self, limit: Duration) -> ConfiguredNode<S> {
        let mut node = self.into_node();
        node.policies.timeout = Some(limit);
        node
    }

    /// Runs the node only when nothing else is pending.
    fn defer(self) -> ConfiguredNode<S> {
        let mut node = self.into_node();
        node.info.defer = true;
        node
    }

    /// Labels the node, for drawings and traces.
    fn metadata(self, key: impl Into<String>, value: impl Into<String>) -> ConfiguredNode<S> {
        let mut node = self.into_node();
        node.info.metadata.insert(key.into(), value.into());
        node
    }

    /// Tags the node, for filters of its events.
    fn tag(self, tag: impl Into<String>) -> ConfiguredNode<S> {
        let mut node = self.into_node();
        node.info.tags.push(tag.into());
        node
    }

    /// The node under a name it had before; a thread that waits for that name goes on here.
    fn alias(self, name: impl Into<String>) -> ConfiguredNode<S> {
        let mut node = self.into_node();
        node.aliases.push(name.into());
        node
    }
}

impl<S: State, K, N: IntoNode<S, K>> NodeExt<S, K> for N {}
