//! How far the maps of a superstep are.

use super::Task;
use super::TaskResult;
use crate::graph::plan::Plan;
use crate::node::{Argument, NodeId};
use crate::state::State;
use crate::stream::MapProgress;

/// The workers of a superstep that run several items, with how far each is.
#[derive(Default)]
pub(crate) struct Progress(Vec<(NodeId, MapProgress)>);

impl Progress {
    /// Counts the items of the tasks that start, and those that an earlier run has done. Without
    /// items there is nothing to count.
    pub(crate) fn of<S: State>(plan: &Plan<S>, tasks: &[Task<S>]) -> Option<Self> {
        let mut maps = Self::default();
        for task in tasks {
            let is_done = matches!(task.result(), Some(TaskResult::Finished(_)));
            let Some(Argument::Item(_)) = task.argument else {
                continue;
            };
            if maps.find(task.node).is_none() {
                let map = MapProgress::new(plan.name(task.node));
                maps.0.push((task.node, map));
            }
            if let Some(map) = maps.find(task.node) {
                map.total += 1;
                map.done += usize::from(is_done);
            }
        }
        (!maps.0.is_empty()).then_some(maps)
    }

    /// How far each map is.
    pub(crate) fn maps(&self) -> &[(NodeId, MapProgress)] {
        &self.0
    }

    /// Counts a task that has ended, and returns how far its map is.
    pub(crate) fn ended<S: State>(&mut self, task: &Task<S>, failed: bool) -> Option<MapProgress> {
        let Some(Argument::Item(_)) = task.argument else {
            return None;
        };
        let map = self.find(task.node)?;
        if failed {
            map.failed += 1;
        } else {
            map.done += 1;
        }
        Some(map.clone())
    }

    fn find(&mut self, node: NodeId) -> Option<&mut MapProgress> {
        let map = self.0.iter_mut().find(|(of, _)| *of == node);
        map.map(|(_, map)| map)
    }
}
