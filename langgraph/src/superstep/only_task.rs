//! The end of a superstep's only task, as it is stored and emitted.

use super::Engine;
use super::end::Stop;
use crate::error::AgentError;
use crate::node::Output;
use crate::state::State;
use crate::stream::Sending;
use crate::task::{Finished, TaskResult};

impl<S: State> Engine<S> {
    /// Holds the output of an only task that has finished: it counts only when its writes are merged
    /// and its routers have answered. The output is copied only if it is stored or read.
    pub(super) fn hold_finished(&mut self) -> bool {
        let Some(TaskResult::Finished(done)) = self.results.first() else {
            return false;
        };
        // Before the merge, after which no message is new.
        let messages = self.position.new_messages(Some(done));
        let held = if self.observer.keeps_output(&self.position) {
            done.clone()
        } else {
            Finished::new(Output::none())
        };
        self.unrecorded = Some((held, messages));
        true
    }

    /// Stores and emits the success of an only task.
    pub(super) fn only_task_finished(&mut self) -> Result<Sending<'_>, AgentError> {
        let (Some(task), Some(held)) = (self.frontier.tasks.first(), &mut self.unrecorded) else {
            return Ok(Sending::default());
        };
        let sent = self
            .observer
            .only_task_finished(&self.position, task, held)?;
        self.unrecorded = None;
        Ok(sent)
    }

    /// Emits how far the map of an only task is.
    pub(super) fn only_task_progress(&mut self) -> Sending<'_> {
        let task = self.frontier.tasks.first();
        let progress = task.and_then(|task| self.observer.progress_of(task, false));
        progress.map_or_else(Sending::default, |map| self.position.emit_progress(&map))
    }

    /// Stores and emits the interrupts or the failure of an only task.
    pub(super) async fn only_task_ended(&mut self) -> Result<(), Stop> {
        if let (Some(task), Some(result)) = (self.frontier.tasks.first(), self.results.first_mut())
        {
            let position = &self.position;
            let messages = position.new_messages(result.finished());
            let ended = self
                .observer
                .task_ended(position, task, 0, result, messages, true);
            ended.await?;
        }
        Ok(())
    }
}
