//! Supersteps of several tasks: side by side on one snapshot, committed in task order.

use std::sync::Arc;

use super::end::End;
use super::ended::Ended;
use super::machine::Machine;
use super::panic::Panicked;
use crate::AgentError;
use crate::graph::plan::Plan;
use crate::node::Jump;
use crate::state::State;

impl<S: State> Machine<S> {
    /// A superstep of several tasks: side by side on one snapshot, committed in task order.
    pub(crate) async fn several(&mut self, plan: &Plan<S>) -> Result<Option<End>, AgentError> {
        let tasks = std::mem::take(&mut self.frontier);
        let known = tasks.iter().all(|task| task.prior().is_some());
        // Merging may stop half way through a superstep that an earlier run left behind.
        let untouched = known.then(|| Arc::clone(&self.state));
        let members = self.execute(tasks).await?;
        let mut paused = false;
        let mut refused = None;
        let mut interrupts = Vec::new();
        let mut tasks = Vec::with_capacity(members.len());
        let mut writes = Vec::with_capacity(members.len());
        let mut directions = Vec::with_capacity(members.len());
        let mut failed = None;
        for (index, member) in members.into_iter().enumerate() {
            let (task, ended) = member.into_parts();
            match ended.unwrap_or_else(|| Ended::Failed(Panicked::lost().into())) {
                Ended::Finished(done) => {
                    writes.push((task.node, done.output.writes));
                    directions.push((task.node, done.output.jump, done.routes));
                }
                Ended::Asked {
                    questions,
                    ran,
                    refused: bad,
                } => {
                    paused = true;
                    if let (None, Some(error)) = (&refused, bad) {
                        refused = Some(self.failure(task.node, error));
                    }
                    writes.extend(ran.map(|done| (task.node, done.output.writes)));
                    interrupts.extend(self.interrupts(&task, index, questions));
                }
                Ended::Failed(error) => {
                    failed.get_or_insert((task.node, error));
                }
            }
            tasks.push(task);
        }
        if let Some((node, error)) = failed {
            self.frontier = tasks;
            return Err(self.failure(node, error));
        }
        let wrote = match (self.commit().all(writes), untouched) {
            (Ok(wrote), _) => wrote,
            // What was left behind does not fit together: its tasks run again.
            (Err(_), Some(untouched))
                if !paused && tasks.iter().any(|task| !self.is_start(task)) =>
            {
                self.state = untouched;
                self.frontier = tasks;
                return Box::pin(self.several(plan)).await;
            }
            (Err(error), _) => {
                self.frontier = tasks;
                return Err(error.into());
            }
        };
        // A command to the graph around ends this one: nobody waits for what its siblings have asked.
        let leaves = |(_, jump, _): &(_, Jump<S>, _)| matches!(jump, Jump::Parent(_));
        if paused && !directions.iter().any(leaves) {
            // The superstep is not over: what has finished is shown, and waits for the others.
            self.frontier = tasks;
            if wrote {
                self.tell_values().await;
            }
            return Ok(Some(End::paused(interrupts, refused)));
        }
        for (node, jump, routes) in directions {
            match jump {
                Jump::Parent(parent) => return Ok(Some(End::Parent(parent))),
                jump => self.follow(plan, node, jump, routes)?,
            }
        }
        self.settle();
        if self.watched() {
            self.conclude(wrote).await?;
        }
        Ok(None)
    }
}
