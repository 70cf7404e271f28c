//! The options of a node.

use std::sync::Arc;
use std::time::Duration;

use super::{Calls, ConfiguredNode, IntoNode};
use crate::policy::{CachePolicy, ErrorHandler, Middleware, RetryPolicy};
use crate::state::State;
use langgraph_topology::{KeyInfo, NodeInfo, ToolInfo};

/// Options of a node, for every type that converts into one.
///
/// The order of the calls does not matter. From the outside in, the layers around a node are: its
/// [cache](Self::cache), its [error handler](Self::on_error), its [retries](Self::retry),
/// [middleware](Self::middleware), its time limits.
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
    /// Retries the node when it fails; `retry(3)` is three attempts in all.
    ///
    /// With several policies, the first that accepts an error decides; all of them count the same
    /// attempts. An interrupt is not a failure.
    ///
    /// Another attempt runs the node from its start. Results of [`once`](crate::Context::once) stay, and so do, on a
    /// thread, those of graphs that it [calls](crate::Context::run).
    fn retry(self, policy: impl Into<RetryPolicy>) -> ConfiguredNode<S> {
        let mut node = self.into_node();
        let policy = policy.into();
        node.info.max_attempts = node.info.max_attempts.max(policy.max_attempts);
        node.policies.retry.push(policy);
        node
    }

    /// Fails an attempt that takes longer than `limit`, with a
    /// [`NodeTimeout`](crate::error::NodeTimeout).
    ///
    /// The node is dropped at its `.await`; code that computes without one cannot be stopped.
    fn timeout(self, limit: Duration) -> ConfiguredNode<S> {
        let mut node = self.into_node();
        node.policies.timeout = Some(limit);
        node
    }

    /// Fails an attempt that shows no progress for `limit`, with a
    /// [`NodeTimeout`](crate::error::NodeTimeout).
    ///
    /// Progress is a [`heartbeat`](crate::Context::heartbeat), an event, a chunk of a message, and
    /// each superstep of a graph inside the node.
    fn idle_timeout(self, limit: Duration) -> ConfiguredNode<S> {
        let mut node = self.into_node();
        node.policies.idle = Some(limit);
        node
    }

    /// Reuses the node's output for the same input instead of running the node; see
    /// [`CachePolicy`].
    fn cache(self, policy: CachePolicy<S>) -> ConfiguredNode<S> {
        let mut node = self.into_node();
        node.policies.cache = Some(policy);
        node
    }

    /// Lets `handler` take over if the node fails for good.
    ///
    /// The handler runs in the same superstep, with the node's input state, and may update and
    /// route like a node. Unless it names targets, the node's edges apply. If the handler fails,
    /// the run fails; [`NodeFailure::unhandled`](crate::policy::NodeFailure::unhandled) returns the
    /// node's own error. The handler may interrupt: with the answer, the node runs again, and the
    /// handler too if the node fails again. The node's interrupts and its commands to a parent
    /// graph are not failures.
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
        uses_any_field(&mut node.info);
        node.policies.set_handler(handler);
        node
    }

    /// Wraps the node in `middleware`, inside the existing middleware; see [`Middleware`].
    fn middleware(self, middleware: impl Middleware<S>) -> ConfiguredNode<S> {
        let mut node = self.into_node();
        uses_any_field(&mut node.info);
        node.policies.middleware.push(Arc::new(middleware));
        node
    }

    /// Runs the node only when nothing else is pending.
    fn defer(self) -> ConfiguredNode<S> {
        let mut node = self.into_node();
        node.info.defer = true;
        node
    }

    /// Lets the node run in another process, if the graph has an
    /// [executor](crate::CompiledStateGraph::executor). Its policies run there too.
    fn anywhere(self) -> ConfiguredNode<S> {
        let mut node = self.into_node();
        node.info.anywhere = true;
        node
    }

    /// Declares that the node may [interrupt](crate::Context::interrupt). A graph of such nodes needs
    /// a checkpointer: a run without one is refused at its start, and not at the question.
    ///
    /// # Examples
    ///
    /// ```
    /// use langgraph::prelude::*;
    ///
    /// fn confirm(n: &i64, cx: &Context) -> Result<i64, NodeError> {
    ///     let sure: bool = cx.interrupt("sure?", n)?;
    ///     Ok(if sure { *n } else { 0 })
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut graph = StateGraph::<i64>::new();
    /// graph.add_node("confirm", confirm.interrupts()).add_sequence(&["confirm"]);
    ///
    /// let error = graph.compile()?.invoke(1).await.unwrap_err();
    /// assert!(error.to_string().contains("`confirm` may interrupt"));
    /// # Ok(())
    /// # }
    /// ```
    fn interrupts(self) -> ConfiguredNode<S> {
        let mut node = self.into_node();
        node.info.interrupts = true;
        node
    }

    /// Declares how often one run of the node calls models and tools, for
    /// [`bounds`](crate::graph::CompiledStateGraph::bounds); `#[node(calls(model))]` does the same.
    ///
    /// # Examples
    ///
    /// ```
    /// use langgraph::graph::Calls;
    /// use langgraph::prelude::*;
    ///
    /// let mut graph = StateGraph::<i64>::new();
    /// let ask = (|n: &i64| n + 1).calls(Calls { model: 1, tool: 2 });
    /// graph.add_node("ask", ask.retry(3)).add_sequence(&["ask"]);
    ///
    /// let bounds = graph.compile()?.bounds()?;
    /// assert_eq!((bounds.calls.model, bounds.calls.tool), (3, 6));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn calls(self, calls: Calls) -> ConfiguredNode<S> {
        let mut node = self.into_node();
        node.info.calls = calls;
        node
    }

    /// Declares calls of the node that threads remember by a key, in addition to those that `#[node]` finds in the
    /// function: interrupts, and work that is done once. [`lock`](crate::graph::lock) compares them.
    ///
    /// # Examples
    ///
    /// ```
    /// use langgraph::graph::{KeyInfo, KeyKind, lock};
    /// use langgraph::prelude::*;
    ///
    /// fn confirm(n: &i64, cx: &Context) -> Result<i64, NodeError> {
    ///     let sure: bool = cx.interrupt("sure", n)?;
    ///     Ok(if sure { *n } else { 0 })
    /// }
    ///
    /// let mut graph = StateGraph::<i64>::new();
    /// let sure = KeyInfo::new("sure", KeyKind::Interrupt).typed("bool");
    /// graph.add_node("confirm", confirm.keys([sure])).add_sequence(&["confirm"]);
    /// assert!(lock::write([graph.topology()]).contains("node confirm\n    interrupt sure bool\n"));
    /// ```
    fn keys(self, keys: impl IntoIterator<Item = KeyInfo>) -> ConfiguredNode<S> {
        let mut node = self.into_node();
        node.info.keys.extend(keys);
        node
    }

    /// Declares the tools that the node runs for a model, for types of clients. The tool nodes of
    /// `langgraph-agent` do so themselves.
    ///
    /// # Examples
    ///
    /// ```
    /// use langgraph::graph::ToolInfo;
    /// use langgraph::prelude::*;
    ///
    /// let mut graph = StateGraph::<i64>::new();
    /// let add = ToolInfo::new("add", r#"{"properties": {"a": {"type": "integer"}}}"#);
    /// graph.add_node("tools", (|n: &i64| n + 1).runs_tools([add])).add_sequence(&["tools"]);
    /// assert_eq!(graph.compile()?.topology().nodes[0].tools[0].name, "add");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn runs_tools(self, tools: impl IntoIterator<Item = ToolInfo>) -> ConfiguredNode<S> {
        let mut node = self.into_node();
        node.info.tools.extend(tools);
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

    /// Adds a former name of the node; a thread that waits for that name continues here.
    fn alias(self, name: impl Into<String>) -> ConfiguredNode<S> {
        let mut node = self.into_node();
        node.info.aliases.push(name.into());
        node
    }
}

impl<S: State, K, N: IntoNode<S, K>> NodeExt<S, K> for N {}

/// Forgets the fields that a node uses: what is around it may use others.
fn uses_any_field(info: &mut NodeInfo) {
    info.reads = None;
    info.may_write = None;
}
