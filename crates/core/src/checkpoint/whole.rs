//! Reads a log, and checks that nothing of it is missing.

use std::error::Error;
use std::fmt;

use super::task_fold::fold_tasks;
use super::{Chain, Checkpointer, ListOptions, Stored, ThreadKey, ThreadPosition, VisitStatePart};
use crate::checkpoint_id::CheckpointId;
use crate::error::CheckpointError;

/// As [`Checkpointer::load`], for readers of a thread: errors name the log, and records that lack
/// what they build on are damage.
///
/// # Errors
///
/// [`CheckpointError::Corrupt`] if something is missing; errors of the saver.
pub async fn load_chain(
    saver: &dyn Checkpointer,
    key: &ThreadKey,
    id: Option<CheckpointId>,
) -> Result<Option<Chain>, CheckpointError> {
    let chain = saver.load(key, id).await;
    let chain = chain.map_err(|error| error.of_log(key))?;
    if let Some(chain) = &chain {
        let checked = check_chain(chain, id);
        checked.map_err(|what| CheckpointError::Corrupt(what).of_log(key))?;
    }
    Ok(chain)
}

/// As [`Checkpointer::load_state`], for readers of a thread; see [`load_chain`].
///
/// # Errors
///
/// As [`load_chain`].
pub async fn load_position(
    saver: &dyn Checkpointer,
    key: &ThreadKey,
    id: Option<CheckpointId>,
    visit: &mut VisitStatePart<'_>,
) -> Result<Option<ThreadPosition>, CheckpointError> {
    let position = saver.load_state(key, id, visit).await;
    let position = position.map_err(|error| error.of_log(key))?;
    if let Some(position) = &position {
        let wanted = id.unwrap_or(position.head.id);
        let found = position.checkpoint.as_ref();
        check_last(found, wanted, id.is_none())
            .and_then(|()| found.map_or(Ok(()), check_tasks))
            .map_err(|what| CheckpointError::Corrupt(what).of_log(key))?;
    }
    Ok(position)
}

/// As [`Checkpointer::list`], for readers of a thread: errors name the log.
///
/// # Errors
///
/// Errors of the saver.
pub async fn load_list(
    saver: &dyn Checkpointer,
    key: &ThreadKey,
    options: ListOptions,
) -> Result<Vec<CheckpointId>, CheckpointError> {
    let list = saver.list(key, options).await;
    list.map_err(|error| error.of_log(key))
}

fn check_last(found: Option<&Stored>, wanted: CheckpointId, is_head: bool) -> Result<(), String> {
    match found.map(|stored| stored.checkpoint.id) {
        None if is_head => Err(format!("checkpoint `{wanted}`, its head, is missing")),
        Some(found) if found != wanted => Err(format!(
            "checkpoint `{found}` is in the place of `{wanted}`"
        )),
        _ => Ok(()),
    }
}

fn check_chain(chain: &Chain, id: Option<CheckpointId>) -> Result<(), String> {
    let wanted = id.unwrap_or(chain.head.id);
    check_last(chain.records.last(), wanted, id.is_none())?;
    let mut before: Option<&Stored> = None;
    for stored in &chain.records {
        check_tasks(stored)?;
        let checkpoint = &stored.checkpoint;
        if let (Some(base), None) = (checkpoint.base, &checkpoint.snapshot) {
            let found = before.filter(|before| before.checkpoint.id == base.id);
            let found = found.ok_or_else(|| missing_base(checkpoint.id, base.id))?;
            if base.with_tasks {
                found.all_written()?;
            }
        }
        before = Some(stored);
    }
    Ok(())
}

fn missing_base(id: CheckpointId, base: CheckpointId) -> String {
    format!("checkpoint `{base}`, on which checkpoint `{id}` is based, is missing")
}

fn check_tasks(stored: &Stored) -> Result<(), String> {
    let tasks = stored.task_count();
    match stored.tasks.iter().find(|record| record.task >= tasks) {
        None => Ok(()),
        Some(record) => Err(format!(
            "checkpoint `{}` has {tasks} tasks, and a record of task {}",
            stored.checkpoint.id, record.task
        )),
    }
}

impl Stored {
    /// Returns the number of its tasks, with those that joined in.
    pub fn task_count(&self) -> usize {
        let joined = self.entries.iter().map(|entry| entry.tasks.len());
        self.checkpoint.tasks.len() + joined.sum::<usize>()
    }

    /// Fails unless each task of the checkpoint itself has left its writes, as the next superstep
    /// needs them.
    ///
    /// # Errors
    ///
    /// What is missing, in words.
    pub fn all_written(&self) -> Result<(), String> {
        let folded = fold_tasks(self);
        let written = |task: usize| {
            folded
                .get(task)
                .is_some_and(|task| task.written().is_some())
        };
        let tasks = self.checkpoint.tasks.iter().enumerate();
        let mut missing = tasks.filter(|(index, _)| !written(*index));
        match missing.next() {
            None => Ok(()),
            Some((index, spec)) => Err(format!(
                "what task {index} (`{}`) of checkpoint `{}` wrote is missing",
                spec.node, self.checkpoint.id
            )),
        }
    }
}

impl CheckpointError {
    /// Names the log whose reading has failed.
    #[must_use]
    pub fn of_log(self, key: &ThreadKey) -> Self {
        let inside = match key.namespace.as_slice() {
            [] => String::new(),
            path => format!(", graph in `{}`", path.join("/")),
        };
        let log = format!("thread `{}`{inside}", key.thread);
        match self {
            Self::Corrupt(what) => Self::Corrupt(format!("{log}: {what}")),
            Self::Storage(source) => Self::storage(OfLog { log, source }),
            Self::Format(source) => Self::Unreadable {
                thread: key.thread.clone(),
                source,
            },
            named => named,
        }
    }
}

/// A failure of the storage, with the log that was read.
#[derive(Debug)]
struct OfLog {
    log: String,
    source: Box<dyn Error + Send + Sync>,
}

impl fmt::Display for OfLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} cannot be read: {}", self.log, self.source)
    }
}

impl Error for OfLog {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.source)
    }
}
