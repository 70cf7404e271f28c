//! Tests that are made of stored threads.

mod error;
mod exported;
mod mistake;
mod records;
mod secrets;
mod thread;

use std::collections::BTreeSet;
use std::fmt;
use std::future::IntoFuture;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use langgraph::CompiledStateGraph;
use langgraph::checkpoint::{Accepts, Checkpointer, Formats, Saver};
use langgraph::error::{AgentError, CheckpointError};
use langgraph::state::State;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

pub use error::ExportError;
pub use exported::Exported;
pub use mistake::Mistake;
use secrets::Secrets;
use thread::ThreadJson;
pub use thread::{ExportedThread, ExportedThreadFailed};

use crate::cassette::Exchange;
use crate::replay::Replay;
use crate::replay::log::{self, Logs};

/// Makes a test of a stored thread: its code, the thread, and a cassette of the requests to models, with
/// secrets taken out.
///
/// A thread that went right has to go the same way, and to end in the same state, when the test runs. A
/// thread with a [`Mistake`] has to go the same way up to it, and another one there: the test fails today,
/// and passes when the mistake is mended. If a task of the thread has failed, that is its mistake, unless
/// [`mistake`](Export::mistake) names another one.
///
/// The export [replays](crate::replay()) the thread on `graph`, to record the requests to models and to see
/// what can be compared: a changed prompt, tool or model is a divergence of the test. What does not happen
/// again in a replay does not happen in an export or in the test.
///
/// # Secrets
///
/// `[secret]` stands in the place of keys and tokens that have a known form, of the texts of fields such as
/// `password` and `api_key`, wherever these texts are in the thread, and of each [`secret`](Export::secret): in
/// texts, in the keys of maps, in the requests to models, and in the id of the thread, of which the test has its
/// name. Another secret is `[secret-2]`, and so on, so that two keys or two names do not become one. The names
/// of nodes and of the fields of the state stay. Other data of persons stays, too: look at the files before they
/// go into a repository.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
///
/// use langgraph::checkpoint::MemorySaver;
/// use langgraph::prelude::*;
/// use langgraph_testing::{ExportedThread, Mistake, export};
///
/// #[derive(State, Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
/// struct Order {
///     euros: i64,
///     rebate: i64,
/// }
///
/// fn shop(percent: i64) -> CompiledStateGraph<Order> {
///     let mut graph = StateGraph::<Order>::new();
///     let rebate = move |order: &Order| OrderUpdate::default().rebate(order.euros * percent / 100);
///     graph.add_node("rebate", rebate).add_sequence(&["rebate"]);
///     graph.compile().unwrap()
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let tests = folder.path();
/// let saver = Arc::new(MemorySaver::new());
/// let order = OrderUpdate::default().euros(200);
/// shop(1).checkpointer(saver.clone()).thread("customer-1").run(order).await?;
///
/// // The rebate should have been 20 euros.
/// let exported = export(saver, &shop(1), "customer-1")
///     .mistake(Mistake::at(1, "rebate").expected("rebate", 20))
///     .graph("shop::graph()")
///     .await?;
/// let file = exported.write(tests)?;
/// assert!(file.ends_with("thread_customer_1.rs"));
///
/// // The test:
/// let thread = ExportedThread::parse(&exported.thread, &exported.cassette).await?;
/// assert!(thread.check(&thread.replay(&shop(1)).await?).is_err());
/// assert!(thread.check(&thread.replay(&shop(10)).await?).is_ok());
/// # Ok(())
/// # }
/// ```
pub fn export<S, C>(
    saver: Arc<C>,
    graph: &CompiledStateGraph<S>,
    thread: impl Into<String>,
) -> Export<S>
where
    S: State,
    S::Update: Serialize + DeserializeOwned,
    C: Saver<Stores: Accepts<S>> + ?Sized,
{
    let attached = graph.clone().checkpointer(saver).threads();
    Export {
        saver: attached.saver().cloned(),
        graph: graph.clone(),
        thread: thread.into(),
        mistake: None,
        code: "graph()".to_owned(),
        keep: BTreeSet::new(),
        ignore: BTreeSet::new(),
        run_tools: BTreeSet::new(),
        secrets: Secrets::default(),
        hides_errors: false,
        adapt: Box::new(|replay| replay),
        replay: ExportedThread::replay,
    }
}

