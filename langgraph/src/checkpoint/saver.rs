//! Where threads are kept.

use std::collections::BTreeMap;
use std::future::Future;
use std::ops::RangeInclusive;
use std::pin::Pin;
use std::time::{Duration, SystemTime};

use serde_json::Value;

use super::{
    Batch, Chain, CheckpointError, CheckpointId, Formats, Head, Past, Prune, Source, Standing,
    ThreadKey,
};

/// What a saver's methods return.
pub type SaverFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, CheckpointError>> + Send + 'a>>;

/// Takes what a checkpoint has left.
pub type SeePast<'a> = dyn FnMut(Past) + Send + 'a;

/// When a run is stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Durability {
    /// Whatever has happened, before anything else happens.
    #[default]
    Sync,
    /// In order, while the run goes on; the run ends when everything is stored, and fails as soon
    /// as something cannot be. A crash loses what was under way.
    Async,
    /// One checkpoint with the whole state when the run ends: done, paused or failed. Only the logs
    /// of graphs that are [kept from call to call](crate::run::Persistence::PerThread) are stored
    /// step by step, and then. What a run did that is cancelled, times out or is dropped is lost.
    Exit,
}

/// Which checkpoints of a log are wanted.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ListOptions {
    /// Only those older than this one.
    pub before: Option<CheckpointId>,
    /// At most that many.
    pub limit: Option<usize>,
    /// Only those that were made so.
    pub source: Option<Source>,
    /// Only those of these supersteps.
    pub steps: Option<RangeInclusive<i64>>,
    /// Only those of runs that noted all of this.
    pub metadata: BTreeMap<String, Value>,
}

impl ListOptions {
    /// All of them.
    pub fn new() -> Self {
        Self::default()
    }

    /// Only those older than `checkpoint`.
    #[must_use]
    pub fn before(mut self, checkpoint: CheckpointId) -> Self {
        self.before = Some(checkpoint);
        self
    }

    /// At most `limit`.
    #[must_use]
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Only those that were made so.
    #[must_use]
    pub fn source(mut self, source: Source) -> Self {
        self.source = Some(source);
        self
    }

    /// Only those of these supersteps.
    #[must_use]
    pub fn steps(mut self, steps: RangeInclusive<i64>) -> Self {
        self.steps = Some(steps);
        self
    }

    /// Only those of runs that noted this.
    #[must_use]
    pub fn metadata(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.metadata.insert(key.into(), value.into());
        self
    }

    /// True for a checkpoint that is wanted, as far as it can be told from it alone.
    pub fn wants(
        &self,
        id: CheckpointId,
        step: i64,
        source: Source,
        metadata: &BTreeMap<String, Value>,
    ) -> bool {
        self.before.is_none_or(|before| id < before)
            && self.source.is_none_or(|wanted| source == wanted)
            && self
                .steps
                .as_ref()
                .is_none_or(|steps| steps.contains(&step))
            && self
                .metadata
                .iter()
                .all(|(key, value)| metadata.get(key) == Some(value))
    }
}

/// Which threads are wanted.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ThreadFilter {
    /// Only those with a run that has not come to its end, or only those without.
    pub running: Option<bool>,
    /// Only those that nothing was written to since then.
    pub idle_since: Option<SystemTime>,
    /// Only those behind this one, in the order of their names.
    pub after: Option<String>,
    /// At most that many.
    pub limit: Option<usize>,
}

impl ThreadFilter {
    /// All of them.
    pub fn new() -> Self {
        Self::default()
    }

    /// Only those with a run that has not come to its end, or only those without.
    #[must_use]
    pub fn running(mut self, running: bool) -> Self {
        self.running = Some(running);
        self
    }

    /// Only those that nothing was written to since `time`.
    #[must_use]
    pub fn idle_since(mut self, time: SystemTime) -> Self {
        self.idle_since = Some(time);
        self
    }

    /// Only those behind `thread`, in the order of their names.
    #[must_use]
    pub fn after(mut self, thread: impl Into<String>) -> Self {
        self.after = Some(thread.into());
        self
    }

    /// At most `limit`.
    #[must_use]
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = Some(limit);
        self
    }

    /// True for a thread that is wanted.
    pub fn wants(&self, info: &ThreadInfo) -> bool {
        self.running.is_none_or(|running| info.running == running)
            && self.idle_since.is_none_or(|since| info.updated_at < since)
            && self.after.as_ref().is_none_or(|after| info.thread > *after)
    }
}

/// A thread among others.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ThreadInfo {
    /// Its name.
    pub thread: String,
    /// The head of the root graph's log.
    pub head: Head,
    /// True while a run has not come to its end: it runs, or it was cut off.
    pub running: bool,
    /// When something was written to it last.
    pub updated_at: SystemTime,
}

