//! Loads a thread's log.

use super::loaded::Loaded;
use super::replay::Replay;
use crate::checkpoint::{Chain, CheckpointId, Checkpointer, Owner, StatePart, ThreadKey};
use crate::error::{AgentError, CheckpointError};
use crate::graph::plan::Plan;
use crate::log::{load_chain, load_position};
use crate::record::{Log, Reader, Recorder};
use crate::state::{State, StateCodec, TrackedState};
use crate::superstep::Engine;
use crate::task::Changes;

/// What to load, and from where.
pub(crate) struct Read<'a, S: State> {
    pub(crate) plan: &'a Plan<S>,
    pub(crate) codec: Option<StateCodec<S>>,
    /// The state before the first record.
    pub(crate) initial: &'a TrackedState<S>,
    pub(crate) saver: &'a dyn Checkpointer,
    pub(crate) key: &'a ThreadKey,
    /// A checkpoint, or `None` for the head.
    pub(crate) at: Option<CheckpointId>,
    /// True if [`Loaded::changes`] is needed.
    pub(crate) changes: bool,
}

/// Loads a thread at `at`, or at its head; `None` if there is no such checkpoint.
pub(crate) async fn load<S: State>(read: &Read<'_, S>) -> Result<Option<Loaded<S>>, AgentError> {
    // A subgraph needs more than the state. And the records that end ephemeral values are not part
    // of a state's records.
    let ephemeral = !read.plan.fields.ephemeral.is_empty();
    if read.changes || ephemeral || !read.key.namespace.is_empty() {
        return load_all(read).await;
    }
    match load_state(read).await {
        // The full log says which node wrote the conflicting update.
        Err(AgentError::InvalidUpdate(_)) => load_all(read).await,
        loaded => loaded,
    }
}

/// Loads only the records that the state is folded from.
async fn load_state<S: State>(read: &Read<'_, S>) -> Result<Option<Loaded<S>>, AgentError> {
    let mut replay = Replay::new(read.reader(), read.initial);
    let mut replayed = Ok(());
    let mut visit = |part: StatePart| {
        if replayed.is_ok() {
            replayed = replay.part(&part);
        }
    };
    let loaded = load_position(read.saver, read.key, read.at, &mut visit).await?;
    let Some(loaded) = loaded else {
        return Ok(None);
    };
    // Values of another type may be unreadable too.
    read.check(loaded.owner.as_deref())?;
    replayed?;
    let Some(stored) = loaded.checkpoint else {
        return Ok(None);
    };
    replay.own(&stored)?;
    Ok(Some(Loaded {
        owner: loaded.owner,
        ..replay.loaded(loaded.head, stored)?
    }))
}

/// Loads all records.
async fn load_all<S: State>(read: &Read<'_, S>) -> Result<Option<Loaded<S>>, AgentError> {
    let Some(Chain {
        head,
        owner,
        mut records,
        ..
    }) = load_chain(read.saver, read.key, read.at).await?
    else {
        return Ok(None);
    };
    read.check(owner.as_deref())?;
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
        owner,
        changes,
        ..replay.loaded(head, stored)?
    }))
}

impl<'a, S: State> Read<'a, S> {
    pub(crate) fn reader(&self) -> Reader<'a, S> {
        Reader {
            plan: self.plan,
            codec: self.codec,
            formats: self.saver.formats(),
            key: self.key,
        }
    }

    /// Fails if the log belongs to a graph over another state type.
    pub(crate) fn check(&self, owner: Option<&Owner>) -> Result<(), CheckpointError> {
        let has = |name: &str, ty: &str| {
            let mut fields = self.plan.initial.fields().iter();
            fields.any(|field| field.is_called(name) && field.type_text() == ty)
        };
        owner.map_or(Ok(()), |owner| {
            owner.check(&self.key.thread, self.plan.owner(), S::former_names(), has)
        })
    }
}

impl Log {
    /// Loads the thread at `at`, or at its head. A run that has lost its lease meanwhile, since its process was paused,
    /// would go on behind what another one has stored.
    pub(crate) async fn load<S: State>(
        &self,
        engine: &Engine<S>,
        at: Option<CheckpointId>,
    ) -> Result<Option<Loaded<S>>, AgentError> {
        self.check(&engine.coder())?;
        let loaded = load(&Read {
            plan: &engine.position.plan,
            codec: engine.codec,
            initial: &engine.position.tracked_state(),
            saver: &*self.saver,
            key: &self.key,
            at,
            changes: engine.changes.is_some(),
        })
        .await?;
        if let Some(guard) = &engine.position.scope.shared.guard {
            guard.check_lease().await?;
        }
        match (loaded, at) {
            (None, Some(id)) => Err(CheckpointError::UnknownCheckpoint {
                thread: self.key.thread.clone(),
                id,
            }
            .into()),
            (loaded, _) => Ok(loaded),
        }
    }

    /// Creates a recorder that writes after the loaded checkpoint.
    pub(crate) fn recorder_behind_loaded<S: State>(
        &self,
        engine: &Engine<S>,
        loaded: &Loaded<S>,
    ) -> Recorder<S> {
        let owner = loaded.owner.as_deref();
        self.recorder_behind(
            engine.coder(),
            loaded.head,
            owner,
            &loaded.stored.checkpoint,
        )
    }
}
