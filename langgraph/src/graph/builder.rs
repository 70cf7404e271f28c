//! The builder of graphs.

mod branches;

use std::sync::Arc;

use super::copies::add_info;
use super::described_state::describe_state;
use super::plan::Plan;
use super::routes::ErasedRouter;
use super::{
    Breakpoints, CompilationErrors, CompiledStateGraph, Destinations, END, Edge, EdgeBound,
    EdgeSources, Join, Lint, NodeName, START, Topology, lints,
};
use crate::graph::{ConfiguredNode, IntoNode, IntoWorker};
use crate::node::{Resources, Worker};
use crate::policy::{NodeCache, Policies};
use crate::state::State;

/// A graph under construction: nodes over one state type, and the edges between them.
///
/// Nothing here fails or panics: the builder collects mistakes, and [`compile`](Self::compile)
/// reports all of them at once. `graph!` expands to these calls.
///
/// # Examples
///
/// ```
/// use langgraph::prelude::*;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut graph = StateGraph::<i64>::new();
/// graph
///     .add_node("double", |n: &i64| n * 2)
///     .add_node("increment", |n: &i64| n + 1)
///     .add_edge(START, "double")
///     .add_edge("double", "increment")
///     .add_edge("increment", END);
///
/// assert_eq!(graph.compile()?.invoke(20).await?, 41);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct StateGraph<S: State> {
    pub(crate) initial: S,
    pub(crate) topology: Topology,
    /// By index of `topology.nodes`.
    pub(crate) nodes: Vec<ConfiguredNode<S>>,
    /// By index of `topology.branches`.
    pub(crate) routers: Vec<Arc<dyn ErasedRouter<S>>>,
    pub(crate) resources: Resources,
    /// The policies of all nodes.
    pub(crate) around: Policies<S>,
    pub(crate) cache: Option<Arc<dyn NodeCache>>,
    pub(crate) fail_fast: bool,
    /// Aliases, in addition to those that nodes declare themselves.
    pub(super) aliases: Vec<(NodeName, NodeName)>,
    deny_lints: bool,
}

impl<S: State + Default> Default for StateGraph<S> {
    fn default() -> Self {
        Self::new()
    }
}

impl<S: State> StateGraph<S> {
    /// Creates an empty graph whose runs start from `S::default()`.
    pub fn new() -> Self
    where
        S: Default,
    {
        Self::with_initial(S::default())
    }

    /// Creates an empty graph whose runs start from `initial`.
    pub fn with_initial(initial: S) -> Self {
        let mut topology = Topology::default();
        "LangGraph".clone_into(&mut topology.name);
        describe_state(&initial, &mut topology);
        Self {
            initial,
            topology,
            nodes: Vec::new(),
            routers: Vec::new(),
            resources: Resources::new(),
            around: Policies::default(),
            cache: None,
            fail_fast: false,
            aliases: Vec::new(),
            deny_lints: false,
        }
    }

    pub(crate) fn closed(mut self) -> Self {
        self.topology.closed = true;
        self
    }

    /// Names the graph: for drawings, traces, and the threads that it runs on. Graphs that share a
    /// checkpointer need names of their own, so that recovery knows whose thread is whose.
    pub fn set_name(&mut self, name: impl Into<String>) -> &mut Self {
        self.topology.name = name.into();
        self
    }

    /// Adds a node: a `#[node]` function, any other function or closure over the state, an
    /// [`Agent`](crate::Agent), a [`Node`](crate::Node), a compiled graph over the same state.
    ///
    /// An async closure borrows the state as `async |state: &S| ..`, or takes it as
    /// `move |state: S| async move { .. }` if it captures something. `|state: &S| async move { .. }`
    /// cannot lend it: `graph!` says so, and rustc that the lifetime may not live long enough.
    ///
    /// [`compile`](Self::compile) reports names that are taken or reserved.
    pub fn add_node<K>(&mut self, name: impl AsRef<str>, node: impl IntoNode<S, K>) -> &mut Self {
        self.push_node(name.as_ref().into(), node.into_node());
        self
    }

    /// Adds a worker: a node whose first argument is the item of a send.
    ///
    /// The returned handle knows the item's type; [`Send::to`](crate::node::Send::to) and [`add_map`](Self::add_map) take
    /// it.
    pub fn add_worker<T, K>(
        &mut self,
        name: impl AsRef<str>,
        worker: impl IntoWorker<S, T, K>,
    ) -> Worker<T> {
        let name = NodeName::from(name.as_ref());
        self.push_node(Arc::clone(&name), worker.into_worker().node);
        Worker::new(name)
    }

    pub(crate) fn push_node(&mut self, name: NodeName, mut node: ConfiguredNode<S>) {
        node.info.name = name;
        add_info(&mut self.topology, &node.info);
        self.nodes.push(node);
    }

