//! The tasks of a superstep as its events show them.

use std::sync::Arc;

use langgraph_topology::NodeName;

use super::{EventTask, Superstep};

/// How many tasks of a chain are kept: one more than a stream buffers, unless it is told otherwise.
const KEPT: usize = 17;

/// The tasks of a superstep, in their order; none if the events are not read.
///
/// The tasks of a chain follow each other in a ring. What was allocated for one is used again for a later one,
/// once its events were read and dropped.
#[derive(Default)]
pub(crate) struct ShownTasks {
    tasks: Vec<Arc<EventTask>>,
    /// Where the superstep begins.
    first: usize,
}

impl ShownTasks {
    /// Forgets the tasks of the last superstep.
    pub(crate) fn clear(&mut self) {
        self.tasks.clear();
        self.first = 0;
    }

    /// Adds a task of the superstep.
    pub(crate) fn push(&mut self, task: EventTask) {
        self.tasks.push(Arc::new(task));
    }

    /// Begins the next superstep of a chain, with its only task. All tasks are of the same graph, whose nodes
    /// have those `names`, and have the same parent.
    #[inline]
    pub(crate) fn next(
        &mut self,
        names: &Arc<[NodeName]>,
        node: usize,
        superstep: Superstep,
        parent: Option<&Arc<EventTask>>,
    ) -> Arc<EventTask> {
        let next = match self.first + 1 {
            KEPT => 0,
            next => next,
        };
        let kept = self.tasks.get_mut(next);
        if let Some(kept) = kept
            && let Some(unused) = Arc::get_mut(kept)
        {
            self.first = next;
            unused.become_task(node, superstep);
            return Arc::clone(kept);
        }
        let task = EventTask::new(names, node, 0, None, parent.cloned(), superstep);
        self.add(next, Arc::new(task))
    }

    /// Adds a task to the ring of a chain.
    fn add(&mut self, next: usize, task: Arc<EventTask>) -> Arc<EventTask> {
        if let Some(kept) = self.tasks.get_mut(next) {
            self.first = next;
            kept.clone_from(&task);
        } else {
            self.first = self.tasks.len();
            self.tasks.push(Arc::clone(&task));
        }
        task
    }

    /// Returns the task of the superstep at `index`.
    #[inline]
    pub(crate) fn get(&self, index: usize) -> Option<&Arc<EventTask>> {
        self.tasks.get(self.first + index)
    }

    /// Returns the tasks of the superstep.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Arc<EventTask>> {
        self.tasks.iter().skip(self.first)
    }
}

#[cfg(test)]
mod tests {
    use langgraph_core::new_id;

    use super::*;

    fn superstep(step: usize) -> Superstep {
        let run = new_id();
        Superstep::Of { run, step }
    }

    #[test]
    fn a_task_that_a_reader_holds_is_not_changed() {
        let mut shown = ShownTasks::default();
        let names: Arc<[NodeName]> = (0..=2 * KEPT).map(|n| n.to_string().into()).collect();
        shown.push(EventTask::new(&names, 0, 0, None, None, superstep(0)));
        let held = shown.get(0).cloned().expect("it was pushed");
        for step in 1..=2 * KEPT {
            let next = shown.next(&names, step, superstep(step), None);
            assert_eq!(next.node(), step.to_string());
            assert_eq!(shown.get(0), Some(&next));
            assert_eq!(shown.tasks.len(), KEPT.min(step + 1));
        }
        assert_eq!(held.node(), "0");
        shown.clear();
        assert!(shown.get(0).is_none());
    }
}
