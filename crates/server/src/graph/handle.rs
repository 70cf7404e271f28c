//! Graphs as they are given to a server.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use langgraph::CompiledStateGraph;
use langgraph::State;
use langgraph::checkpoint::Checkpointer;
use langgraph::error::AgentError;
use langgraph::graph::Topology;
use langgraph_store::{Store, WithStore};
use langgraph_versions::{Report, check_threads};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::any_thread::open;
use super::erased::ErasedGraph;
use super::interrupt_schema::{InterruptSchema, interrupt_schemas};
use super::json::InnerReader;
use super::options::{GraphOptions, Schemas};
use super::schema::state_schema;
use super::typed::Typed;
use super::unwritten::Unwritten;

/// Makes a graph of a saver and a store. The last argument says whether clients read why a node failed.
type Attach =
    Box<dyn FnOnce(Arc<dyn Checkpointer>, Arc<dyn Store>, bool) -> Arc<dyn ErasedGraph> + Send>;

/// Checks the threads of a saver.
type Check = Box<
    dyn Fn(
            Arc<dyn Checkpointer>,
        ) -> Pin<Box<dyn Future<Output = Result<Report, AgentError>> + Send>>
        + Send
        + Sync,
>;

/// A compiled graph without its types, for [`Server::graph`](crate::Server::graph): what a compiled
/// graph and its [handle](GraphHandle) become.
pub struct ServedGraph {
    topology: Topology,
    schemas: Schemas,
    attach: Attach,
    check: Check,
}

impl ServedGraph {
    /// Returns the graph as data: its nodes and edges, for pictures.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// Returns the JSON Schemas of what goes in and out.
    pub fn schemas(&self) -> &Schemas {
        &self.schemas
    }

    /// Says which threads of a saver the graph can go on with; as
    /// [`langgraph_versions::check_threads`], which it calls. It runs nothing and writes nothing.
    ///
    /// # Errors
    ///
    /// Those of the saver.
    pub async fn check_threads(&self, saver: Arc<dyn Checkpointer>) -> Result<Report, AgentError> {
        (self.check)(saver).await
    }

    pub(crate) fn attach(
        self,
        saver: Arc<dyn Checkpointer>,
        store: Arc<dyn Store>,
        shows_errors: bool,
    ) -> Arc<dyn ErasedGraph> {
        (self.attach)(saver, store, shows_errors)
    }
}

impl fmt::Debug for ServedGraph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServedGraph")
            .field("schemas", &self.schemas)
            .finish_non_exhaustive()
    }
}

impl<S> From<GraphHandle<S>> for ServedGraph
where
    S: State,
    S::Update: Serialize + DeserializeOwned,
{
    fn from(handle: GraphHandle<S>) -> Self {
        let GraphHandle { graph, options } = handle;
        let checked = graph.clone();
        Self {
            check: Box::new(move |saver| {
                let graph = checked.clone();
                Box::pin(async move { check_threads(saver, &graph).await })
            }),
            topology: graph.topology().clone(),
            schemas: options.schemas.clone(),
            attach: Box::new(|saver, store, shows_errors| {
                let graph = graph.checkpointer(saver).store(store);
                Arc::new(Typed::new(graph, options, shows_errors))
            }),
        }
    }
}

impl<S> From<CompiledStateGraph<S>> for ServedGraph
where
    S: State,
    S::Update: Serialize + DeserializeOwned,
{
    fn from(graph: CompiledStateGraph<S>) -> Self {
        GraphHandle::new(graph).into()
    }
}