    /// Adds an edge. From several nodes (`["a", "b"]`) it waits for all of them.
    ///
    /// A name is any text: `&str`, `String`, `&String`, an enum with `AsRef<str>`.
    pub fn add_edge<K>(&mut self, from: impl EdgeSources<K>, to: impl AsRef<str>) -> &mut Self {
        let to = NodeName::from(to.as_ref());
        match from.sources() {
            Ok(from) => self.topology.edges.push(Edge { from, to }),
            Err(sources) => self.topology.joins.push(Join {
                sources,
                target: to,
            }),
        }
        self
    }

    /// Starts the graph at `node`, by an edge from [`START`].
    pub fn set_entry_point(&mut self, node: impl AsRef<str>) -> &mut Self {
        self.add_edge(START, node)
    }

    /// Ends the graph after `node`, by an edge to [`END`].
    pub fn set_finish_point(&mut self, node: impl AsRef<str>) -> &mut Self {
        self.add_edge(node.as_ref(), END)
    }

    /// Connects nodes in a row, from [`START`] to [`END`]. Without nodes it adds no edges.
    pub fn add_sequence(&mut self, nodes: &[impl AsRef<str>]) -> &mut Self {
        if let (Some(first), Some(last)) = (nodes.first(), nodes.last()) {
            self.add_edge(START, first.as_ref());
            self.add_chain(nodes);
            self.add_edge(last.as_ref(), END);
        }
        self
    }

    /// Connects nodes in a row, without [`START`] and [`END`].
    pub fn add_chain(&mut self, nodes: &[impl AsRef<str>]) -> &mut Self {
        for pair in nodes.windows(2) {
            if let [from, to] = pair {
                self.add_edge(from.as_ref(), to.as_ref());
            }
        }
        self
    }

    /// Declares the jump targets of a node, as `planner => goto [a, END]` does.
    ///
    /// Drawings and lints use them.
    pub fn add_destinations(
        &mut self,
        source: impl AsRef<str>,
        targets: impl IntoIterator<Item = impl AsRef<str>>,
    ) -> &mut Self {
        let targets = targets.into_iter();
        let targets = targets.map(|target| target.as_ref().into()).collect();
        self.topology.destinations.push(Destinations {
            source: source.as_ref().into(),
            targets,
        });
        self
    }

    /// Bounds how often a run follows an edge, as `write at_most 5 else publish` does in `graph!`. A
    /// second bound of the same edge is an error of [`compile`](Self::compile).
    ///
    /// # Examples
    ///
    /// ```
    /// use langgraph::graph::EdgeBound;
    /// use langgraph::prelude::*;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut graph = StateGraph::<i64>::new();
    /// graph.add_node("double", |n: &i64| n * 2).add_edge(START, "double");
    /// graph
    ///     .add_edge("double", "double")
    ///     .add_bound(EdgeBound::new("double", "double", 3).or_else(END));
    ///
    /// let graph = graph.compile()?;
    /// assert_eq!(graph.bounds()?.runs["double"], 4);
    /// assert_eq!(graph.invoke(1).await?, 16);
    /// # Ok(())
    /// # }
    /// ```
    pub fn add_bound(&mut self, bound: EdgeBound) -> &mut Self {
        self.topology.edge_bounds.push(bound);
        self
    }

    /// Pauses every run before these nodes.
    pub fn interrupt_before(&mut self, nodes: impl Into<Breakpoints>) -> &mut Self {
        self.topology.interrupt_before = nodes.into();
        self
    }

    /// Pauses every run after these nodes.
    pub fn interrupt_after(&mut self, nodes: impl Into<Breakpoints>) -> &mut Self {
        self.topology.interrupt_after = nodes.into();
        self
    }

    /// Gives every run of the graph a resource; see [`Context::resource`](crate::Context::resource).
    pub fn resource<T: ?Sized + std::marker::Send + Sync + 'static>(
        &mut self,
        value: Arc<T>,
    ) -> &mut Self {
        self.resources.insert(value);
        self
    }

    /// Returns the graph as data.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// Returns probable mistakes: unreachable nodes, dead ends, loops without an exit, joins that
    /// can never fire, fields that are read before they are written.
    pub fn lints(&self) -> Vec<Lint> {
        lints(&self.topology)
    }

    /// Turns lints into errors of [`compile`](Self::compile). In `graph!` they always are.
    pub fn deny_lints(&mut self) -> &mut Self {
        self.deny_lints = true;
        self
    }

    /// Compiles the graph.
    ///
    /// The builder does not change, and can be modified and compiled again.
    ///
    /// # Errors
    ///
    /// All mistakes of the graph at once.
    pub fn compile(&self) -> Result<CompiledStateGraph<S>, CompilationErrors> {
        langgraph_topology::check(&self.topology, &self.all_aliases(), self.deny_lints)?;
        Ok(CompiledStateGraph::new(Plan::new(self)))
    }
}

impl_debug!([S: State] StateGraph<S>, |graph| topology = graph.topology);
