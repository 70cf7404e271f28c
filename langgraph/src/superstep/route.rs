//! Routing after the commit.
//!
//! A task beside others has a view of its own: its routers see the snapshot with its writes, and are
//! asked as it ends. An only task, and all tasks of a map together, see the merged state; those of a
//! map are asked once.

use super::commit::Merged;
use super::end::Stop;
use super::engine::Engine;
use crate::error::{AgentError, Panicked};
use crate::graph::routes::Routed;
use crate::graph::targets::calls_routers;
use crate::state::State;
use crate::task::{TaskResult, call_routers};

impl<S: State> Engine<S> {
    /// Returns true if routers see the merged state: those of an only task, or of a map.
    #[inline]
    pub(super) fn must_route(&self) -> bool {
        match self.frontier.tasks.len() {
            1 => self.routes_on_merge(0),
            _ => self.position.plan.has_maps,
        }
    }

    /// Asks the routers that see the merged state.
    pub(super) async fn route(&mut self, merged: Merged) -> Result<(), Stop> {
        if self.frontier.tasks.len() == 1 {
            return self.route_merged(0, merged).await;
        }
        for index in self.last_of_maps() {
            self.route_merged(index, merged).await?;
        }
        Ok(())
    }

    fn routes_on_merge(&self, index: usize) -> bool {
        let (Some(task), Some(TaskResult::Finished(done))) =
            (self.frontier.tasks.get(index), self.results.get(index))
        else {
            return false;
        };
        done.routes.is_none() && calls_routers(&self.position.plan, task.node, &done.output.jump)
    }

    /// Returns the last task of each map whose routers run: it stands for all of them.
    fn last_of_maps(&self) -> Vec<usize> {
        let mut nodes = Vec::new();
        let mut last = Vec::new();
        for (index, task) in self.frontier.tasks.iter().enumerate().rev() {
            if task.is_item_of(&self.position.plan)
                && !nodes.contains(&task.node)
                && self.routes_on_merge(index)
            {
                nodes.push(task.node);
                last.push(index);
            }
        }
        last.reverse();
        last
    }

    /// Asks the routers of a task. It is finished only when they have answered.
    async fn route_merged(&mut self, index: usize, merged: Merged) -> Result<(), Stop> {
        let (Some(task), Some(cx)) = (self.frontier.tasks.get(index), self.contexts.get(index))
        else {
            return Ok(());
        };
        let position = &self.position;
        let routing = call_routers(&position.plan, task.node, &position.state, cx);
        let routed = routing.answers().await;
        match self.routed(index, routed) {
            Ok(()) => Ok(()),
            Err(ended) => Err(Box::pin(self.not_routed(index, ended, merged)).await),
        }
    }

    /// Gives a task the answers of its routers, or returns how these have ended it.
    pub(super) fn routed(
        &mut self,
        index: usize,
        routed: Result<Routed<S>, TaskResult<S>>,
    ) -> Result<(), TaskResult<S>> {
        let routes = routed?;
        if let Some(TaskResult::Finished(done)) = self.results.get_mut(index) {
            done.routes = routes;
        }
        Ok(())
    }

    /// Ends the run at a task whose routers have failed or interrupted.
    pub(super) async fn not_routed(
        &mut self,
        index: usize,
        ended: TaskResult<S>,
        merged: Merged,
    ) -> Stop {
        let position = &self.position;
        let (Some(task), Some(ran)) = (self.frontier.tasks.get(index), self.results.get_mut(index))
        else {
            return AgentError::from(Panicked::lost()).into();
        };
        // The tasks of a map are stored as finished, and do not run again; so is the input.
        let is_stored = self.frontier.tasks.len() > 1;
        let done = match ran {
            TaskResult::Finished(done) if !is_stored && !task.node.is_start() => Some(done.take()),
            _ => None,
        };
        let mut result = ended.after(done);
        let is_stored = is_stored && matches!(result, TaskResult::Failed(_));
        if !is_stored && self.observer.watches(position) {
            let observer = &mut self.observer;
            let ended = observer.task_ended(position, task, index, &mut result, true);
            if let Err(error) = ended.await {
                return error.into();
            }
        }
        if let TaskResult::Failed(error) = result {
            return position.failure(task.node, error).into();
        }
        *ran = result;
        self.pause(merged).await
    }
}
