//! The records of a thread as JSON.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::SystemTime;

use langgraph::checkpoint::{
    Base, CheckpointId, CheckpointRecord, Encoded, EntryRecord, FollowedRecord, Format as _,
    Formats, JoinRecord, Json, OnceRecord, Owner, Payload, Source, Stored, TaskArgument,
    TaskOutcome, TaskRecord, TaskSpec, ThreadKey,
};
use langgraph::error::CheckpointError;
use langgraph::graph::NodeName;
use langgraph::interrupt::Interrupts;
use langgraph_core::checkpoint::AnyValue;
use langgraph_core::interrupt::Answer;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::replay::log::{Log, Logs};

/// A log, as it is exported.
#[derive(Serialize, Deserialize)]
pub(super) struct LogJson {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    namespace: Vec<String>,
    owner: Option<Arc<Owner>>,
    checkpoints: Vec<CheckpointJson>,
}

/// A checkpoint with its tasks and entries. What only says when to store the next snapshot is left out.
#[derive(Serialize, Deserialize)]
struct CheckpointJson {
    id: CheckpointId,
    parent: Option<CheckpointId>,
    base: Option<Base>,
    step: i64,
    source: Source,
    created_at: SystemTime,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tasks: Vec<TaskJson>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    joins: Vec<JoinRecord>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    deferred: Vec<NodeName>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    followed: Vec<FollowedRecord>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    snapshot: Option<PayloadJson>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    ran: Vec<NodeName>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    joined: Vec<NodeName>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    metadata: BTreeMap<String, Value>,
    graph: u64,
    call: Option<Arc<str>>,
    pauses: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    records: Vec<RecordJson>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    entries: Vec<EntryJson>,
}

#[derive(Serialize, Deserialize)]
struct TaskJson {
    node: NodeName,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    item: Option<PayloadJson>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    state: Option<PayloadJson>,
}

#[derive(Serialize, Deserialize)]
struct RecordJson {
    task: usize,
    outcome: Option<OutcomeJson>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    answers: Vec<Answer>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    once: Vec<OnceRecord>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    joins: Vec<JoinRecord>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum OutcomeJson {
    Finished(PayloadJson),
    Ran(PayloadJson),
    Interrupted(Interrupts),
    Failed(String),
}

#[derive(Serialize, Deserialize)]
struct EntryJson {
    writes: PayloadJson,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tasks: Vec<TaskJson>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    order: Vec<usize>,
}

/// A value of any format, and the version of the state that encoded it.
#[derive(Serialize, Deserialize)]
struct PayloadJson {
    version: u32,
    value: Value,
}

/// Returns the logs of a thread as JSON, maybe without the texts of errors. A snapshot goes if what it is made
/// of is there, so that today's reducers make the state.
pub(super) fn to_json(
    logs: &Logs,
    formats: &Formats,
    hides_errors: bool,
) -> Result<Vec<LogJson>, CheckpointError> {
    let logs = logs.values().map(|log| {
        let mut checkpoints = Vec::with_capacity(log.records.len());
        let mut previous = None;
        for stored in &log.records {
            let base = stored.checkpoint.base.map(|base| base.id);
            let has_base = base.is_some() && base == previous;
            previous = Some(stored.checkpoint.id);
            checkpoints.push(CheckpointJson::new(stored, has_base, formats)?);
        }
        let records = checkpoints.iter_mut().flat_map(|one| &mut one.records);
        for record in records.filter(|_| hides_errors) {
            if let Some(OutcomeJson::Failed(error)) = &mut record.outcome {
                "the node failed".clone_into(error);
            }
        }
        Ok(LogJson {
            namespace: log.key.namespace.clone(),
            owner: log.owner.clone(),
            checkpoints,
        })
    });
    logs.collect()
}

/// Returns the logs of an exported thread.
pub(super) fn from_json(thread: &str, logs: &[LogJson]) -> Result<Logs, CheckpointError> {
    let logs = logs.iter().map(|log| {
        let checkpoints = log.checkpoints.iter();
        let read = Log {
            key: ThreadKey {
                thread: thread.to_owned(),
                namespace: log.namespace.clone(),
            },
            owner: log.owner.clone(),
            records: checkpoints
                .map(CheckpointJson::stored)
                .collect::<Result<_, _>>()?,
        };
        Ok((log.namespace.clone(), read))
    });
    logs.collect()
}

impl CheckpointJson {
    fn new(stored: &Stored, has_base: bool, formats: &Formats) -> Result<Self, CheckpointError> {
        // A new field has to be exported, too.
        let CheckpointRecord {
            id,
            parent,
            base,
            step,
            source,
            created_at,
            tasks,
            joins,
            deferred,
            followed,
            snapshot,
            since_snapshot: _,
            log_bytes: _,
            measure_at: _,
            ran,
            joined,
            metadata,
            graph,
            call,
            pauses,
        } = &stored.checkpoint;
        let snapshot = snapshot.as_ref().filter(|_| !has_base);
        let snapshot = snapshot.map(|payload| PayloadJson::new(payload, formats));
        let records = stored.tasks.iter();
        let entries = stored.entries.iter();
        Ok(Self {
            id: *id,
            parent: *parent,
            base: *base,
            step: *step,
            source: *source,
            created_at: *created_at,
            tasks: tasks_json(tasks, formats)?,
            joins: joins.clone(),
            deferred: deferred.clone(),
            followed: followed.clone(),
            snapshot: snapshot.transpose()?,
            ran: ran.clone(),
            joined: joined.clone(),
            metadata: (**metadata).clone(),
            graph: *graph,
            call: call.clone(),
            pauses: *pauses,
            records: records
                .map(|record| RecordJson::new(record, formats))
                .collect::<Result<_, _>>()?,
            entries: entries
                .map(|entry| EntryJson::new(entry, formats))
                .collect::<Result<_, _>>()?,
        })
    }

