//! Reading a thread's log.

use std::sync::Arc;

use super::coder::Reader;
use super::commit::Changes;
use crate::AgentError;
use crate::checkpoint::{
    Chain, CheckpointId, Checkpointer, Head, Past, StateCodec, Stored, ThreadKey,
};
use crate::graph::plan::Plan;
use crate::state::State;

mod questions;
mod replay;
mod restore;
mod show;
mod tasks;

pub(super) use questions::interrupts;
pub(super) use replay::Replay;
pub(super) use tasks::{Outcome, TaskState};

/// A thread as one of its checkpoints left it.
pub(super) struct Loaded<S: State> {
    pub(super) state: Arc<S>,
    pub(super) stored: Stored,
    pub(super) head: Head,
    pub(super) tasks: Vec<TaskState<S>>,
    /// Everything that was written since the beginning of the log.
    pub(super) changes: Option<Changes<S>>,
}

/// What is to be read.
pub(super) struct Read<'a, S: State> {
    pub(super) plan: &'a Plan<S>,
    pub(super) codec: Option<StateCodec<S>>,
    /// The state before the first record.
    pub(super) initial: &'a Arc<S>,
    pub(super) saver: &'a dyn Checkpointer,
    pub(super) key: &'a ThreadKey,
    /// A checkpoint, or the head.
    pub(super) at: Option<CheckpointId>,
    /// True when [`Loaded::changes`] is wanted.
    pub(super) changes: bool,
}

/// A thread at `at`, or at its head; none when there is no such checkpoint.
pub(super) async fn load<S: State>(read: &Read<'_, S>) -> Result<Option<Loaded<S>>, AgentError> {
    // A graph inside another one wants to know more than the state; and what ends that which is
    // ephemeral is in what is left out.
    let ephemeral = !read.plan.fields.ephemeral.is_empty();
    if read.changes || ephemeral || !read.key.namespace.is_empty() {
        return load_all(read).await;
    }
    match load_state(read).await {
        // Who wrote what does not fit is in what was left out.
        Err(AgentError::InvalidUpdate(_)) => load_all(read).await,
        loaded => loaded,
    }
}

/// From no more than the state is made of.
async fn load_state<S: State>(read: &Read<'_, S>) -> Result<Option<Loaded<S>>, AgentError> {
    let mut replay = Replay::new(read.reader(), read.initial);
    let mut replayed = Ok(());
    let mut see = |past: Past| {
        if replayed.is_ok() {
            replayed = replay.past(&past);
        }
    };
    let loaded = read.saver.load_state(read.key, read.at, &mut see).await?;
    replayed?;
    let Some((head, stored)) = loaded.and_then(|loaded| Some((loaded.head, loaded.checkpoint?)))
    else {
        return Ok(None);
    };
    replay.own(&stored)?;
    Ok(Some(replay.loaded(head, stored)?))
}

/// From everything that is stored.
async fn load_all<S: State>(read: &Read<'_, S>) -> Result<Option<Loaded<S>>, AgentError> {
    let Some(Chain {
        head, mut records, ..
    }) = read.saver.load(read.key, read.at).await?
    else {
        return Ok(None);
    };
    let mut changes = read.changes.then(Changes::default);
    let mut replay = Replay::new(read.reader(), read.initial);
    let mut before = None;
    for stored in &records {
        replay.before_entries(before, stored, changes.as_mut())?;
        replay.entries(stored, changes.as_mut())?;
        before = Some(stored);
    }
    let Some(stored) = records.pop() else {
        return Ok(None);
    };
    Ok(Some(Loaded {
        changes,
        ..replay.loaded(head, stored)?
    }))
}

impl<'a, S: State> Read<'a, S> {
    pub(super) fn reader(&self) -> Reader<'a, S> {
        Reader {
            plan: self.plan,
            codec: self.codec,
            formats: self.saver.formats(),
            key: self.key,
        }
    }
}
