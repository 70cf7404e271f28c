//! Routing after the commit.
//!
//! A task beside others has a view of its own: its routers see the snapshot with its writes, and are
//! asked as it ends. An only task, and all tasks of a map together, see the merged state; those of a
//! map are asked once.

use super::engine::Engine;
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
    /// interrupt, that is its result. Returns the index of that task.
    pub(super) async fn route(&mut self) -> Option<usize> {
        let is_alone = self.results.len() == 1;
        for index in self.routed_on_merge() {
            let (Some(task), Some(cx), Some(result)) = (
                self.frontier.tasks.get(index),
                self.contexts.get(index),
                self.results.get_mut(index),
            ) else {
                continue;
            };
            let (plan, state) = (&*self.position.plan, &*self.position.state);
            let routing = call_routers(plan, (task.node, plan.routers(task.node)), state, cx);
            match (routing.answers().await, &mut *result) {
                (Ok(routes), TaskResult::Finished(done)) => done.routes = routes,
                (Err(ended), TaskResult::Finished(done)) => {
                    // Only the routers run again. The tasks of a map are stored as finished; so is the input.
                    let ran = (is_alone && !task.node.is_start()).then(|| done.take());
                    *result = ended.after(ran);
                    return Some(index);
                }
                _ => {}
            }
        }
        None
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
            let is_asked = tasks.len() == 1 || self.position.plan.is_mapped(task.node);
            if is_asked && !last.iter().any(is_last) && self.routes_on_merge(index) {
                last.push(index);
            }
        }
        last.reverse();
        last
    }
}
