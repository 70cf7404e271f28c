//! How much storage a thread takes.

use std::collections::{BTreeMap, HashSet};

use axum::Json;
use langgraph::checkpoint::{
    CheckpointId, ListOptions, Payload, StorageUsage, Stored, TaskOutcome,
};
use langgraph::error::CheckpointError;
use serde::Serialize;
use serde_json::{Value, json};

use super::address::Path;
use crate::error::ApiResult;
use crate::guard::Access;
use crate::threads::find;

/// The values of a channel in the records of a thread: writes, and their parts of snapshots.
#[derive(Default, Serialize)]
struct Channel {
    versions: u64,
    bytes: u64,
}

#[derive(Default, Serialize)]
struct Section {
    count: u64,
    bytes: u64,
}

impl Section {
    fn add(&mut self, bytes: u64) {
        self.count += 1;
        self.bytes += bytes;
    }
}

/// The values in the records of a thread.
#[derive(Default)]
struct StoredValues {
    channels: BTreeMap<String, Channel>,
    /// Writes of tasks of the newest superstep.
    pending: Section,
}

/// Returns the bytes of a thread's records. What is no value of a channel and no pending write counts as
/// checkpoints.
pub(super) async fn read(app: Access, Path(id): Path<String>) -> ApiResult<Json<Value>> {
    let thread = find(&app, &id).await?.thread_id;
    let saver = app.saver.plain();
    let administration = saver.administration_for("the storage of a thread")?;
    let (usage, logs) = match administration.usage(&thread).await {
        // Nothing has run there.
        Err(CheckpointError::UnknownThread(_)) => (StorageUsage::default(), Vec::new()),
        usage => (usage?, administration.logs(&thread).await?),
    };
    let mut values = StoredValues::default();
    for log in logs {
        let ids = saver.list(&log, ListOptions::new()).await?;
        let head = ids.first().copied();
        let mut seen: HashSet<CheckpointId> = HashSet::with_capacity(ids.len());
        for id in ids {
            if seen.contains(&id) {
                continue;
            }
            let chain = saver.load(&log, Some(id)).await?;
            for stored in chain.iter().flat_map(|chain| &chain.records) {
                if seen.insert(stored.checkpoint.id) {
                    values.read(stored, head == Some(stored.checkpoint.id));
                }
            }
        }
    }
    let count: u64 = values.channels.values().map(|one| one.versions).sum();
    let bytes: u64 = values.channels.values().map(|one| one.bytes).sum();
    let rest = usage.bytes.saturating_sub(bytes + values.pending.bytes);
    Ok(Json(json!({
        "thread_id": thread,
        "total_bytes": rest + bytes + values.pending.bytes,
        "checkpoints": {"count": usage.checkpoints, "bytes": rest},
        "channel_values": {"count": count, "bytes": bytes, "by_channel": values.channels},
        "pending_writes": values.pending,
        "logs": usage.logs,
        "records": usage.records,
    })))
}

impl StoredValues {
    fn read(&mut self, stored: &Stored, is_head: bool) {
        if let Some(state) = stored.checkpoint.snapshot.as_ref().and_then(json_of) {
            self.add(&state);
        }
        for task in &stored.tasks {
            let Some(TaskOutcome::Finished(output) | TaskOutcome::Ran(output)) = &task.outcome
            else {
                continue;
            };
            for update in updates(output) {
                if is_head {
                    fields(&update, |_, bytes| self.pending.add(bytes));
                } else {
                    self.add(&update);
                }
            }
        }
        for entry in &stored.entries {
            for update in updates(&entry.writes) {
                self.add(&update);
            }
        }
    }

    fn add(&mut self, values: &Value) {
        fields(values, |name, bytes| {
            let channel = self.channels.entry(name.to_owned()).or_default();
            channel.versions += 1;
            channel.bytes += bytes;
        });
    }
}

/// Calls `each` with every field and its bytes; a state that is no object is the field `__root__`.
fn fields(values: &Value, mut each: impl FnMut(&str, u64)) {
    let size = |value: &Value| value.to_string().len() as u64;
    match values {
        Value::Object(fields) => fields
            .iter()
            .for_each(|(name, value)| each(name, size(value))),
        value => each("__root__", size(value)),
    }
}

/// Returns the updates in the output of a task.
fn updates(output: &Payload) -> Vec<Value> {
    let Some(mut output) = json_of(output) else {
        return Vec::new();
    };
    let writes = output["writes"].take();
    let Value::Array(writes) = writes else {
        return Vec::new();
    };
    let updates = writes.into_iter();
    updates
        .filter_map(|mut write| Some(write.get_mut("update")?.take()))
        .collect()
}

fn json_of(payload: &Payload) -> Option<Value> {
    match payload {
        Payload::Bytes(encoded) => serde_json::from_slice(&encoded.bytes).ok(),
        _ => None,
    }
}
