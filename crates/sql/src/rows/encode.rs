//! Encodes records as rows.

use std::sync::Arc;
use std::time::UNIX_EPOCH;

use super::text::{
    ArgumentText, BaseText, CheckpointText, EndText, EntryText, OutcomeText, TaskText, read, text,
};
use super::{Row, RowKind};
use langgraph_core::checkpoint::{
    Base, Batch, CheckpointRecord, Encoded, EntryRecord, Fold, Formats, TaskArgument, TaskOutcome,
    TaskRecord, TaskSpec,
};
use langgraph_core::error::CheckpointError;

/// Returns the names of tasks, and their arguments in order.
fn encode_tasks(
    specs: impl IntoIterator<Item = TaskSpec>,
    formats: &Formats,
    mut argument: impl FnMut(Encoded),
) -> Result<Vec<TaskText>, CheckpointError> {
    let mut texts = Vec::new();
    for spec in specs {
        let (kind, payload) = match spec.argument {
            None => {
                texts.push(TaskText::Edge(spec.node));
                continue;
            }
            Some(TaskArgument::Item(item)) => (ArgumentText::Item, item),
            Some(TaskArgument::State(state)) => (ArgumentText::State, state),
        };
        argument(payload.encode(formats)?);
        texts.push(TaskText::Sent(spec.node, kind));
    }
    Ok(texts)
}

/// Adds a snapshot to the row of a checkpoint.
///
/// # Errors
///
/// If the state cannot be written, or the row cannot be read.
pub fn fold(fold: Fold, row: &Row, formats: &Formats) -> Result<Row, CheckpointError> {
    let mut folded: CheckpointText = read(row)?;
    (folded.ran, folded.joined) = (fold.ran, fold.joined);
    (folded.since, folded.log, folded.measure) = (0, 0, 0);
    let snapshot = fold.snapshot.encode(formats)?;
    let text = text(&folded)?;
    Ok(Row::new(row.checkpoint, row.kind, text, Some(snapshot)))
}

/// Encodes the records of a batch as rows, in the order in which to store them: rows of checkpoints
/// that are stored already come first, then those of each new one.
///
/// # Errors
///
/// If a value cannot be written in the first of `formats`.
pub fn encode(batch: Batch, formats: &Formats) -> Result<Vec<Row>, CheckpointError> {
    let mut rows = Vec::new();
    let Batch {
        checkpoints,
        mut tasks,
        mut entries,
        ..
    } = batch;
    let new: Vec<_> = checkpoints.iter().map(|new| new.id).collect();
    let old_tasks = tasks.extract_if(.., |task| !new.contains(&task.checkpoint));
    let old_entries = entries.extract_if(.., |entry| !new.contains(&entry.checkpoint));
    record_rows(old_tasks, old_entries, formats, &mut rows)?;
    for checkpoint in checkpoints {
        let id = checkpoint.id;
        checkpoint_rows(checkpoint, formats, &mut rows)?;
        let own_tasks = tasks.extract_if(.., |task| task.checkpoint == id);
        let own_entries = entries.extract_if(.., |entry| entry.checkpoint == id);
        record_rows(own_tasks, own_entries, formats, &mut rows)?;
    }
    Ok(rows)
}

fn record_rows(
    tasks: impl Iterator<Item = TaskRecord>,
    entries: impl Iterator<Item = EntryRecord>,
    formats: &Formats,
    rows: &mut Vec<Row>,
) -> Result<(), CheckpointError> {
    for task in tasks {
        let (end, payload) = match task.outcome {
            None => (None, None),
            Some(TaskOutcome::Finished(done)) => (None, Some(done.encode(formats)?)),
            Some(TaskOutcome::Ran(done)) => (Some(EndText::Ran), Some(done.encode(formats)?)),
            Some(TaskOutcome::Interrupted(interrupts)) => {
                (Some(EndText::Interrupted(interrupts)), None)
            }
            Some(TaskOutcome::Failed(error)) => (Some(EndText::Failed(error)), None),
        };
        let text = text(&OutcomeText {
            task: task.task,
            end,
            answers: task.answers,
            once: task.once,
            joins: task.joins,
        })?;
        rows.push(Row::new(task.checkpoint, RowKind::Task, text, payload));
    }
    for entry in entries {
        let mut arguments = Vec::new();
        let tasks = encode_tasks(entry.tasks, formats, |argument| arguments.push(argument))?;
        let payload = Some(entry.writes.encode(formats)?);
        let order = entry.order;
        let text = text(&EntryText { tasks, order })?;
        rows.push(Row::new(entry.checkpoint, RowKind::Entry, text, payload));
        rows.extend(arguments.into_iter().map(|argument| {
            Row::new(entry.checkpoint, RowKind::EntryArgument, "", Some(argument))
        }));
    }
    Ok(())
}

fn checkpoint_rows(
    record: CheckpointRecord,
    formats: &Formats,
    rows: &mut Vec<Row>,
) -> Result<(), CheckpointError> {
    let mut arguments = Vec::new();
    let tasks = encode_tasks(record.tasks, formats, |argument| arguments.push(argument))?;
    let usual = record.parent.map(|id| Base {
        id,
        with_tasks: true,
    });
    let base = match record.base {
        base if base == usual => None,
        None => Some(BaseText::None {}),
        Some(base) => Some(BaseText::Some(base)),
    };
    let at = record.created_at.duration_since(UNIX_EPOCH);
    let text = text(&CheckpointText {
        parent: record.parent,
        base,
        step: record.step,
        source: record.source,
        at: u64::try_from(at.unwrap_or_default().as_millis()).unwrap_or(u64::MAX),
        tasks,
        joins: record.joins,
        deferred: record.deferred,
        followed: record.followed,
        // The number of records is only stored if the number of bytes is not.
        since: match record.log_bytes {
            0 => record.since_snapshot,
            _ => 0,
        },
        log: record.log_bytes,
        measure: record.measure_at,
        ran: record.ran,
        joined: record.joined,
        metadata: Arc::unwrap_or_clone(record.metadata),
        graph: record.graph,
        call: record.call,
        pauses: record.pauses,
    })?;
    let snapshot = record.snapshot.map(|state| state.encode(formats));
    let snapshot = snapshot.transpose()?;
    rows.push(Row::new(record.id, RowKind::Checkpoint, text, snapshot));
    rows.extend(
        arguments
            .into_iter()
            .map(|argument| Row::new(record.id, RowKind::Argument, "", Some(argument))),
    );
    Ok(())
}