/// An export of a stored thread, which starts when it is awaited; see [`export`].
#[must_use = "an export does nothing until it is awaited"]
pub struct Export<S: State> {
    saver: Result<Arc<dyn Checkpointer>, CheckpointError>,
    graph: CompiledStateGraph<S>,
    thread: String,
    mistake: Option<Mistake>,
    /// The expression that makes the graph.
    code: String,
    keep: BTreeSet<String>,
    ignore: BTreeSet<String>,
    run_tools: BTreeSet<String>,
    secrets: Secrets,
    hides_errors: bool,
    adapt: Box<dyn Fn(Replay<S>) -> Replay<S> + Send + Sync>,
    replay: fn(&ExportedThread, &CompiledStateGraph<S>) -> Replay<S>,
}

impl<S: State> Export<S> {
    /// Sets what is wrong in the thread.
    pub fn mistake(mut self, mistake: Mistake) -> Self {
        self.mistake = Some(mistake);
        self
    }

    /// Sets the expression of Rust that makes the graph in the test, such as `shop::graph()?`; `graph()` by
    /// default, a function that the test then needs.
    pub fn graph(mut self, code: impl Into<String>) -> Self {
        self.code = code.into();
        self
    }

    /// Takes this text out, wherever it is: a name, an address. The names of nodes and of the fields of the state
    /// stay.
    pub fn secret(mut self, text: impl Into<String>) -> Self {
        self.secrets.add(text.into());
        self
    }

    /// Leaves out the texts of the errors with which tasks have failed.
    pub fn hide_errors(mut self) -> Self {
        self.hides_errors = true;
        self
    }

    /// Does not run these nodes in the test: see [`Replay::keep`].
    pub fn keep<N: Into<String>>(mut self, nodes: impl IntoIterator<Item = N>) -> Self {
        self.keep.extend(nodes.into_iter().map(Into::into));
        self
    }

    /// Does not compare these fields in the test: see [`Replay::ignore`].
    pub fn ignore<N: Into<String>>(mut self, fields: impl IntoIterator<Item = N>) -> Self {
        self.ignore.extend(fields.into_iter().map(Into::into));
        self
    }

    /// Runs these tools in the test: see [`Replay::run_tools`].
    pub fn run_tools<N: Into<String>>(mut self, tools: impl IntoIterator<Item = N>) -> Self {
        self.run_tools.extend(tools.into_iter().map(Into::into));
        self
    }

    /// Changes the replay that the export does: gives it other resources, for example. The test may need the
    /// same.
    pub fn replay(
        mut self,
        adapt: impl Fn(Replay<S>) -> Replay<S> + Send + Sync + 'static,
    ) -> Self {
        self.adapt = Box::new(adapt);
        self
    }

    async fn run(mut self) -> Result<Exported, ExportError> {
        let (logs, formats) = self.load().await?;
        let failure = log::first_failure(&logs);
        let mistake = self.mistake.take().or_else(|| {
            let (graph, superstep, node) = failure?;
            Some(Mistake::at(superstep, node).in_graph(graph))
        });
        let (json, mut secrets) = self.json(&logs, &formats, mistake)?;
        let mut thread = ExportedThread::new(json, Vec::new()).await?;
        let (report, mut exchanges) = self.record(&thread).await?;
        // What the code itself puts into a request: the test compares the hash of the whole.
        for exchange in &mut exchanges {
            let hidden = exchange.hide(|request| secrets.cleaned_request(request));
            hidden.map_err(unwritten)?;
        }
        if report.threads.is_empty() {
            return Err(self.unknown());
        }
        let is_right = thread.json.mistake.is_none();
        thread.json.compared = report.compared();
        if is_right && report.compared() == 0 && report.diverged().next().is_none() {
            return Err(ExportError::NothingCompared {
                thread: self.thread,
                report: report.to_string(),
            });
        }
        if is_right {
            thread.json.state = self.state(&thread).await?;
        }
        let name = exported::test_name(&thread.json.thread);
        let mistake = thread.json.mistake.as_ref().map(ToString::to_string);
        Ok(Exported {
            test: exported::test_code(&name, &thread.json.thread, &self.code, mistake.as_deref()),
            thread: pretty(&thread.json)?,
            cassette: pretty(&exchanges)?,
            report,
            name,
        })
    }

