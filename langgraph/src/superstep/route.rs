//! Routing after the commit.
//!
//! A task beside others has a view of its own: its routers see the snapshot with its writes, and are
//! asked as it ends. An only task, and all tasks of a map together, see the merged state; those of a
//! map are asked once.

use super::engine::Engine;
use crate::error::AgentError;
use crate::graph::targets::calls_routers;
use crate::state::State;
use crate::task::{TaskResult, call_routers};

impl<S: State> Engine<S> {
    /// Returns true if routers see the merged state: those of an only task, or of a map.
    #[inline]
    pub(super) fn must_route(&self) -> bool {
        match &*self.results {
            [_] => self.routes_on_merge(0),
            results => {
                let has_finished = |result| matches!(result, &TaskResult::Finished(_));
                self.position.plan.has_maps && results.iter().all(has_finished)
            }
        }
    }

    /// Asks the routers that see the merged state. A task is finished only when they have answered: if they fail or
    /// interrupt, that is its result. Returns true if they interrupt.
    ///
    /// # Errors
    ///
    /// If the end of a task cannot be stored that has not run alone.
    pub(super) async fn route(&mut self, ran_alone: bool) -> Result<bool, AgentError> {
        let is_alone = self.results.len() == 1;
        for index in self.routed_on_merge() {
            let (Some(task), Some(cx), Some(result)) = (
                self.frontier.tasks.get(index),
                self.contexts.get(index),
                self.results.get_mut(index),
            ) else {
                continue;
            };
            let position = &self.position;
            let routers = (task.node, position.plan.routers(task.node));
            let routing = call_routers(&position.plan, routers, &position.state, cx);
            let ended = match (routing.answers().await, &mut *result) {
                (Ok(routes), TaskResult::Finished(done)) => {
                    done.routes = routes;
                    continue;
                }
                (Ok(_), _) => continue,
                // Only the routers run again. The tasks of a map are stored as finished; so is the input.
                (Err(ended), TaskResult::Finished(done)) if is_alone && !task.node.is_start() => {
                    ended.after(Some(done.take()))
                }
                (Err(ended), _) => ended,
            };
            let waits = ended.is_interrupted();
            *result = ended;
            let ends = is_alone && !ran_alone || !is_alone && waits;
            if ends && self.observer.watches(position) {
                let ended = self
                    .observer
                    .task_ended(position, task, index, result, true);
                Box::pin(ended).await?;
            }
            return Ok(waits);
        }
        Ok(false)
    }

    fn routes_on_merge(&self, index: usize) -> bool {
        let (Some(task), Some(TaskResult::Finished(done))) =
            (self.frontier.tasks.get(index), self.results.get(index))
        else {
            return false;
        };
        done.routes.is_none() && calls_routers(&self.position.plan, task.node, &done.output.jump)
    }

    /// Returns the tasks whose routers see the merged state: an only task, and the last one of each map, which
    /// stands for all of them.
    fn routed_on_merge(&self) -> Vec<usize> {
        let tasks = &*self.frontier.tasks;
        let mut last: Vec<usize> = Vec::new();
        for (index, task) in tasks.iter().enumerate().rev() {
            let is_last =
                |last: &usize| tasks.get(*last).is_some_and(|last| last.node == task.node);
            let is_asked = tasks.len() == 1 || task.is_item_of(&self.position.plan);
            if is_asked && !last.iter().any(is_last) && self.routes_on_merge(index) {
                last.push(index);
            }
        }
        last.reverse();
        last
    }
}
