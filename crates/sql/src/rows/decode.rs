//! Decodes rows into records.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::text::{ArgumentText, CheckpointText, EndText, EntryText, OutcomeText, TaskText, read};
use super::{Row, RowKind};
use langgraph_core::checkpoint::{
    CheckpointId, CheckpointRecord, EntryRecord, Payload, Stored, TaskArgument, TaskOutcome,
    TaskRecord, TaskSpec,
};
use langgraph_core::error::CheckpointError;

/// Numbers of a checkpoint do not get larger: 9,000 years in milliseconds, 280 TB in bytes. So what is
/// computed with them does not overflow.
const MOST: u64 = 1 << 48;

/// Tasks, whose arguments follow as rows.
fn specs(
    texts: Vec<TaskText>,
    checkpoint: CheckpointId,
    mut argument: impl FnMut() -> Option<Payload>,
) -> Result<Vec<TaskSpec>, CheckpointError> {
    let spec = |text| {
        let (node, kind) = match text {
            TaskText::Edge(node) => return Ok(TaskSpec::new(node, None)),
            TaskText::Sent(node, kind) => (node, kind),
        };
        let argument = argument().ok_or_else(|| {
            CheckpointError::Corrupt(format!(
                "the argument of task `{node}` of checkpoint `{checkpoint}` is missing"
            ))
        })?;
        let argument = match kind {
            ArgumentText::Item => TaskArgument::Item(argument),
            ArgumentText::State => TaskArgument::State(argument),
        };
        Ok(TaskSpec::new(node, Some(argument)))
    };
    texts.into_iter().map(spec).collect()
}

/// Decodes rows into checkpoints, in the order in which they first appear. The rows of one
/// checkpoint must be in the order in which they were stored; those of several may be mixed.
///
/// # Errors
///
/// [`CheckpointError::Corrupt`] if rows are missing, or cannot be read.
pub fn decode(rows: impl IntoIterator<Item = Row>) -> Result<Vec<Stored>, CheckpointError> {
    let mut order: Vec<CheckpointId> = Vec::new();
    let mut by_checkpoint: BTreeMap<CheckpointId, Vec<Row>> = BTreeMap::new();
    for row in rows {
        by_checkpoint
            .entry(row.checkpoint)
            .or_insert_with(|| {
                order.push(row.checkpoint);
                Vec::new()
            })
            .push(row);
    }
    let stored = order
        .into_iter()
        .filter_map(|id| by_checkpoint.remove_entry(&id));
    stored.map(|(id, rows)| one(id, rows)).collect()
}

pub(super) fn one(id: CheckpointId, rows: Vec<Row>) -> Result<Stored, CheckpointError> {
    let mut rows = rows.into_iter().peekable();
    let first = rows.next_if(|row| row.kind == RowKind::Checkpoint);
    let Some(mut first) = first else {
        return Err(CheckpointError::Corrupt(format!(
            "checkpoint `{id}` is missing, and what belongs to it is not"
        )));
    };
    let snapshot = first.payload.take();
    let text: CheckpointText = read(&first)?;
    check_numbers(id, &text)?;
    let base = text.base();
    let tasks = specs(text.tasks, id, || {
        let row = rows.next_if(|row| row.kind == RowKind::Argument)?;
        row.payload.map(Payload::from)
    })?;
    let mut stored = Stored {
        checkpoint: CheckpointRecord {
            id,
            parent: text.parent,
            base,
            step: text.step,
            source: text.source,
            created_at: SystemTime::UNIX_EPOCH + Duration::from_millis(text.at),
            tasks: tasks.into(),
            joins: text.joins,
            deferred: text.deferred,
            followed: text.followed,
            snapshot: snapshot.map(Payload::from),
            since_snapshot: text.since,
            log_bytes: text.log,
            measure_at: text.measure,
            ran: text.ran,
            joined: text.joined,
            metadata: Arc::new(text.metadata),
            graph: text.graph,
            call: text.call,
            pauses: text.pauses,
        },
        tasks: Vec::new(),
        entries: Vec::new(),
    };
    while let Some(row) = rows.next() {
        match row.kind {
            RowKind::Task => stored.tasks.push(task(row)?),
            RowKind::Entry => {
                let entry = entry(id, row, || {
                    let row = rows.next_if(|row| row.kind == RowKind::EntryArgument)?;
                    row.payload.map(Payload::from)
                })?;
                stored.entries.push(entry);
            }
            kind => {
                return Err(CheckpointError::Corrupt(format!(
                    "checkpoint `{id}` has a {kind:?} row where none belongs"
                )));
            }
        }
    }
    Ok(stored)
}

/// Refuses numbers that no checkpoint has: a sum with one of them would overflow.
fn check_numbers(id: CheckpointId, text: &CheckpointText) -> Result<(), CheckpointError> {
    for (name, number) in [
        ("step", text.step.unsigned_abs()),
        ("time", text.at),
        ("number of records", text.since as u64),
        ("size", text.log.max(text.measure)),
    ] {
        if number > MOST {
            return Err(CheckpointError::Corrupt(format!(
                "checkpoint `{id}` cannot have the {name} {number}"
            )));
        }
    }
    Ok(())
}

fn entry(
    checkpoint: CheckpointId,
    row: Row,
    argument: impl FnMut() -> Option<Payload>,
) -> Result<EntryRecord, CheckpointError> {
    let text: EntryText = read(&row)?;
    let writes = row.payload.map(Payload::from).ok_or_else(|| {
        CheckpointError::Corrupt(format!("an entry of checkpoint `{checkpoint}` is empty"))
    })?;
    Ok(EntryRecord {
        checkpoint,
        writes,
        tasks: specs(text.tasks, checkpoint, argument)?,
        order: text.order,
    })
}

fn task(mut row: Row) -> Result<TaskRecord, CheckpointError> {
    let payload = row.payload.take().map(Payload::from);
    let text: OutcomeText = read(&row)?;
    let done = |payload: Option<Payload>| {
        payload.ok_or_else(|| {
            CheckpointError::Corrupt(format!(
                "what task {} of checkpoint `{}` wrote is missing",
                text.task, row.checkpoint
            ))
        })
    };
    let outcome = match text.end {
        None => payload.map(TaskOutcome::Finished),
        Some(EndText::Ran) => Some(TaskOutcome::Ran(done(payload)?)),
        Some(EndText::Interrupted(interrupts)) => Some(TaskOutcome::Interrupted(interrupts)),
        Some(EndText::Failed(error)) => Some(TaskOutcome::Failed(error)),
    };
    Ok(TaskRecord {
        checkpoint: row.checkpoint,
        task: text.task,
        outcome,
        answers: text.answers,
        once: text.once,
        joins: text.joins,
    })
}
