//! Supersteps whose results are given: updates from outside.

use super::Engine;
use super::end::Stop;
use crate::checkpoint::Few;
use crate::error::{AgentError, CheckpointError};
use crate::node::{Jump, NodeId};
use crate::state::{State, Write};
use crate::task::{Changes, Finished, Task, TaskResult, Writer, route_on_view, routes_on_view};

impl<S: State> Engine<S> {
    /// Commits results as a superstep, and goes on to the tasks that follow them; current tasks for
    /// which `stays` holds stay pending beside these. Returns what was written.
    ///
    /// # Errors
    ///
    /// If the writes conflict, or a router interrupts: an update from outside cannot wait.
    pub(crate) async fn apply_updates(
        &mut self,
        updates: Vec<(NodeId, Finished<S>)>,
        stays: impl Fn(&Task<S>) -> bool,
    ) -> Result<Vec<Write<S>>, AgentError> {
        self.position.step += 1;
        self.frontier.keep(stays);
        for (node, mut done) in updates {
            if matches!(done.output.jump, Jump::Parent(_)) {
                // From outside there is no parent.
                done.output.jump = Jump::End;
            }
            self.frontier.tasks.push(Task::by_edge(node));
            self.results.push(done.into());
        }
        // Without a place in the log, in which a router could store something.
        self.contexts = self.new_contexts();
        self.changes = Some(Changes::default());
        let committed = self.commit_updates().await;
        let written = self.changes.take().unwrap_or_default().into_writes();
        self.contexts = Few::default();
        committed.map_err(|stop| match stop.into_end() {
            Err(error) => error,
            Ok(_) => refused("the graph ended"),
        })?;
        Ok(written.into_vec())
    }

    async fn commit_updates(&mut self) -> Result<(), Stop> {
        let (plan, several) = (&self.position.plan, self.results.len() > 1);
        let tasks = self.frontier.tasks.iter().zip(&self.contexts);
        for ((task, cx), result) in tasks.zip(&mut self.results) {
            if let TaskResult::Finished(done) = result
                && several
                && !plan.is_mapped(task.node)
                && routes_on_view(plan, task, done)
            {
                let done = done.take();
                *result = route_on_view(&self.position, task.node, cx, done).await;
            }
        }
        // A kept input conflicts with nothing.
        self.commit(|node| match Writer::from(node) {
            Writer::Start if several => Writer::Start,
            _ => Writer::External,
        })?;
        self.route().await;
        self.check_failed()?;
        let mut tasks = self.frontier.tasks.iter().zip(&self.results);
        if let Some((task, _)) = tasks.find(|(_, result)| result.is_interrupted()) {
            let reason = format!(
                "a router of `{}` interrupts, and an update from outside cannot wait for the answer; say where to go with `Command::goto(..)`",
                self.position.plan.name(task.node)
            );
            return Err(refused(reason).into());
        }
        self.advance()
    }
}

fn refused(reason: impl Into<String>) -> AgentError {
    CheckpointError::InvalidUpdate(reason.into()).into()
}
