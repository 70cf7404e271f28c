//! Records as flat rows: what a saver that stores bytes has to keep.
//!
//! Every record becomes one or more rows of the same shape: which checkpoint it belongs to, what it
//! is, a little JSON and at most one payload. [`Batch::into_rows`] takes records apart,
//! [`assemble`] puts them together again; a saver keeps the rows and their order.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    AskedQuestions, Base, Batch, CheckpointError, CheckpointId, CheckpointRecord, Encoded,
    EntryRecord, Fold, Formats, JoinRecord, Payload, Source, Stored, TaskArgument, TaskOutcome,
    TaskRecord, TaskSpec,
};
use crate::graph::NodeName;
use crate::node::{Answer, OnceRecord};

/// What a row is. The numbers are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
#[non_exhaustive]
pub enum RowKind {
    /// A checkpoint; its payload is a snapshot.
    Checkpoint = 0,
    /// The argument of a task of the checkpoint before.
    Argument = 1,
    /// What has become of a task.
    Task = 2,
    /// What was written from outside.
    Entry = 3,
    /// The argument of a task of the entry before.
    EntryArgument = 4,
}

impl RowKind {
    /// The kind with that number.
    pub fn from_number(number: u8) -> Option<Self> {
        [
            Self::Checkpoint,
            Self::Argument,
            Self::Task,
            Self::Entry,
            Self::EntryArgument,
        ]
        .into_iter()
        .find(|kind| *kind as u8 == number)
    }
}

/// A record, or a part of one, as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Row {
    /// The checkpoint it belongs to.
    pub checkpoint: CheckpointId,
    /// What it is.
    pub kind: RowKind,
    /// JSON.
    pub text: String,
    /// A value of the graph's own types.
    pub payload: Option<Encoded>,
}

impl Row {
    /// What a saver has stored.
    pub fn new(
        checkpoint: CheckpointId,
        kind: RowKind,
        text: impl Into<String>,
        payload: Option<Encoded>,
    ) -> Self {
        Self {
            checkpoint,
            kind,
            text: text.into(),
            payload,
        }
    }

    /// How many bytes it holds.
    pub fn size(&self) -> usize {
        let payload = self
            .payload
            .as_ref()
            .map_or(0, |payload| payload.bytes.len());
        self.text.len() + payload
    }
}

