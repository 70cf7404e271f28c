//! A checkpoint with its records, as memory keeps it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::SystemTime;

use serde_json::Value;

use langgraph_topology::NodeName;

use super::task_records::TaskRecords;
use crate::checkpoint::{
    Base, CheckpointRecord, EntryRecord, Few, Fold, FollowedRecord, JoinRecord, ListOptions,
    Payload, Source, StatePart, Stored, TaskRecord, TaskSpec,
};
use crate::checkpoint_id::CheckpointId;

/// A checkpoint with its records. Most have one task with one record, which need no allocation.
#[derive(Clone)]
pub(super) struct Record {
    id: CheckpointId,
    parent: Option<CheckpointId>,
    base: Option<Base>,
    step: i64,
    source: Source,
    created_at: SystemTime,
    since_snapshot: usize,
    log_bytes: u64,
    measure_at: u64,
    metadata: Arc<BTreeMap<String, Value>>,
    graph: u64,
    pauses: bool,
    specs: Few<TaskSpec>,
    tasks: TaskRecords,
    rare: Option<Box<Rare>>,
}

/// What few checkpoints have.
#[derive(Clone, Default)]
struct Rare {
    joins: Vec<JoinRecord>,
    deferred: Vec<NodeName>,
    followed: Vec<FollowedRecord>,
    snapshot: Option<Payload>,
    ran: Vec<NodeName>,
    joined: Vec<NodeName>,
    call: Option<Arc<str>>,
    entries: Vec<EntryRecord>,
}

impl Rare {
    /// Takes what the checkpoint has of it, if it has any.
    fn take(from: &mut CheckpointRecord) -> Option<Box<Self>> {
        let is_plain = from.joins.is_empty()
            && from.deferred.is_empty()
            && from.followed.is_empty()
            && from.snapshot.is_none()
            && from.ran.is_empty()
            && from.joined.is_empty()
            && from.call.is_none();
        let taken = || Self {
            joins: std::mem::take(&mut from.joins),
            deferred: std::mem::take(&mut from.deferred),
            followed: std::mem::take(&mut from.followed),
            snapshot: from.snapshot.take(),
            ran: std::mem::take(&mut from.ran),
            joined: std::mem::take(&mut from.joined),
            call: from.call.take(),
            entries: Vec::new(),
        };
        (!is_plain).then(taken).map(Box::new)
    }
}

impl Record {
    /// Takes what the checkpoint holds.
    #[inline]
    pub(super) fn take(from: &mut CheckpointRecord) -> Self {
        Self {
            id: from.id,
            parent: from.parent,
            base: from.base,
            step: from.step,
            source: from.source,
            created_at: from.created_at,
            since_snapshot: from.since_snapshot,
            log_bytes: from.log_bytes,
            measure_at: from.measure_at,
            metadata: Arc::clone(&from.metadata),
            graph: from.graph,
            pauses: from.pauses,
            specs: std::mem::take(&mut from.tasks),
            tasks: TaskRecords::new(),
            rare: Rare::take(from),
        }
    }

    pub(super) fn id(&self) -> CheckpointId {
        self.id
    }

    pub(super) fn add_task(&mut self, task: &mut TaskRecord) {
        self.tasks.push(task);
    }

    pub(super) fn add_entry(&mut self, entry: EntryRecord) {
        self.rare.get_or_insert_default().entries.push(entry);
    }

    pub(super) fn fold(&mut self, fold: Fold) {
        let rare = self.rare.get_or_insert_default();
        rare.snapshot = Some(fold.snapshot);
        rare.ran = fold.ran;
        rare.joined = fold.joined;
        self.since_snapshot = 0;
    }

    pub(super) fn is_wanted(&self, options: &ListOptions) -> bool {
        options.wants(self.id, self.step, self.source, &self.metadata)
    }

    fn has_snapshot(&self) -> bool {
        let rare = self.rare.as_ref();
        rare.is_some_and(|rare| rare.snapshot.is_some())
    }

    fn entries(&self) -> &[EntryRecord] {
        self.rare.as_ref().map_or(&[], |rare| &rare.entries)
    }

    /// Returns what the state is based on, if there is no snapshot.
    pub(super) fn needed_base(&self) -> Option<Base> {
        self.base.filter(|_| !self.has_snapshot())
    }

    /// Returns the number of records beside the checkpoint.
    pub(super) fn len(&self) -> usize {
        self.tasks.len() + self.entries().len()
    }

    pub(super) fn to_stored(&self) -> Stored {
        let rare = self.rare.as_deref().cloned().unwrap_or_default();
        Stored {
            checkpoint: CheckpointRecord {
                id: self.id,
                parent: self.parent,
                base: self.base,
                step: self.step,
                source: self.source,
                created_at: self.created_at,
                tasks: self.specs.clone(),
                joins: rare.joins,
                deferred: rare.deferred,
                followed: rare.followed,
                snapshot: rare.snapshot,
                since_snapshot: self.since_snapshot,
                log_bytes: self.log_bytes,
                measure_at: self.measure_at,
                ran: rare.ran,
                joined: rare.joined,
                metadata: Arc::clone(&self.metadata),
                graph: self.graph,
                call: rare.call,
                pauses: self.pauses,
            },
            tasks: self.tasks.to_vec(self.id),
            entries: rare.entries,
        }
    }

    /// See [`StatePart::visit_each`].
    pub(super) fn visit_parts(&self, with_tasks: bool, visit: &mut dyn FnMut(StatePart)) {
        // The usual record, without a copy of what else it has.
        if let ([_], TaskRecords::Finished(done)) = (&*self.specs, &self.tasks)
            && with_tasks
            && !self.has_snapshot()
            && self.entries().is_empty()
        {
            return visit(StatePart::Task(done.clone()));
        }
        StatePart::visit_each(&self.to_stored(), with_tasks, visit);
    }
}
