//! Compiled graphs.

use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::inbox::Inboxes;
use super::plan::Plan;
use super::run_options::{RunOptions, run_option_setters};
use super::thread_policy::ThreadPolicy;
use super::{Bounds, Topology, Unbounded};
use crate::checkpoint::{Accepts, Checkpointer, Saver};
use crate::error::AgentError;
use crate::node::Persistence;
use crate::policy::{Middleware, Surrounded};
use crate::state::State;
use crate::state::StateCodec;

/// A compiled graph, ready to run: immutable, cheap to clone, shareable between threads.
///
/// # Examples
///
/// ```
/// use langgraph::prelude::*;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut graph = StateGraph::<i64>::new();
/// graph.add_node("double", |n: &i64| n * 2).add_sequence(&["double"]);
/// let graph = graph.compile()?;
///
/// let outcome = graph.run(4).limit(10).await?;
/// assert_eq!(outcome.finished()?, 8);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct CompiledStateGraph<S: State> {
    pub(crate) plan: Arc<Plan<S>>,
    pub(crate) saver: Option<Arc<dyn Checkpointer>>,
    /// The codec of the state, if one was set.
    pub(crate) codec: Option<StateCodec<S>>,
    /// What it persists inside another graph.
    pub(crate) persistence: Persistence,
    /// The options of its runs, unless a run has its own; `None` if it sets none.
    pub(crate) defaults: Option<Arc<RunOptions>>,
    /// The runs at work on its threads, if it has a checkpointer.
    pub(crate) inboxes: Option<Arc<Inboxes>>,
}

impl<S: State> CompiledStateGraph<S> {
    pub(crate) fn new(plan: Plan<S>) -> Self {
        Self {
            plan: Arc::new(plan),
            saver: None,
            codec: None,
            persistence: Persistence::default(),
            defaults: None,
            inboxes: None,
        }
    }

    /// Returns the graph with `saver` as its checkpointer. Every run then names its thread.
    ///
    /// [`MemorySaver`](crate::checkpoint::MemorySaver) stores any state. A saver of bytes requires
    /// that the state's fields can be serialized, or are `#[state(untracked)]`. The compiler checks
    /// this here and names the wrong type; subgraphs are checked when a run starts.
    ///
    /// A subgraph, whether a node or called by [`Context::run`](crate::Context::run), uses the
    /// saver of its thread. Its own saver is used only when it runs on its own.
    /// [`persistence`](Self::persistence) sets what it persists.
    #[must_use]
    pub fn checkpointer<C>(mut self, saver: Arc<C>) -> Self
    where
        C: Saver<Stores: Accepts<S>> + ?Sized,
    {
        self.saver = Some(saver.into_dyn());
        self.codec = C::Stores::codec().or(self.codec);
        self.inboxes = Some(Arc::default());
        self
    }

    /// Declares that the graph can be stored as bytes when it runs inside another one.
    ///
    /// Graphs over a derived state declare this themselves; call it for a state type with
    /// parameters.
    #[must_use]
    pub fn storable(mut self) -> Self
    where
        S::Update: Serialize + DeserializeOwned,
    {
        self.codec = Some(StateCodec::serde());
        self
    }

