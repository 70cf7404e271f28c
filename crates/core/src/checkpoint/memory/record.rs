//! A checkpoint with its records, as memory keeps it.

use std::sync::Arc;
use std::time::SystemTime;

use langgraph_topology::NodeName;

use super::task_records::TaskRecords;
use crate::checkpoint::{
    Base, CheckpointRecord, EntryRecord, Few, Fold, FollowedRecord, Link, ListOptions,
    PayloadValue, Source, StatePart, Stored, TaskRecord, TaskSpec,
};
use crate::checkpoint_id::CheckpointId;

/// A checkpoint with its records.
#[derive(Clone)]
pub(super) struct Record {
    id: CheckpointId,
    tasks: TaskRecords,
    /// The checkpoint, or the last whole one before it as that was then.
    whole: Arc<Whole>,
    /// What a link has of its own.
    link: Option<OwnPart>,
}

/// A checkpoint as it was stored, and its updates from outside.
#[derive(Clone)]
pub(super) struct Whole {
    checkpoint: CheckpointRecord,
    entries: Vec<EntryRecord>,
}

impl Whole {
    fn new(checkpoint: CheckpointRecord) -> Arc<Self> {
        Arc::new(Self {
            checkpoint,
            entries: Vec::new(),
        })
    }
}

/// What a [`Link`] has of its own.
#[derive(Clone)]
struct OwnPart {
    before: CheckpointId,
    created_at: SystemTime,
    next: NodeName,
    followed: Box<[FollowedRecord]>,
    /// How many links follow the whole checkpoint, up to this one.
    distance: u32,
}

impl OwnPart {
    fn base(&self) -> Base {
        Base {
            id: self.before,
            with_tasks: true,
        }
    }

    fn step(&self, whole: &Whole) -> i64 {
        whole.checkpoint.step + i64::from(self.distance)
    }

    fn to_checkpoint(&self, id: CheckpointId, whole: &Whole) -> CheckpointRecord {
        let from = &whole.checkpoint;
        CheckpointRecord {
            id,
            parent: Some(self.before),
            base: Some(self.base()),
            step: self.step(whole),
            source: Source::Loop,
            created_at: self.created_at,
            tasks: Few::one(TaskSpec::new(Arc::clone(&self.next), None)),
            joins: Vec::new(),
            deferred: Vec::new(),
            followed: self.followed.to_vec(),
            snapshot: None,
            since_snapshot: from.since_snapshot + self.distance as usize,
            log_bytes: from.log_bytes,
            measure_at: from.measure_at,
            ran: Vec::new(),
            joined: Vec::new(),
            metadata: Arc::clone(&from.metadata),
            graph: from.graph,
            call: from.call.clone(),
            pauses: false,
        }
    }
}

impl Record {
    pub(super) fn new(checkpoint: CheckpointRecord) -> Self {
        Self {
            id: checkpoint.id,
            tasks: TaskRecords::new(),
            whole: Whole::new(checkpoint),
            link: None,
        }
    }

    /// Returns a link behind `before`, which is that many links behind the whole checkpoint.
    pub(super) fn of_link(
        whole: &Arc<Whole>,
        (before, distance): (CheckpointId, u32),
        link: Link,
        tasks: TaskRecords,
    ) -> Self {
        Self {
            id: link.id,
            tasks,
            whole: Arc::clone(whole),
            link: Some(OwnPart {
                before,
                created_at: link.created_at,
                next: link.next,
                followed: link.followed,
                distance: distance + 1,
            }),
        }
    }

    /// Adds what the checkpoint's only task wrote.
    pub(super) fn finish(&mut self, done: PayloadValue) {
        self.tasks.push_finished(self.id, done);
    }

    /// Returns the last whole checkpoint, and how many links follow it, up to this one.
    pub(super) fn whole(&self) -> (&Arc<Whole>, u32) {
        let distance = self.link.as_ref().map_or(0, |link| link.distance);
        (&self.whole, distance)
    }

    pub(super) fn id(&self) -> CheckpointId {
        self.id
    }

    pub(super) fn add_task(&mut self, task: &mut TaskRecord) {
        self.tasks.push(task);
    }

    pub(super) fn add_entry(&mut self, entry: EntryRecord) {
        self.whole_mut().entries.push(entry);
    }

    /// Drops all records about tasks and updates from outside but the first ones, up to these numbers.
    pub(super) fn truncate(&mut self, tasks: usize, entries: usize) {
        self.tasks.truncate(tasks);
        if self.entries().len() > entries {
            self.whole_mut().entries.truncate(entries);
        }
    }

    pub(super) fn fold(&mut self, fold: Fold) {
        let checkpoint = &mut self.whole_mut().checkpoint;
        checkpoint.snapshot = Some(fold.snapshot);
        checkpoint.ran = fold.ran;
        checkpoint.joined = fold.joined;
        checkpoint.since_snapshot = 0;
    }

    /// Returns the whole checkpoint, to change it. The links behind it keep the one that they share.
    fn whole_mut(&mut self) -> &mut Whole {
        if let Some(link) = self.link.take() {
            self.whole = Whole::new(link.to_checkpoint(self.id, &self.whole));
        }
        Arc::make_mut(&mut self.whole)
    }

    pub(super) fn is_wanted(&self, options: &ListOptions) -> bool {
        let shared = &self.whole.checkpoint;
        let (step, source) = match &self.link {
            Some(link) => (link.step(&self.whole), Source::Loop),
            None => (shared.step, shared.source),
        };
        options.wants(self.id, step, source, &shared.metadata)
    }

    fn has_snapshot(&self) -> bool {
        self.link.is_none() && self.whole.checkpoint.snapshot.is_some()
    }

    fn has_one_task(&self) -> bool {
        self.link.is_some() || self.whole.checkpoint.tasks.len() == 1
    }

    fn entries(&self) -> &[EntryRecord] {
        match self.link {
            Some(_) => &[],
            None => &self.whole.entries,
        }
    }

    /// Returns what the state is based on, if there is no snapshot.
    pub(super) fn needed_base(&self) -> Option<Base> {
        match &self.link {
            Some(link) => Some(link.base()),
            None => self.whole.checkpoint.base.filter(|_| !self.has_snapshot()),
        }
    }

    /// Returns the number of records beside the checkpoint.
    pub(super) fn len(&self) -> usize {
        self.tasks.len() + self.entries().len()
    }

    pub(super) fn to_stored(&self) -> Stored {
        Stored {
            checkpoint: match &self.link {
                Some(link) => link.to_checkpoint(self.id, &self.whole),
                None => self.whole.checkpoint.clone(),
            },
            tasks: self.tasks.to_vec(self.id),
            entries: self.entries().to_vec(),
        }
    }

    /// See [`StatePart::visit_each`].
    pub(super) fn visit_parts(&self, with_tasks: bool, visit: &mut dyn FnMut(StatePart)) {
        // The usual record, without a copy of what else it has.
        if let TaskRecords::Finished(done) = &self.tasks
            && self.has_one_task()
            && with_tasks
            && !self.has_snapshot()
            && self.entries().is_empty()
        {
            return visit(StatePart::Task(done.clone().into()));
        }
        StatePart::visit_each(&self.to_stored(), with_tasks, visit);
    }
}
