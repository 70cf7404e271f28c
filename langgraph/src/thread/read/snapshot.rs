//! Snapshots of a thread.

use std::sync::Arc;

use crate::checkpoint::{Snapshot, TaskSnapshot, UnfilledJoin};
use crate::graph::plan::Plan;
use crate::graph::{NodeName, START};
use crate::state::{State, Writes};
use crate::superstep::Commit;
use crate::task::{TaskResult, Writer};
use crate::thread::loaded::Loaded;
use crate::thread::task_state::TaskState;

/// Returns the writes of finished tasks, in order.
fn finished<'a, S: State>(
    plan: &Plan<S>,
    tasks: impl IntoIterator<Item = &'a TaskState<S>>,
) -> Vec<(Writer, Writes<S>)> {
    let writes = |task: &TaskState<S>| match (&task.result, &task.ran) {
        (Some(TaskResult::Finished(done)), _) | (_, Some(done)) => Some((
            plan.stored_node(&task.node)
                .map_or(Writer::External, Writer::from),
            done.output.writes.clone(),
        )),
        _ => None,
    };
    tasks.into_iter().filter_map(writes).collect()
}

impl<S: State> Loaded<S> {
    /// Returns the current snapshot, with the writes of finished tasks of an unfinished superstep.
    pub(in crate::thread) fn live(mut self, plan: &Plan<S>, namespace: &[NodeName]) -> Snapshot<S> {
        let is_part = |task: &&TaskState<S>| !task.joined_in || task.kept_input;
        let tasks: Vec<_> = self.tasks.iter().filter(is_part).collect();
        let known = tasks
            .iter()
            .filter(|task| self.has_run(task) || task.ran.is_some());
        let writes = finished(plan, known.copied());
        if !writes.is_empty() && !self.tasks.iter().all(|task| self.has_run(task)) {
            let mut state = Arc::clone(&self.state);
            let mut written = self.written.clone();
            let mut commit = Commit {
                plan,
                state: &mut state,
                written: Some(&mut written),
                changes: None,
                observed: false,
            };
            // Conflicting writes are not shown; they are not committed yet.
            if commit.superstep(writes).is_ok() {
                // Ephemeral values become visible after the superstep.
                let ephemeral = &plan.fields.ephemeral;
                if !ephemeral.is_empty() {
                    Arc::make_mut(&mut state).reset(ephemeral);
                    written.remove(ephemeral);
                }
                self.state = state;
                self.written = written;
            }
        }
        self.show(false, namespace)
    }

    /// Returns true if the task has finished. The input that a run begins with is stored before it is used: it has only
    /// if a checkpoint follows, or if other tasks of its superstep have run.
    pub(in crate::thread) fn has_run(&self, task: &TaskState<S>) -> bool {
        let is_input = &*task.node == START && !task.kept_input;
        let waits = is_input && self.is_head() && !self.tasks.iter().any(TaskState::has_ended);
        task.is_finished() && !waits
    }

    /// Returns the checkpoint as it was saved.
    pub(in crate::thread) fn saved(self, namespace: &[NodeName]) -> Snapshot<S> {
        self.show(true, namespace)
    }

    /// Returns the joins that wait: those that subgraphs have left, then the graph's own.
    fn unfilled_joins(&self, all: bool, namespace: &[NodeName]) -> Vec<UnfilledJoin> {
        let mut records = self.left_joins(!all);
        for join in &self.stored.checkpoint.joins {
            if join.namespace.is_empty() {
                records.push(join);
            }
        }
        let mut joins = Vec::new();
        for join in records {
            let join = UnfilledJoin::stored(namespace, join);
            if !joins.contains(&join) {
                joins.push(join);
            }
        }
        joins
    }

    fn show(self, all: bool, namespace: &[NodeName]) -> Snapshot<S> {
        let have_run: Vec<_> = self.tasks.iter().map(|task| self.has_run(task)).collect();
        let joins = self.unfilled_joins(all, namespace);
        let checkpoint = self.stored.checkpoint;
        let base = checkpoint.id.to_string();
        // If all tasks have finished and no checkpoint follows, the superstep runs again.
        let whole = all || have_run.iter().all(|has_run| *has_run);
        let mut snapshot = Snapshot {
            id: checkpoint.id,
            parent: checkpoint.parent,
            values: Arc::unwrap_or_clone(self.state),
            written: self.written.fields(),
            next: Vec::new(),
            step: checkpoint.step,
            source: checkpoint.source,
            created_at: checkpoint.created_at,
            interrupts: Vec::new(),
            tasks: Vec::new(),
            unfilled_joins: joins,
            metadata: Arc::unwrap_or_clone(checkpoint.metadata),
        };
        for ((index, task), has_run) in self.tasks.into_iter().enumerate().zip(have_run) {
            // It is not part of the checkpoint, but its interrupts must be shown.
            if task.joined_in && (all || task.asked.is_none()) {
                continue;
            }
            if whole || !has_run {
                snapshot.next.push(Arc::clone(&task.node));
            }
            let interrupts = task.questions(&base, index, namespace, all);
            snapshot.interrupts.extend(interrupts.iter().cloned());
            let (result, error) = match task.result {
                _ if task.routing_error.is_some() => (None, task.routing_error),
                Some(TaskResult::Finished(_)) if !has_run => (None, None),
                Some(TaskResult::Finished(done)) => (Some(done.output.writes.into_vec()), None),
                Some(TaskResult::Failed(error)) => (None, Some(error.to_string())),
                _ => (None, None),
            };
            snapshot.tasks.push(TaskSnapshot {
                node: task.node,
                sent: task.argument.is_some(),
                result,
                error,
                interrupts,
                inside: task.inside,
            });
        }
        snapshot
    }
}