    /// Sets what this graph persists inside another one; the default is per call.
    ///
    /// # Examples
    ///
    /// An agent that remembers earlier questions:
    ///
    /// ```
    /// use std::sync::Arc;
    /// use langgraph::prelude::*;
    /// use langgraph::checkpoint::MemorySaver;
    /// use langgraph::run::Persistence;
    ///
    /// #[derive(State, Clone, Debug, Default)]
    /// struct Memory {
    ///     #[reducer(append)]
    ///     asked: Vec<String>,
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut expert = StateGraph::<Memory>::new();
    /// expert.add_node("look", |_: &Memory| {}).add_sequence(&["look"]);
    /// let expert = expert.compile()?.persistence(Persistence::PerThread("expert".to_owned()));
    ///
    /// let mut outer = StateGraph::<String>::new();
    /// let ask = |question: &String| Memory { asked: vec![question.clone()] };
    /// outer.add_node("expert", expert.mapped(ask, |memory: Memory| memory.asked.join(" ")));
    /// outer.add_sequence(&["expert"]);
    /// let outer = outer.compile()?.checkpointer(Arc::new(MemorySaver::new()));
    ///
    /// outer.run("one".to_owned()).thread("t").await?;
    /// let outcome = outer.run("two".to_owned()).thread("t").await?;
    /// assert_eq!(outcome.finished()?, "one two");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn persistence(mut self, persistence: Persistence) -> Self {
        self.persistence = persistence;
        self
    }

    /// Sets the defaults of every run; a run's own options take precedence. Each option also has a
    /// method of its own.
    #[must_use]
    pub fn options(mut self, defaults: RunOptions) -> Self {
        let mut options = defaults;
        options.or(self.defaults.as_deref());
        self.defaults = Some(Arc::new(options));
        self
    }

    run_option_setters!(self => Arc::make_mut(self.defaults.get_or_insert_default()));

    /// Returns the codec of its state, if it can be stored as bytes.
    pub(crate) fn state_codec(&self) -> Option<StateCodec<S>> {
        self.codec.or_else(S::codec)
    }

    /// Returns the thread policy of its runs, unless a run has its own.
    pub(crate) fn thread_policy(&self) -> ThreadPolicy {
        let defaults = self.defaults.as_deref();
        defaults.map(RunOptions::thread_policy).unwrap_or_default()
    }

    /// Returns the graph with a resource for every run; see
    /// [`Context::resource`](crate::Context::resource). A resource of the run, by
    /// [`Run::resource`](crate::run::Run::resource), takes precedence.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use langgraph::prelude::*;
    ///
    /// struct Unit(&'static str);
    ///
    /// #[node]
    /// async fn with_unit(text: &String, cx: &Context) -> Result<String, NodeError> {
    ///     Ok(format!("{text} {}", cx.resource::<Unit>()?.0))
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let graph = graph! { START => with_unit => END }.compile()?;
    /// let graph = graph.resource(Arc::new(Unit("km")));
    ///
    /// assert_eq!(graph.invoke("3".to_owned()).await?, "3 km");
    /// let miles = graph.run("3".to_owned()).resource(Arc::new(Unit("miles")));
    /// assert_eq!(miles.await?.finished()?, "3 miles");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn resource<T: ?Sized + Send + Sync + 'static>(mut self, value: Arc<T>) -> Self {
        Arc::make_mut(&mut self.plan).resources.insert(value);
        self
    }

    /// Returns the graph with middleware around each of its nodes: outside all other middleware, and
    /// outside the retries, so that it sees a task once. It is for tests and tools that get a compiled
    /// graph; [`StateGraph::middleware`](crate::StateGraph::middleware) is part of the graph itself.
    ///
    /// The nodes of a subgraph are not wrapped: the subgraph is one node.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::Arc;
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    /// use langgraph::prelude::*;
    /// use langgraph::policy::middleware;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut graph = StateGraph::<i64>::new();
    /// graph.add_node("double", |n: &i64| n * 2).add_sequence(&["double"]);
    ///
    /// let calls = Arc::new(AtomicUsize::new(0));
    /// let counted = Arc::clone(&calls);
    /// let graph = graph.compile()?.middleware(middleware(move |call| {
    ///     counted.fetch_add(1, Ordering::Relaxed);
    ///     call.run()
    /// }));
    /// assert_eq!(graph.invoke(21).await?, 42);
    /// assert_eq!(calls.load(Ordering::Relaxed), 1);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn middleware(mut self, middleware: impl Middleware<S>) -> Self {
        let middleware: Arc<dyn Middleware<S>> = Arc::new(middleware);
        let nodes = &mut Arc::make_mut(&mut self.plan).nodes;
        for node in nodes.iter_mut().skip(1) {
            node.step = Arc::new(Surrounded::new(&node.step, &middleware));
        }
        self
    }

    /// Removes the cached outputs of all [cached](crate::graph::NodeExt::cache) nodes.
    pub async fn clear_cache(&self) {
        if let Some(cache) = &self.plan.cache {
            cache.clear(&self.plan.topology.name, None).await;
        }
    }

    /// Removes the cached outputs of one [cached](crate::graph::NodeExt::cache) node.
    ///
    /// # Errors
    ///
    /// [`AgentError::InvalidInput`] if there is no such node.
    pub async fn clear_node_cache(&self, node: &str) -> Result<(), AgentError> {
        if self.plan.node_named(node).is_none() {
            return Err(AgentError::InvalidInput(format!(
                "cannot clear the cache of `{node}`: there is no such node"
            )));
        }
        if let Some(cache) = &self.plan.cache {
            cache.clear(&self.plan.topology.name, Some(node)).await;
        }
        Ok(())
    }

    /// Returns true if the graph has a checkpointer, so that its runs name their threads.
    pub fn is_persistent(&self) -> bool {
        self.saver.is_some()
    }

    /// Returns what a run does at worst: supersteps, runs of each node, calls of models and tools.
    ///
    /// # Errors
    ///
    /// [`Unbounded`], with the loop, the map or the router that is the reason.
    pub fn bounds(&self) -> Result<Bounds, Unbounded> {
        self.plan.topology.bounds()
    }

    /// Returns the graph as data.
    pub fn topology(&self) -> &Topology {
        &self.plan.topology
    }
}

impl_debug!([S: State] CompiledStateGraph<S>, |graph| topology = graph.plan.topology);
