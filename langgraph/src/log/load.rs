//! Reads a log, and checks that nothing of it is missing.

use std::error::Error;
use std::fmt;

use super::box_future::BoxFuture;
use langgraph_core::checkpoint::{
    Chain, CheckpointId, Checkpointer, ListOptions, Stored, ThreadKey, ThreadPosition,
    VisitStatePart,
};
use langgraph_core::error::CheckpointError;

/// As [`Checkpointer::load`], for readers of a thread: errors name the log, and records that lack
/// what they build on are damage.
///
/// # Errors
///
/// [`CheckpointError::Corrupt`] if something is missing; errors of the saver.
pub(crate) fn load_chain<'a>(
    saver: &'a dyn Checkpointer,
    key: &'a ThreadKey,
    id: Option<CheckpointId>,
) -> BoxFuture<'a, Result<Option<Chain>, CheckpointError>> {
    Box::pin(async move {
        let chain = saver.load(key, id).await;
        let chain = chain.map_err(|error| of_log(key, error))?;
        if let Some(chain) = &chain {
            let checked = check_chain(chain, id);
            checked.map_err(|what| of_log(key, CheckpointError::Corrupt(what)))?;
        }
        Ok(chain)
    })
}

/// As [`Checkpointer::load_state`], for readers of a thread; see [`load_chain`].
///
/// # Errors
///
/// As [`load_chain`].
pub(crate) fn load_position<'a>(
    saver: &'a dyn Checkpointer,
    key: &'a ThreadKey,
    id: Option<CheckpointId>,
    visit: &'a mut VisitStatePart<'_>,
) -> BoxFuture<'a, Result<Option<ThreadPosition>, CheckpointError>> {
    Box::pin(async move {
        let position = saver.load_state(key, id, visit).await;
        let position = position.map_err(|error| of_log(key, error))?;
        if let Some(position) = &position {
            let wanted = id.unwrap_or(position.head.id);
            let found = position.checkpoint.as_ref();
            check_last(found, wanted, id.is_none())
                .and_then(|()| found.map_or(Ok(()), check_tasks))
                .map_err(|what| of_log(key, CheckpointError::Corrupt(what)))?;
        }
        Ok(position)
    })
}

/// As [`Checkpointer::list`], for readers of a thread: errors name the log.
///
/// # Errors
///
/// Errors of the saver.
pub(crate) fn load_list<'a>(
    saver: &'a dyn Checkpointer,
    key: &'a ThreadKey,
    options: ListOptions,
) -> BoxFuture<'a, Result<Vec<CheckpointId>, CheckpointError>> {
    Box::pin(async move {
        let list = saver.list(key, options).await;
        list.map_err(|error| of_log(key, error))
    })
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
    let mut order = stored.order().to_vec();
    order.sort_unstable();
    if order.len() > tasks || !order.iter().copied().eq(0..order.len()) {
        return Err(format!(
            "checkpoint `{}` has {tasks} tasks, and an order of tasks {order:?}",
            stored.checkpoint.id
        ));
    }
    match stored.tasks.iter().find(|record| record.task >= tasks) {
        None => Ok(()),
        Some(record) => Err(format!(
            "checkpoint `{}` has {tasks} tasks, and a record of task {}",
            stored.checkpoint.id, record.task
        )),
    }
}

/// Names the log whose reading has failed.
fn of_log(key: &ThreadKey, error: CheckpointError) -> CheckpointError {
    let subgraph = match key.namespace.as_slice() {
        [] => String::new(),
        path => format!(", graph in `{}`", path.join("/")),
    };
    let log = format!("thread `{}`{subgraph}", key.thread);
    match error {
        CheckpointError::Corrupt(what) => CheckpointError::Corrupt(format!("{log}: {what}")),
        CheckpointError::Storage(source) => CheckpointError::storage(OfLog { log, source }),
        CheckpointError::Format(source) => CheckpointError::Unreadable {
            thread: key.thread.clone(),
            source,
        },
        named => named,
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