/// A compiled graph with what a server wants to know of it: JSON Schemas, and which states its
/// subgraphs have. [`Server::graph`](crate::Server::graph) takes it, or the compiled graph alone.
///
/// # Examples
///
/// ```
/// use langgraph::prelude::*;
/// use langgraph_agent::MessagesState;
/// use langgraph_server::{GraphHandle, Server};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut graph = StateGraph::<MessagesState>::new();
/// graph.add_node("think", |_: &MessagesState| ()).add_sequence(&["think"]);
/// let schema = serde_json::json!({"type": "object", "required": ["messages"]});
/// let handle = GraphHandle::new(graph.compile()?).input_schema(schema);
/// let server = Server::new().graph("agent", handle);
/// # let _ = server;
/// # Ok(())
/// # }
/// ```
///
/// # Types of clients
///
/// `cargo langgraph types` writes the types of the state, the input, the context, the tools and their approvals for
/// TypeScript and Python, and of what is declared here: interrupts with their answers, and custom events.
///
/// ```
/// use langgraph::prelude::*;
/// use langgraph_server::GraphHandle;
/// use schemars::JsonSchema;
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Serialize, JsonSchema)]
/// struct Sale {
///     item: String,
///     price: u32,
/// }
///
/// #[derive(Deserialize, JsonSchema)]
/// #[serde(rename_all = "snake_case")]
/// enum Verdict {
///     Sell,
///     Keep,
/// }
///
/// #[derive(Serialize, JsonSchema)]
/// struct Progress {
///     percent: u8,
/// }
///
/// #[node]
/// async fn sell(item: &String, cx: &Context) -> Result<String, NodeError> {
///     cx.emit(Progress { percent: 50 }).await?;
///     let sale = Sale { item: item.clone(), price: 5 };
///     Ok(match cx.interrupt("sale", &sale)? {
///         Verdict::Sell => "sold".to_owned(),
///         Verdict::Keep => "kept".to_owned(),
///     })
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let graph = graph! {
///     type State = String;
///
///     START => sell => END;
/// };
/// let handle = GraphHandle::new(graph.compile()?)
///     .interrupt::<Sale, Verdict>("sale")
///     .custom_events::<Progress>();
/// # let _ = handle;
/// # Ok(())
/// # }
/// ```
pub struct GraphHandle<S: State> {
    graph: CompiledStateGraph<S>,
    options: GraphOptions<S>,
}

impl<S> GraphHandle<S>
where
    S: State,
    S::Update: Serialize + DeserializeOwned,
{
    /// Creates the handle of a graph. The server gives the graph its checkpointer and its store.
    pub fn new(graph: CompiledStateGraph<S>) -> Self {
        let schema = state_schema(graph.topology());
        let interrupts = interrupt_schemas(graph.topology());
        Self {
            graph,
            options: GraphOptions {
                schemas: Schemas {
                    input: schema.clone(),
                    output: schema.clone(),
                    state: schema,
                    context: Value::Null,
                    interrupts,
                    custom_event: Value::Null,
                },
                check: None,
                unwritten: Unwritten::default(),
                inner: Vec::new(),
                open: vec![open::<S, S>],
            },
        }
    }

    /// Returns the graph.
    pub fn graph(&self) -> &CompiledStateGraph<S> {
        &self.graph
    }

    /// Declares what runs and assistants are given beside the input: the model, the prompt, a limit. Nodes read
    /// it with [`RunContext::read`](crate::RunContext::read).
    ///
    /// Its JSON Schema is the `context_schema` of the graph, from which the Studio makes a form for assistants. A
    /// run whose context is no `C` is refused with status 422.
    ///
    /// # Examples
    ///
    /// ```
    /// use langgraph::prelude::*;
    /// use langgraph_server::{GraphHandle, RunContext};
    ///
    /// /// How the agent answers.
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// #[serde(default)]
    /// struct Style {
    ///     /// What the model is told first.
    ///     prompt: String,
    ///     #[schemars(range(max = 10))]
    ///     retries: u32,
    /// }
    ///
    /// impl Default for Style {
    ///     fn default() -> Self {
    ///         Self { prompt: "Be brief.".to_owned(), retries: 2 }
    ///     }
    /// }
    ///
    /// fn think(text: &String, cx: &Context) -> Result<String, NodeError> {
    ///     let style: Style = cx.resource::<RunContext>()?.read()?;
    ///     Ok(format!("{} {text}", style.prompt))
    /// }
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut graph = StateGraph::<String>::new();
    /// graph.add_node("think", think).add_sequence(&["think"]);
    /// let handle = GraphHandle::new(graph.compile()?).context::<Style>();
    /// # let _ = handle;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn context<C: JsonSchema + DeserializeOwned>(mut self) -> Self {
        self.options.schemas.context = schemars::schema_for!(C).into();
        self.options.check = Some(|context| {
            let read = context.value::<C>();
            read.map(|_| ()).map_err(|error| error.to_string())
        });
        self
    }

    /// Sets the JSON Schema of the input, for example from `schemars::schema_for!(Input)`.
    ///
    /// Without a schema, it is made from the types of the state's fields. A type of the program allows every value
    /// there.
    #[must_use]
    pub fn input_schema(mut self, schema: impl Into<Value>) -> Self {
        self.options.schemas.input = schema.into();
        self
    }

    /// Sets the JSON Schema of the output.
    #[must_use]
    pub fn output_schema(mut self, schema: impl Into<Value>) -> Self {
        self.options.schemas.output = schema.into();
        self
    }

    /// Sets the JSON Schema of the state.
    #[must_use]
    pub fn state_schema(mut self, schema: impl Into<Value>) -> Self {
        self.options.schemas.state = schema.into();
        self
    }

    /// Declares what the interrupt with this key asks, `Q`, and what it is answered with, `A`, for
    /// [types of clients](Self#types-of-clients).
    ///
    /// Without it, a client knows the answer's type if the node's function shows it, as in
    /// `let sure: bool = cx.interrupt("sure?", &question)?`, and it is one of the standard library.
    #[must_use]
    pub fn interrupt<Q: JsonSchema, A: JsonSchema>(mut self, key: impl Into<String>) -> Self {
        let schema = InterruptSchema {
            question: schemars::schema_for!(Q).into(),
            answer: schemars::schema_for!(A).into(),
        };
        self.options.schemas.interrupts.insert(key.into(), schema);
        self
    }

    /// Declares the type of what nodes [emit](langgraph::node::Context::emit), for
    /// [types of clients](Self#types-of-clients); an enum if there are several.
    #[must_use]
    pub fn custom_events<E: JsonSchema>(mut self) -> Self {
        self.options.schemas.custom_event = schemars::schema_for!(E).into();
        self
    }

    /// Says that a subgraph has the state `T`, so that streams carry its values and updates, and a
    /// run can start from its checkpoints.
    ///
    /// A subgraph over the state of the graph needs no such call. Messages and custom events of
    /// subgraphs are in the streams in any case.
    #[must_use]
    pub fn subgraph_state<T>(mut self) -> Self
    where
        T: State,
        T::Update: Serialize + DeserializeOwned,
    {
        self.options.inner.push(InnerReader::of::<T>());
        self.options.open.push(open::<S, T>);
        self
    }
}

impl<S: State> fmt::Debug for GraphHandle<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GraphHandle")
            .field("schemas", &self.options.schemas)
            .finish_non_exhaustive()
    }
}
