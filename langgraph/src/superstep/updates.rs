//! Supersteps whose results are given: updates from outside.

use std::sync::Arc;

use super::Engine;
use crate::error::{AgentError, CheckpointError};
use crate::graph::targets::calls_routers;
use crate::node::{Context, Jump, NodeId};
use crate::state::{State, Write};
use crate::task::{Changes, Finished, Task, TaskResult, Writer, route_on_view};

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
        self.frontier.keep(&self.position.plan, stays);
        for (node, done) in updates {
            let done = self.route_update(node, done).await?;
            self.frontier.tasks.push(Task::by_edge(node));
            self.results.push(TaskResult::Finished(done));
        }
        self.changes = Some(Changes::default());
        // A kept input conflicts with nothing.
        let several = self.results.len() > 1;
        let committed = self.commit(|node| match Writer::from(node) {
            Writer::Start if several => Writer::Start,
            _ => Writer::External,
        });
        let written = self.changes.take().unwrap_or_default().into_writes();
        let advanced = committed.and_then(|_| self.advance());
        advanced.map_err(|stop| match stop.into_end() {
            Err(error) => error,
            Ok(_) => refused("the graph ended"),
        })?;
        Ok(written.into_vec())
    }

    /// Asks the routers of an update, unless its routes are known.
    async fn route_update(
        &self,
        node: NodeId,
        mut done: Finished<S>,
    ) -> Result<Finished<S>, AgentError> {
        let plan = &self.position.plan;
        if matches!(done.output.jump, Jump::Parent(_)) {
            // From outside there is no parent.
            done.output.jump = Jump::End;
        }
        if !done.routes.is_none() || !calls_routers(plan, node, &done.output.jump) {
            return Ok(done);
        }
        let scope = Arc::clone(&self.position.scope);
        let cx = Context::new(scope, self.position.shown_step(), self.budget.taken, node);
        match route_on_view(&self.position, node, &cx, done).await {
            TaskResult::Finished(done) => Ok(done),
            TaskResult::Failed(error) => Err(self.position.failure(node, error)),
            TaskResult::Interrupted(_) => Err(refused(format!(
                "a router of `{}` interrupts, and an update from outside cannot wait for the answer; say where to go with `Command::goto(..)`",
                plan.name(node)
            ))),
        }
    }
}

fn refused(reason: impl Into<String>) -> AgentError {
    CheckpointError::InvalidUpdate(reason.into()).into()
}