    fn stored(&self) -> Result<Stored, CheckpointError> {
        let checkpoint = CheckpointRecord {
            id: self.id,
            parent: self.parent,
            base: self.base,
            step: self.step,
            source: self.source,
            created_at: self.created_at,
            tasks: specs(&self.tasks)?.into_iter().collect(),
            joins: self.joins.clone(),
            deferred: self.deferred.clone(),
            followed: self.followed.clone(),
            snapshot: self
                .snapshot
                .as_ref()
                .map(PayloadJson::payload)
                .transpose()?,
            since_snapshot: 0,
            log_bytes: 0,
            measure_at: 0,
            ran: self.ran.clone(),
            joined: self.joined.clone(),
            metadata: Arc::new(self.metadata.clone()),
            graph: self.graph,
            call: self.call.clone(),
            pauses: self.pauses,
        };
        let records = self.records.iter();
        let entries = self.entries.iter();
        Ok(Stored {
            checkpoint,
            tasks: records
                .map(|record| record.stored(self.id))
                .collect::<Result<_, _>>()?,
            entries: entries
                .map(|entry| entry.stored(self.id))
                .collect::<Result<_, _>>()?,
        })
    }
}

impl RecordJson {
    fn new(record: &TaskRecord, formats: &Formats) -> Result<Self, CheckpointError> {
        let payload = |payload| PayloadJson::new(payload, formats);
        let outcome = record.outcome.as_ref().map(|outcome| {
            Ok::<_, CheckpointError>(match outcome {
                TaskOutcome::Finished(done) => OutcomeJson::Finished(payload(done)?),
                TaskOutcome::Ran(done) => OutcomeJson::Ran(payload(done)?),
                TaskOutcome::Interrupted(interrupts) => {
                    OutcomeJson::Interrupted(interrupts.clone())
                }
                TaskOutcome::Failed(error) => OutcomeJson::Failed(error.clone()),
            })
        });
        Ok(Self {
            task: record.task,
            outcome: outcome.transpose()?,
            answers: record.answers.clone(),
            once: record.once.clone(),
            joins: record.joins.clone(),
        })
    }

    fn stored(&self, checkpoint: CheckpointId) -> Result<TaskRecord, CheckpointError> {
        let outcome = self.outcome.as_ref().map(|outcome| {
            Ok::<_, CheckpointError>(match outcome {
                OutcomeJson::Finished(done) => TaskOutcome::Finished(done.payload()?),
                OutcomeJson::Ran(done) => TaskOutcome::Ran(done.payload()?),
                OutcomeJson::Interrupted(interrupts) => {
                    TaskOutcome::Interrupted(interrupts.clone())
                }
                OutcomeJson::Failed(error) => TaskOutcome::Failed(error.clone()),
            })
        });
        Ok(TaskRecord {
            checkpoint,
            task: self.task,
            outcome: outcome.transpose()?,
            answers: self.answers.clone(),
            once: self.once.clone(),
            joins: self.joins.clone(),
        })
    }
}

impl EntryJson {
    fn new(entry: &EntryRecord, formats: &Formats) -> Result<Self, CheckpointError> {
        Ok(Self {
            writes: PayloadJson::new(&entry.writes, formats)?,
            tasks: tasks_json(&entry.tasks, formats)?,
            order: entry.order.clone(),
        })
    }

    fn stored(&self, checkpoint: CheckpointId) -> Result<EntryRecord, CheckpointError> {
        Ok(EntryRecord {
            checkpoint,
            writes: self.writes.payload()?,
            tasks: specs(&self.tasks)?,
            order: self.order.clone(),
        })
    }
}

impl PayloadJson {
    fn new(payload: &Payload, formats: &Formats) -> Result<Self, CheckpointError> {
        let encoded = payload.clone().encode(formats);
        let encoded = encoded.map_err(CheckpointError::storage)?;
        let value = formats.decode::<AnyValue>(&encoded);
        let AnyValue(value) = value.map_err(CheckpointError::storage)?;
        Ok(Self {
            version: encoded.version,
            value,
        })
    }

    fn payload(&self) -> Result<Payload, CheckpointError> {
        let bytes = Json.encode(&self.value).map_err(CheckpointError::storage)?;
        Ok(Encoded::new(Json.tag(), self.version, bytes).into())
    }
}

fn tasks_json(specs: &[TaskSpec], formats: &Formats) -> Result<Vec<TaskJson>, CheckpointError> {
    let tasks = specs.iter().map(|spec| {
        let (item, state) = match &spec.argument {
            None => (None, None),
            Some(TaskArgument::Item(item)) => (Some(PayloadJson::new(item, formats)?), None),
            Some(TaskArgument::State(state)) => (None, Some(PayloadJson::new(state, formats)?)),
        };
        Ok(TaskJson {
            node: NodeName::clone(&spec.node),
            item,
            state,
        })
    });
    tasks.collect()
}

fn specs(tasks: &[TaskJson]) -> Result<Vec<TaskSpec>, CheckpointError> {
    let specs = tasks.iter().map(|task| {
        let argument = match (&task.item, &task.state) {
            (Some(item), _) => Some(TaskArgument::Item(item.payload()?)),
            (None, Some(state)) => Some(TaskArgument::State(state.payload()?)),
            (None, None) => None,
        };
        Ok(TaskSpec::new(NodeName::clone(&task.node), argument))
    });
    specs.collect()
}