impl ThreadInfo {
    /// What a saver knows of a thread.
    pub fn new(
        thread: impl Into<String>,
        head: Head,
        running: bool,
        updated_at: SystemTime,
    ) -> Self {
        Self {
            thread: thread.into(),
            head,
            running,
            updated_at,
        }
    }
}

/// What a thread takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Usage {
    /// Its logs: the root graph's, and those of graphs inside it.
    pub logs: u64,
    /// Its checkpoints.
    pub checkpoints: u64,
    /// What its tasks and updates from outside have left.
    pub records: u64,
    /// The bytes of all of it, without indexes; 0 where values are kept as they are.
    pub bytes: u64,
}

/// Keeps the logs of threads.
///
/// A record is stored when the future of [`put`](Self::put) is ready; the runtime does not run a
/// task again whose record is.
pub trait Checkpointer: Send + Sync + 'static {
    /// How values become bytes before they get here; `None` when this saver keeps them as they are.
    fn formats(&self) -> Option<&Formats>;

    /// Stores a batch, all of it or nothing. An empty one only raises the version of the log, which
    /// shuts out whoever knows the old one.
    ///
    /// # Errors
    ///
    /// [`CheckpointError::Conflict`] when the head of the log is not the one the batch names.
    fn put<'a>(&'a self, key: &'a ThreadKey, batch: Batch) -> SaverFuture<'a, ()>;

    /// What is needed to make the state of a checkpoint (of the head, without `id`): the records
    /// it is based on, from the nearest snapshot on, oldest first and the checkpoint itself last;
    /// no records when there is no such checkpoint. `None` when there is no such log.
    fn load<'a>(
        &'a self,
        key: &'a ThreadKey,
        id: Option<CheckpointId>,
    ) -> SaverFuture<'a, Option<Chain>>;

    /// As [`load`](Self::load) for whoever wants the state and no more: hands `see` what each
    /// checkpoint that it is based on has left, oldest first, while they are read, and says what is
    /// stored of the checkpoint itself. `None` when there is no such log.
    ///
    /// Unless a saver does better, it loads everything. What `see` has got counts for nothing when
    /// the answer is an error.
    fn load_state<'a>(
        &'a self,
        key: &'a ThreadKey,
        id: Option<CheckpointId>,
        see: &'a mut SeePast<'a>,
    ) -> SaverFuture<'a, Option<Standing>> {
        Box::pin(async move {
            let chain = self.load(key, id).await?;
            Ok(chain.map(|chain| chain.hand_over(see)))
        })
    }

    /// The head of the log.
    fn head<'a>(&'a self, key: &'a ThreadKey) -> SaverFuture<'a, Option<Head>>;

    /// The ids of the checkpoints of a log, newest first.
    fn list<'a>(
        &'a self,
        key: &'a ThreadKey,
        options: ListOptions,
    ) -> SaverFuture<'a, Vec<CheckpointId>>;

    /// The logs of a thread: the root graph's, and those of graphs inside it.
    fn logs<'a>(&'a self, thread: &'a str) -> SaverFuture<'a, Vec<ThreadKey>>;

    /// The threads, in the order of their names.
    fn threads(&self, filter: ThreadFilter) -> SaverFuture<'_, Vec<ThreadInfo>>;

    /// Copies a thread with all its logs. Ids stay the same.
    ///
    /// # Errors
    ///
    /// [`CheckpointError::UnknownThread`] without `from`, [`CheckpointError::ThreadExists`] when
    /// there is a `to`.
    fn copy_thread<'a>(&'a self, from: &'a str, to: &'a str) -> SaverFuture<'a, ()>;

    /// Removes checkpoints of a log with what belongs to them, and gives others a snapshot so that
    /// they need them no more; all of it or nothing.
    fn prune<'a>(&'a self, key: &'a ThreadKey, prune: Prune) -> SaverFuture<'a, ()>;

    /// Removes a log.
    fn delete_log<'a>(&'a self, key: &'a ThreadKey) -> SaverFuture<'a, ()>;

    /// Removes a thread, with the logs of its subgraphs.
    fn delete_thread<'a>(&'a self, thread: &'a str) -> SaverFuture<'a, ()>;

    /// What a thread takes.
    fn usage<'a>(&'a self, thread: &'a str) -> SaverFuture<'a, Usage>;

    /// Takes the thread for `holder`, or keeps it for longer; `false` while another one holds it.
    /// A lease that is not renewed for `term` is free.
    fn lease<'a>(
        &'a self,
        thread: &'a str,
        holder: &'a str,
        term: Duration,
    ) -> SaverFuture<'a, bool>;

    /// Gives the thread back, if `holder` has it.
    fn release<'a>(&'a self, thread: &'a str, holder: &'a str) -> SaverFuture<'a, ()>;
}
