//! Pauses: what a paused run shows.

use std::sync::atomic::Ordering;

use super::commit::Merged;
use super::end::{End, Stop};
use super::engine::Engine;
use crate::state::State;
use crate::task::{TaskResult, Writer};

impl<S: State> Engine<S> {
    /// Ends the run at the interrupts of its tasks. Finished tasks are shown, and wait for the others.
    pub(super) fn pause(&mut self, merged: Merged) -> Stop {
        let mut interrupts = Vec::new();
        let mut refused = None;
        let mut shows_writes = false;
        let tasks = std::mem::take(&mut self.frontier.tasks).into_iter();
        for (index, (task, result)) in tasks.zip(self.results.drain(..)).enumerate() {
            let TaskResult::Interrupted(open) = result else {
                shows_writes = true;
                continue;
            };
            shows_writes |= open.ran.is_some();
            self.breakpoints.goes_on |= open.interrupts.again || !open.interrupts.is_open();
            let shown = self
                .observer
                .interrupts(&self.position, &task, index, open.interrupts);
            interrupts.extend(shown);
            let error = open.refused;
            refused = refused.or(error.map(|error| self.position.failure(task.node, error)));
            self.frontier.tasks.push(task);
        }
        if shows_writes {
            // Those that were written become visible after the superstep.
            self.position.reset_ephemeral();
        }
        // A subgraph runs again from here: its values count when its superstep has ended.
        if merged.wrote && !self.position.is_subgraph() {
            self.position.emit_values();
        }
        if interrupts.is_empty() {
            self.position.emit_breakpoint();
        }
        End::Paused(interrupts, refused.map(Box::new)).into()
    }

    pub(super) fn pause_at_breakpoint(&mut self) -> Stop {
        let shared = &self.position.scope.shared;
        shared.at_breakpoint.store(true, Ordering::Relaxed);
        self.pause_between_supersteps()
    }

    pub(super) fn pause_between_supersteps(&mut self) -> Stop {
        self.breakpoints.goes_on = true;
        self.show_finished();
        self.position.emit_breakpoint();
        End::Paused(Vec::new(), None).into()
    }

    /// Shows what tasks of the superstep have finished in an earlier run.
    fn show_finished(&mut self) {
        let tasks = &self.frontier.tasks;
        let order = self.frontier.merge_order(tasks.len());
        let tasks = order.filter_map(|index| Some((index, tasks.get(index)?)));
        let known = tasks.filter(|(index, task)| *index > 0 || !task.node.is_start());
        let writes: Vec<_> = known
            .filter_map(|(_, task)| {
                let finished = task.result().and_then(TaskResult::finished);
                let writes = finished.or(task.ran())?.output.writes.clone();
                Some((Writer::from(task.node), writes))
            })
            .collect();
        if writes.is_empty() {
            return;
        }
        let before = self.position.tracked_state();
        // Conflicting writes are not shown; they are not committed yet.
        if self.commit_to_state().superstep(writes).is_err() {
            self.position.restore(before);
        } else {
            self.position.reset_ephemeral();
        }
    }
}