    async fn load(&mut self) -> Result<(Logs, Formats), ExportError> {
        let used = Err(CheckpointError::storage("the export has run"));
        let saver = std::mem::replace(&mut self.saver, used);
        let load = async || {
            let saver = saver?;
            let formats = saver.formats().cloned().unwrap_or_default();
            let logs = log::load(&*saver, &self.thread, &formats).await?;
            Ok((logs, formats))
        };
        match load().await {
            Ok((logs, _)) if logs.is_empty() => Err(self.unknown()),
            Err(CheckpointError::UnknownThread(_)) => Err(self.unknown()),
            loaded => loaded.map_err(|source| self.unreadable(source)),
        }
    }

    /// Returns the thread as JSON, without its secrets, and these.
    fn json(
        &self,
        logs: &Logs,
        formats: &Formats,
        mistake: Option<Mistake>,
    ) -> Result<(ThreadJson, Secrets), ExportError> {
        let mut secrets = self.secrets.clone();
        let owners = logs.values().filter_map(|log| log.owner.as_ref());
        let fields = owners.flat_map(|owner| &owner.state.fields);
        secrets.keep_fields(fields.map(|(field, _)| &**field));
        let logs = records::to_json(logs, formats, self.hides_errors);
        let logs = logs.map_err(|source| self.unreadable(source))?;
        let json = ThreadJson {
            thread: self.thread.clone(),
            graph: self.graph.topology().name.clone(),
            mistake,
            compared: 0,
            keep: self.keep.clone(),
            ignore: self.ignore.clone(),
            run_tools: self.run_tools.clone(),
            state: None,
            logs,
        };
        let mut value = serde_json::to_value(json).map_err(unwritten)?;
        secrets.find(&value["logs"]);
        secrets.clean(&mut value["thread"]);
        secrets.clean_records(&mut value["logs"]);
        if let Some(expected) = value.pointer_mut("/mistake/expected/1") {
            secrets.clean(expected);
        }
        let json = serde_json::from_value(value).map_err(unwritten)?;
        Ok((json, secrets))
    }

    /// Replays the thread, and records the requests to models.
    async fn record(
        &self,
        thread: &ExportedThread,
    ) -> Result<(crate::ReplayReport, Vec<Exchange>), ExportError> {
        let recorded = Arc::new(Mutex::new(Vec::new()));
        let replay = (self.replay)(thread, &self.graph);
        let replay = (self.adapt)(replay.every_divergence()).record(Arc::clone(&recorded));
        let report = replay.await.map_err(|source| self.failed(source))?;
        let recorded =
            std::mem::take(&mut *recorded.lock().unwrap_or_else(PoisonError::into_inner));
        let mut exchanges: Vec<Exchange> = Vec::new();
        for exchange in recorded {
            let exchange = exchange.cleaned(secrets::cleaned);
            // A superstep with interrupts runs several times.
            if !exchanges.iter().any(|known| known.is_same(&exchange)) {
                exchanges.push(exchange);
            }
        }
        Ok((report, exchanges))
    }

    async fn state(&self, thread: &ExportedThread) -> Result<Option<Value>, ExportError> {
        let logs = thread.logs().map_err(|source| self.unreadable(source))?;
        let replay = (self.adapt)((self.replay)(thread, &self.graph));
        let formats = Formats::default();
        let state = replay.state(&thread.json.thread, &logs, &formats).await;
        state.map_err(|source| self.failed(source))
    }

    fn unknown(&self) -> ExportError {
        ExportError::UnknownThread {
            thread: self.thread.clone(),
            graph: self.graph.topology().name.clone(),
        }
    }

    fn unreadable(&self, source: CheckpointError) -> ExportError {
        ExportError::Thread {
            thread: self.thread.clone(),
            source: Box::new(source),
        }
    }

    fn failed(&self, source: AgentError) -> ExportError {
        ExportError::Replay {
            thread: self.thread.clone(),
            source: Box::new(source),
        }
    }
}

impl<S: State> IntoFuture for Export<S> {
    type Output = Result<Exported, ExportError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

impl<S: State> fmt::Debug for Export<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Export")
            .field("graph", &self.graph.topology().name)
            .field("thread", &self.thread)
            .field("mistake", &self.mistake)
            .finish_non_exhaustive()
    }
}

fn unwritten(source: serde_json::Error) -> ExportError {
    ExportError::Parse {
        what: "exported thread",
        source,
    }
}

fn pretty(value: &impl Serialize) -> Result<String, ExportError> {
    let text = serde_json::to_string_pretty(value).map_err(unwritten)?;
    Ok(text + "\n")
}
