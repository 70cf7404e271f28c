//! The options of a node.

use std::sync::Arc;
use std::time::Duration;

use super::{ConfiguredNode, IntoNode};
use crate::policy::{CachePolicy, ErrorHandler, Middleware, RetryPolicy};
use crate::state::State;

/// Options of a node, on everything that is one.
///
/// The order in which they are given does not matter. From the outside in, what is around a node
/// is: its [cache](Self::cache), its [error handler](Self::on_error), its
/// [retries](Self::retry), [middleware](Self::wrap), its time limits.
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
    /// Called several times, the first policy that accepts an error decides on it; all of them
    /// count the same attempts. A question that waits for its answer is not a failure.
    fn retry(self, policy: impl Into<RetryPolicy>) -> ConfiguredNode<S> {
        let mut node = self.into_node();
        let policy = policy.into();
        node.info.max_attempts = node.info.max_attempts.max(policy.max_attempts);
        node.policies.retry.push(policy);
        node
    }

    /// Fails an attempt that takes longer than `limit`, with a
    /// [`NodeTimeout`](crate::policy::NodeTimeout).
    ///
    /// The node is dropped at its `.await`; code that computes without one cannot be stopped.
    fn timeout(self, limit: Duration) -> ConfiguredNode<S> {
        let mut node = self.into_node();
        node.policies.timeout = Some(limit);
        node
    }

    /// Fails an attempt that shows no progress for `limit`, with a
    /// [`NodeTimeout`](crate::policy::NodeTimeout).
    ///
    /// Progress is a [`heartbeat`](crate::Context::heartbeat), an event, a piece of a message, and
    /// each superstep of a graph that runs inside the node.
    fn idle_timeout(self, limit: Duration) -> ConfiguredNode<S> {
        let mut node = self.into_node();
        node.policies.idle = Some(limit);
        node
    }

    /// Uses an answer again instead of running the node for the same input; see [`CachePolicy`].
    fn cache(self, policy: CachePolicy<S>) -> ConfiguredNode<S> {
        let mut node = self.into_node();
        node.policies.cache = Some(policy);
        node
    }

    /// Lets `handler` answer when the node has failed for good.
    ///
    /// It runs in the same superstep, with the state that the node was given, and may update and
    /// route like a node. Unless it says where to go, the node's edges are followed. When it fails
    /// itself, the run fails; [`NodeFailure::unhandled`](crate::policy::NodeFailure::unhandled) gives the
    /// node's own error back. It may ask questions: once there is an answer, the node is tried
    /// again, and the handler if it fails again. What the node asks, and its commands to a parent
    /// graph, are no failures.
    ///
    /// # Examples
    ///
    /// ```
    /// use langgraph::prelude::*;
    /// use langgraph::policy::NodeFailure;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// async fn parse(text: &String) -> Result<String, NodeError> {
    ///     let number: i64 = text.parse()?;
    ///     Ok((number * 2).to_string())
    /// }
    ///
    /// fn say_why(text: &String, failure: &NodeFailure) -> String {
    ///     format!("`{text}`: {}", failure.error)
    /// }
    ///
    /// let mut graph = StateGraph::<String>::new();
    /// graph.add_node("parse", parse.on_error(say_why)).add_sequence(&["parse"]);
    /// let graph = graph.compile()?;
    /// assert_eq!(graph.invoke("21".to_owned()).await?, "42");
    /// assert_eq!(graph.invoke("x".to_owned()).await?, "`x`: invalid digit found in string");
    /// # Ok(())
    /// # }
    /// ```
    fn on_error<H: ErrorHandler<S, HK>, HK: 'static>(self, handler: H) -> ConfiguredNode<S> {
        let mut node = self.into_node();
        node.info.may_goto |= H::MAY_GOTO;
        node.policies.set_handler(handler);
        node
    }

    /// Puts `middleware` around the node, inside what is around it already; see [`Middleware`].
    fn wrap(self, middleware: impl Middleware<S>) -> ConfiguredNode<S> {
        let mut node = self.into_node();
        node.policies.middleware.push(Arc::new(middleware));
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
