//! A graph of a package.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use langgraph::checkpoint::Checkpointer;
use langgraph::error::AgentError;
use langgraph::{CompiledStateGraph, State};
use langgraph_server::{GraphHandle, ServedGraph, StoredContexts};
use langgraph_store::{Store, WithStore};
use langgraph_testing::{Replay, ReplayReport, replay};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::replay_options::ReplayOptions;

/// What a replay takes from a database.
#[derive(Clone)]
pub(crate) struct Stored {
    pub(crate) saver: Arc<dyn Checkpointer>,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) contexts: StoredContexts,
}

/// Runs stored threads of the graph of this name again.
type RunAgain = Box<dyn Fn(Stored, &ReplayOptions, &str) -> Replaying>;

type Replaying = Pin<Box<dyn Future<Output = Result<ReplayReport, AgentError>> + Send>>;

/// A compiled graph without its types: it can be drawn, checked, served, and stored threads can run on it again.
pub struct Graph {
    served: ServedGraph,
    replay: RunAgain,
}

impl Graph {
    pub(crate) fn served(&self) -> &ServedGraph {
        &self.served
    }

    pub(crate) fn into_served(self) -> ServedGraph {
        self.served
    }

    /// Runs stored threads again. `name` is that of the graph in the package.
    pub(crate) async fn replay(
        &self,
        stored: Stored,
        options: &ReplayOptions,
        name: &str,
    ) -> Result<ReplayReport, AgentError> {
        (self.replay)(stored, options, name).await
    }
}

impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Graph").field(&self.served).finish()
    }
}

impl<S> From<GraphHandle<S>> for Graph
where
    S: State,
    S::Update: Serialize + DeserializeOwned,
{
    fn from(handle: GraphHandle<S>) -> Self {
        let graph = handle.graph().clone();
        Self {
            served: handle.into(),
            replay: Box::new(move |stored, options, name| {
                let Stored {
                    saver,
                    store,
                    contexts,
                } = stored;
                let replay: Replay<S> = replay(saver, &graph.clone().store(store))
                    .threads(options.filter())
                    .metadata("graph_id", name)
                    .keep(options.keep.clone())
                    .ignore(options.ignore.clone())
                    .run_tools(options.run_tools.clone())
                    .run_resource(move |metadata| contexts.of_run(metadata));
                replay.into_future()
            }),
        }
    }
}

impl<S> From<CompiledStateGraph<S>> for Graph
where
    S: State,
    S::Update: Serialize + DeserializeOwned,
{
    fn from(graph: CompiledStateGraph<S>) -> Self {
        GraphHandle::new(graph).into()
    }
}
