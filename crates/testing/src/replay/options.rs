//! What a replay does.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use langgraph::CompiledStateGraph;
use langgraph::checkpoint::ThreadFilter;
use langgraph::run::Run;
use langgraph::state::State;
use langgraph_agent::ChatModel;
use serde_json::Value;

use super::answers::NoModel;
use super::{Metadata, Replay};
use crate::Cassette;
use crate::cassette::Exchange;

/// What is compared, and what runs.
#[derive(Clone, Default)]
pub(super) struct Options {
    pub(super) keep: BTreeSet<String>,
    pub(super) ignore: BTreeSet<String>,
    pub(super) run_tools: BTreeSet<String>,
    pub(super) renamed: BTreeMap<String, String>,
    pub(super) model: Option<Arc<dyn ChatModel>>,
    pub(super) recorded: Option<Cassette>,
    /// The models answer anew.
    pub(super) ask_models: bool,
    /// Tasks that failed run again.
    pub(super) retry_failures: bool,
    /// Every superstep is compared, also behind a divergence.
    pub(super) every_divergence: bool,
    /// The state at the end of the thread.
    pub(super) end_state: Option<Value>,
    /// Takes the requests to models with the stored answers.
    pub(super) record: Option<Arc<Mutex<Vec<Exchange>>>>,
}

impl Options {
    /// Returns the model that nodes find among the resources; `None`: that of the graph.
    pub(super) fn resource(&self) -> Option<Arc<dyn ChatModel>> {
        let asks_none = (!self.ask_models).then(|| Arc::new(NoModel) as Arc<dyn ChatModel>);
        self.model.clone().or(asks_none)
    }
}

impl<S: State> Replay<S> {
    /// Replays only some threads; all by default.
    pub fn threads(mut self, filter: ThreadFilter) -> Self {
        self.filter = filter;
        self
    }

    /// Skips the threads whose last run has another value under this key of its metadata: for graphs of the
    /// same name in one database.
    pub fn metadata(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.metadata.insert(key.into(), value.into());
        self
    }

    /// Does not run these nodes: what they wrote then counts. Their routers run.
    pub fn keep<N: Into<String>>(mut self, nodes: impl IntoIterator<Item = N>) -> Self {
        self.options.keep.extend(nodes.into_iter().map(Into::into));
        self
    }

    /// Does not compare these fields of states: the time of day, a random number.
    pub fn ignore<N: Into<String>>(mut self, fields: impl IntoIterator<Item = N>) -> Self {
        self.options
            .ignore
            .extend(fields.into_iter().map(Into::into));
        self
    }

    /// Runs these tools, instead of taking their stored answers. A graph that a tool runs, as that of a sub-agent, is
    /// compared only if the tool runs.
    pub fn run_tools<N: Into<String>>(mut self, tools: impl IntoIterator<Item = N>) -> Self {
        self.options
            .run_tools
            .extend(tools.into_iter().map(Into::into));
        self
    }

    /// Answers the calls of models in tasks that wrote no answer of a model: a
    /// [`ScriptedModel`](langgraph_agent::ScriptedModel), a [`Cassette`](crate::Cassette).
    pub fn model(mut self, model: impl ChatModel + 'static) -> Self {
        self.options.model = Some(Arc::new(model));
        self
    }

    /// Compares the requests to models, and the names of the models, with those that the cassette
    /// recorded when the threads were stored: a changed prompt, tool or model is a divergence. Without a
    /// cassette, requests are not compared, because a thread stores only the answers.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use langgraph::checkpoint::MemorySaver;
    /// use langgraph_agent::{ChatModel, MessagesStateUpdate, ReactAgent, ScriptedModel, react_agent};
    /// use langgraph_testing::{Cassette, replay};
    ///
    /// fn desk(model: impl ChatModel + 'static, prompt: &str) -> ReactAgent {
    ///     react_agent(model, ()).prompt(prompt)
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let folder = tempfile::tempdir()?;
    /// # let file = folder.path().join("requests.json");
    /// // While the threads are stored, the model is recorded.
    /// let saver = Arc::new(MemorySaver::new());
    /// let model = Cassette::record(&file, ScriptedModel::new(["Hello!"]))?;
    /// let graph = desk(model, "Be kind.").compile()?.checkpointer(saver.clone());
    /// graph.thread("customer-1").run(MessagesStateUpdate::user("Hi")).await?;
    ///
    /// let changed = desk(ScriptedModel::new(["never asked"]), "Be brief.").compile()?;
    /// let report = replay(saver, &changed).recorded(Cassette::replay(&file)?).await?;
    /// let (_, divergence) = report.diverged().next().unwrap();
    /// assert_eq!(divergence.field, "request.messages[0]");
    /// # Ok(())
    /// # }
    /// ```
    pub fn recorded(mut self, cassette: Cassette) -> Self {
        self.options.recorded = Some(cassette);
        self
    }

    /// Has the models answer anew, instead of taking their stored answers: to compare another model or
    /// another prompt with what is stored; see [`lanes`](crate::lanes()). Each superstep starts from what the
    /// thread stored before it, and tools keep their stored answers. The ids of tool calls do not count.
    pub fn ask_models(mut self) -> Self {
        self.options.ask_models = true;
        self
    }

    /// Runs tasks again that failed. One that ends now diverges, with the field `outcome`.
    pub fn retry_failures(mut self) -> Self {
        self.options.retry_failures = true;
        self
    }

    /// Compares every superstep, also behind the first divergence of a thread:
    /// [`ThreadReplay::later`](crate::ThreadReplay::later) has the others.
    pub fn every_divergence(mut self) -> Self {
        self.options.every_divergence = true;
        self
    }

    /// Compares the state at the end of the thread, which today's reducers make of the stored writes.
    pub(crate) fn end_state(mut self, state: Option<Value>) -> Self {
        self.options.end_state = state;
        self
    }

    /// Collects the requests to models, with the answers that are stored.
    pub(crate) fn record(mut self, exchanges: Arc<Mutex<Vec<Exchange>>>) -> Self {
        self.options.record = Some(exchanges);
        self
    }

    /// Sets that a node had another name when the threads were stored. The graph needs the alias, too.
    pub fn renamed(mut self, old: impl Into<String>, new: impl Into<String>) -> Self {
        self.options.renamed.insert(old.into(), new.into());
        self
    }

    /// Gives the nodes a resource in the place of the graph's: a store in memory, a bank that does nothing.
    pub fn resource<T: ?Sized + Send + Sync + 'static>(mut self, value: Arc<T>) -> Self {
        let add = move |graph: CompiledStateGraph<S>| graph.resource(Arc::clone(&value));
        self.resources.push(Arc::new(add));
        self
    }

    /// Gives the nodes of a superstep a resource that is made of the metadata of its run: what a server gave to
    /// each run, for example.
    pub fn run_resource<T: ?Sized + Send + Sync + 'static>(
        mut self,
        make: impl Fn(&BTreeMap<String, Value>) -> Arc<T> + Send + Sync + 'static,
    ) -> Self {
        let add = move |run: Run<S>, metadata: &Metadata| run.resource(make(metadata));
        self.run_resources.push(Arc::new(add));
        self
    }
}