#[derive(Serialize, Deserialize)]
struct CheckpointText {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    parent: Option<CheckpointId>,
    /// None: the parent's state with what its tasks wrote, as behind most supersteps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    base: Option<BaseText>,
    step: i64,
    #[serde(default = "usual_source", skip_serializing_if = "is_usual_source")]
    source: Source,
    /// Milliseconds since 1970.
    at: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tasks: Vec<TaskText>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    joins: Vec<JoinRecord>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    deferred: Vec<NodeName>,
    #[serde(default, skip_serializing_if = "is_default")]
    since: usize,
    #[serde(default, skip_serializing_if = "is_default")]
    log: u64,
    #[serde(default, skip_serializing_if = "is_default")]
    measure: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    ran: Vec<NodeName>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    metadata: BTreeMap<String, Value>,
    #[serde(default, skip_serializing_if = "is_default")]
    graph: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    call: Option<Arc<str>>,
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum BaseText {
    Some(Base),
    None {},
}

/// A task without its argument: the name, or the name and what kind of argument follows.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum TaskText {
    Edge(NodeName),
    Sent(NodeName, ArgumentText),
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ArgumentText {
    Item,
    State,
}

#[derive(Serialize, Deserialize)]
struct OutcomeText {
    #[serde(default, skip_serializing_if = "is_default")]
    task: usize,
    /// None: it finished, if there is a payload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    end: Option<EndText>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    answers: Vec<Answer>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    once: Vec<OnceRecord>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum EndText {
    Ran,
    Asked(AskedQuestions),
    Failed(String),
}

#[derive(Serialize, Deserialize)]
struct EntryText {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tasks: Vec<TaskText>,
}

fn usual_source() -> Source {
    Source::Loop
}

#[allow(clippy::trivially_copy_pass_by_ref)] // as serde wants it
fn is_usual_source(source: &Source) -> bool {
    *source == usual_source()
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

fn text(value: &impl Serialize) -> Result<String, CheckpointError> {
    serde_json::to_string(value).map_err(CheckpointError::storage)
}

fn read<'a, T: Deserialize<'a>>(row: &'a Row) -> Result<T, CheckpointError> {
    serde_json::from_str(&row.text).map_err(|error| {
        CheckpointError::Corrupt(format!(
            "a {:?} row of checkpoint `{}` cannot be read: {error}",
            row.kind, row.checkpoint
        ))
    })
}

/// Takes tasks apart: their names, and their arguments in order.
fn tasks(
    specs: Vec<TaskSpec>,
    formats: &Formats,
    mut argument: impl FnMut(Encoded),
) -> Result<Vec<TaskText>, CheckpointError> {
    let mut texts = Vec::with_capacity(specs.len());
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

/// Puts tasks together: their arguments follow as rows.
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

impl Fold {
    /// The row of the checkpoint with its snapshot.
    ///
    /// # Errors
    ///
    /// When the state cannot be written, or the row not be read.
    pub fn apply(self, row: &Row, formats: &Formats) -> Result<Row, CheckpointError> {
        let mut folded: CheckpointText = read(row)?;
        folded.ran = self.ran;
        (folded.since, folded.log, folded.measure) = (0, 0, 0);
        let snapshot = self.snapshot.encode(formats)?;
        let text = text(&folded)?;
        Ok(Row::new(row.checkpoint, row.kind, text, Some(snapshot)))
    }
}

impl Batch {
    /// The records as rows, in the order in which they are to be kept.
    ///
    /// # Errors
    ///
    /// When a value cannot be written in the first of `formats`.
    pub fn into_rows(self, formats: &Formats) -> Result<Vec<Row>, CheckpointError> {
        let mut rows = Vec::new();
        for checkpoint in self.checkpoints {
            checkpoint_rows(checkpoint, formats, &mut rows)?;
        }
        for task in self.tasks {
            let (end, payload) = match task.outcome {
                None => (None, None),
                Some(TaskOutcome::Finished(done)) => (None, Some(done.encode(formats)?)),
                Some(TaskOutcome::Ran(done)) => (Some(EndText::Ran), Some(done.encode(formats)?)),
                Some(TaskOutcome::Asked(questions)) => (Some(EndText::Asked(questions)), None),
                Some(TaskOutcome::Failed(error)) => (Some(EndText::Failed(error)), None),
            };
            let text = text(&OutcomeText {
                task: task.task,
                end,
                answers: task.answers,
                once: task.once,
            })?;
            rows.push(Row::new(task.checkpoint, RowKind::Task, text, payload));
        }
        for entry in self.entries {
            let mut arguments = Vec::new();
            let tasks = tasks(entry.tasks, formats, |argument| arguments.push(argument))?;
            let payload = Some(entry.writes.encode(formats)?);
            let text = text(&EntryText { tasks })?;
            rows.push(Row::new(entry.checkpoint, RowKind::Entry, text, payload));
            rows.extend(arguments.into_iter().map(|argument| {
                Row::new(entry.checkpoint, RowKind::EntryArgument, "", Some(argument))
            }));
        }
        Ok(rows)
    }
}

fn checkpoint_rows(
    record: CheckpointRecord,
    formats: &Formats,
    rows: &mut Vec<Row>,
) -> Result<(), CheckpointError> {
    let mut arguments = Vec::new();
    let tasks = tasks(record.tasks, formats, |argument| arguments.push(argument))?;
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
        // Records are counted only where bytes are not.
        since: match record.log_bytes {
            0 => record.since_snapshot,
            _ => 0,
        },
        log: record.log_bytes,
        measure: record.measure_at,
        ran: record.ran,
        metadata: record.metadata,
        graph: record.graph,
        call: record.call,
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

/// The checkpoints that rows make, in the order in which they first appear. The rows of one
/// checkpoint are in the order in which they were stored; those of several may be mixed.
///
/// # Errors
///
/// [`CheckpointError::Corrupt`] when rows are missing, or cannot be read.
pub fn assemble(rows: impl IntoIterator<Item = Row>) -> Result<Vec<Stored>, CheckpointError> {
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

fn one(id: CheckpointId, rows: Vec<Row>) -> Result<Stored, CheckpointError> {
    let mut rows = rows.into_iter().peekable();
    let first = rows.next_if(|row| row.kind == RowKind::Checkpoint);
    let Some(mut first) = first else {
        return Err(CheckpointError::Corrupt(format!(
            "checkpoint `{id}` is missing, and what belongs to it is not"
        )));
    };
    let snapshot = first.payload.take();
    let text: CheckpointText = read(&first)?;
    let tasks = specs(text.tasks, id, || {
        let row = rows.next_if(|row| row.kind == RowKind::Argument)?;
        row.payload.map(Payload::from)
    })?;
    let base = match text.base {
        None => text.parent.map(|id| Base {
            id,
            with_tasks: true,
        }),
        Some(BaseText::None {}) => None,
        Some(BaseText::Some(base)) => Some(base),
    };
    let mut stored = Stored {
        checkpoint: CheckpointRecord {
            id,
            parent: text.parent,
            base,
            step: text.step,
            source: text.source,
            created_at: SystemTime::UNIX_EPOCH + Duration::from_millis(text.at),
            tasks,
            joins: text.joins,
            deferred: text.deferred,
            snapshot: snapshot.map(Payload::from),
            since_snapshot: text.since,
            log_bytes: text.log,
            measure_at: text.measure,
            ran: text.ran,
            metadata: text.metadata,
            graph: text.graph,
            call: text.call,
        },
        tasks: Vec::new(),
        entries: Vec::new(),
    };
    while let Some(row) = rows.next() {
        match row.kind {
            RowKind::Task => stored.tasks.push(task(row)?),
            RowKind::Entry => {
                let text: EntryText = read(&row)?;
                let writes = row.payload.map(Payload::from).ok_or_else(|| {
                    CheckpointError::Corrupt(format!("an entry of checkpoint `{id}` is empty"))
                })?;
                let tasks = specs(text.tasks, id, || {
                    let row = rows.next_if(|row| row.kind == RowKind::EntryArgument)?;
                    row.payload.map(Payload::from)
                })?;
                stored.entries.push(EntryRecord {
                    checkpoint: id,
                    writes,
                    tasks,
                });
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
        Some(EndText::Asked(questions)) => Some(TaskOutcome::Asked(questions)),
        Some(EndText::Failed(error)) => Some(TaskOutcome::Failed(error)),
    };
    Ok(TaskRecord {
        checkpoint: row.checkpoint,
        task: text.task,
        outcome,
        answers: text.answers,
        once: text.once,
    })
}
