//! Graphs as they are given to a server.

use std::fmt;
use std::sync::Arc;

use langgraph::CompiledStateGraph;
use langgraph::State;
use langgraph::checkpoint::Checkpointer;
use langgraph_store::{Store, WithStore};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::erased::ErasedGraph;
use super::json::InnerReader;
use super::typed::Typed;

type Attach =
    Box<dyn FnOnce(Arc<dyn Checkpointer>, Arc<dyn Store>, Options) -> Arc<dyn ErasedGraph> + Send>;

#[derive(Default)]
pub(crate) struct Options {
    pub(crate) schemas: Schemas,
    pub(crate) inner: Vec<InnerReader>,
}

/// A compiled graph without its types, for [`Server::graph`](crate::Server::graph).
///
/// A compiled graph becomes one by itself. Make one by hand to give it JSON Schemas, or to say
/// which states its subgraphs have.
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
pub struct GraphHandle {
    attach: Attach,
    options: Options,
}

impl GraphHandle {
    /// Creates the handle of a graph. The server gives the graph its checkpointer and its store.
    pub fn new<S>(graph: CompiledStateGraph<S>) -> Self
    where
        S: State,
        S::Update: Serialize + DeserializeOwned,
    {
        let fields: serde_json::Map<String, Value> = graph
            .topology()
            .fields
            .iter()
            .map(|field| (field.name.clone(), json!({})))
            .collect();
        let schema =
            json!({"type": "object", "title": graph.topology().name, "properties": fields});
        Self {
            attach: Box::new(|saver, store, options| {
                let graph = graph.checkpointer(saver).store(store);
                Arc::new(Typed::new(graph, options))
            }),
            options: Options {
                schemas: Schemas {
                    input: schema.clone(),
                    output: schema.clone(),
                    state: schema,
                },
                inner: Vec::new(),
            },
        }
    }

    /// Sets the JSON Schema of the input, for example from `schemars::schema_for!(Input)`.
    ///
    /// Without a schema, the server names the fields of the state, and says nothing of their types.
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

    /// Says that a subgraph has the state `T`, so that streams carry its values and updates.
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
        self
    }

    pub(crate) fn attach(
        self,
        saver: Arc<dyn Checkpointer>,
        store: Arc<dyn Store>,
    ) -> Arc<dyn ErasedGraph> {
        (self.attach)(saver, store, self.options)
    }
}

impl<S> From<CompiledStateGraph<S>> for GraphHandle
where
    S: State,
    S::Update: Serialize + DeserializeOwned,
{
    fn from(graph: CompiledStateGraph<S>) -> Self {
        Self::new(graph)
    }
}

impl fmt::Debug for GraphHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GraphHandle")
            .field("schemas", &self.options.schemas)
            .finish_non_exhaustive()
    }
}

/// The JSON Schemas of a graph.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Schemas {
    /// The schema of the input.
    pub input: Value,
    /// The schema of the output.
    pub output: Value,
    /// The schema of the state.
    pub state: Value,
}
