//! An exported thread, in a test.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use langgraph::CompiledStateGraph;
use langgraph::checkpoint::{Checkpointer, ThreadFilter};
use langgraph::error::CheckpointError;
use langgraph::state::State;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::error::ExportError;
use super::mistake::Mistake;
use super::records::{self, LogJson};
use super::secrets;
use crate::cassette::Exchange;
use crate::replay::ThreadSaver;
use crate::replay::log::Logs;
use crate::{Cassette, Replay, ReplayReport, replay};

/// What an exported thread has in its file.
#[derive(Serialize, Deserialize)]
pub(super) struct ThreadJson {
    pub(super) thread: String,
    pub(super) graph: String,
    /// What is wrong; `None` for a thread that went right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) mistake: Option<Mistake>,
    /// How many supersteps were the same when it was exported.
    pub(super) compared: usize,
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(super) keep: BTreeSet<String>,
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(super) ignore: BTreeSet<String>,
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(super) run_tools: BTreeSet<String>,
    /// The state at its end, of a thread that went right.
    pub(super) state: Option<Value>,
    pub(super) logs: Vec<LogJson>,
}

/// A thread that was [exported](crate::export()), in its test.
pub struct ExportedThread {
    pub(super) json: ThreadJson,
    exchanges: Vec<Exchange>,
    saver: Arc<dyn Checkpointer>,
}

impl ExportedThread {
    /// Reads the two files of an exported thread: the thread, and the cassette.
    ///
    /// # Errors
    ///
    /// [`ExportError::Parse`] and [`ExportError::Thread`].
    pub async fn parse(thread: &str, cassette: &str) -> Result<Self, ExportError> {
        let parse = |what| move |source| ExportError::Parse { what, source };
        let json = serde_json::from_str(thread).map_err(parse("exported thread"))?;
        let exchanges = serde_json::from_str(cassette).map_err(parse("cassette"))?;
        Self::new(json, exchanges).await
    }

    pub(super) async fn new(
        json: ThreadJson,
        exchanges: Vec<Exchange>,
    ) -> Result<Self, ExportError> {
        let failed = |source: CheckpointError| ExportError::Thread {
            thread: json.thread.clone(),
            source: Box::new(source),
        };
        let logs = records::from_json(&json.thread, &json.logs).map_err(failed)?;
        let saver = ThreadSaver::new(&logs).await.map_err(failed)?;
        Ok(Self {
            json,
            exchanges,
            saver: Arc::new(saver),
        })
    }

    /// Returns its logs.
    pub(super) fn logs(&self) -> Result<Logs, CheckpointError> {
        records::from_json(&self.json.thread, &self.json.logs)
    }

    /// Runs the thread again on today's graph, as [`replay`] does.
    pub fn replay<S>(&self, graph: &CompiledStateGraph<S>) -> Replay<S>
    where
        S: State,
        S::Update: Serialize + DeserializeOwned,
    {
        let json = &self.json;
        let replay = replay(Arc::clone(&self.saver), graph)
            .threads(ThreadFilter::new().thread(&json.thread))
            .keep(json.keep.clone())
            .ignore(json.ignore.clone())
            .run_tools(json.run_tools.clone())
            .end_state(json.state.clone());
        let replay = match &json.mistake {
            Some(_) => replay.retry_failures(),
            None => replay,
        };
        let cassette = Cassette::of("cassette", self.exchanges.clone());
        match cassette.cleaned(secrets::cleaned) {
            Ok(cassette) if !self.exchanges.is_empty() => replay.recorded(cassette),
            _ => replay,
        }
    }

    /// Checks what a replay of the thread has found. A thread that went right has to go the same way, and
    /// end in the same state. One with a [`Mistake`] has to go the same way up to the mistake, and another
    /// one there.
    ///
    /// # Errors
    ///
    /// [`ExportedThreadFailed`], which says where the thread goes which way.
    pub fn check(&self, report: &ReplayReport) -> Result<(), ExportedThreadFailed> {
        let why = match &self.json.mistake {
            Some(mistake) => mistake.unmended(report),
            None if !report.is_same() => Some(report.to_string()),
            None if report.compared() < self.json.compared => Some(format!(
                "{} supersteps were compared when the thread was exported, and {} are now:\n{report}",
                self.json.compared,
                report.compared(),
            )),
            None => None,
        };
        why.map_or(Ok(()), |why| Err(ExportedThreadFailed(why)))
    }
}

impl fmt::Debug for ExportedThread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExportedThread")
            .field("thread", &self.json.thread)
            .field("graph", &self.json.graph)
            .field("mistake", &self.json.mistake)
            .finish_non_exhaustive()
    }
}

/// Why the test of an exported thread fails.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ExportedThreadFailed(String);

langgraph_core::debug_is_message!(ExportedThreadFailed);
