//! Restores an engine from a thread.

use std::sync::Arc;

use super::loaded::Loaded;
use super::task_state::TaskState;
use crate::checkpoint::{JoinRecord, UnfilledJoin};
use crate::error::{AgentError, CheckpointError};
use crate::graph::NodeName;
use crate::log::is_same_join;
use crate::node::NodeId;
use crate::record::Recorder;
use crate::state::{FieldSet, State};
use crate::superstep::Engine;
use crate::task::{JoinProgress, Task, TaskMemory, TaskResult};

impl<S: State> Loaded<S> {
    /// Returns the order in which its tasks are merged; empty if it is theirs.
    fn order(&self) -> Vec<usize> {
        if self.stored.task_count() == self.tasks.len() {
            self.stored.order().to_vec()
        } else {
            Vec::new()
        }
    }

    /// Restores an engine to the position of the thread.
    pub(crate) fn restore(
        self,
        engine: &mut Engine<S>,
        thread: &str,
        recorder: Option<Recorder<S>>,
    ) -> Result<(), AgentError> {
        engine.frontier.order = self.order();
        let plan = Arc::clone(&engine.position.plan);
        let namespace = engine.position.scope.path.names();
        let find = |node: &NodeName| {
            plan.stored_node(node)
                .ok_or_else(|| CheckpointError::UnknownNode {
                    thread: thread.to_owned(),
                    node: [&*namespace, &[Arc::clone(node)]].concat().join("/"),
                    graph: plan.topology.name.clone(),
                    stored: self.stored.checkpoint.graph,
                    now: plan.fingerprint,
                })
        };
        let mut left = Vec::new();
        for join in self.left_joins(true) {
            left.push(UnfilledJoin::stored(&namespace, join));
        }
        let shared = &engine.position.scope.shared;
        shared.report_unfilled_joins(left);
        engine.position.step = self.stored.checkpoint.step;
        engine.position.state = self.state;
        engine.position.written = self.written;
        engine.observer.recorder = recorder.map(Box::new);
        if let Some(recorder) = &mut engine.observer.recorder {
            let specs = self.stored.checkpoint.tasks.iter();
            recorder.stored_name(specs.map(|spec| &spec.node), &plan);
        }
        for node in &self.stored.checkpoint.deferred {
            engine.frontier.deferred.push(find(node)?);
        }
        restore_joins(
            &self.stored.checkpoint.joins,
            &plan.topology_joins,
            &|name| plan.renamed(name),
            &mut engine.frontier.joins,
        );
        if let Some(bounds) = &engine.position.scope.bounds {
            let followed = &self.stored.checkpoint.followed;
            bounds.restore(followed, |name| plan.renamed(name));
        }
        for (index, task) in self.tasks.into_iter().enumerate() {
            // START is finished, and its routers run again, until they fail again.
            if let (Some(_), Some(TaskResult::Finished(done))) = (&task.routing_error, &task.result)
                && let Some(recorder) = &mut engine.observer.recorder
            {
                let input = TaskResult::Finished(done.clone());
                recorder.keep(index, NodeId::START, &input, Vec::new())?;
            }
            let node = find(&task.node)?;
            engine.frontier.tasks.push(restored(node, task));
        }
        Ok(())
    }
}

/// Restores the progress of the joins that the graph still has; `now` returns today's name of a stored one.
fn restore_joins(
    stored: &[JoinRecord],
    joins: &[(Vec<NodeName>, NodeName)],
    now: &dyn Fn(&NodeName) -> NodeName,
    progress: &mut [JoinProgress],
) {
    for record in stored {
        let seen_now: Vec<NodeName> = record.seen.iter().map(now).collect();
        let known = joins.iter().zip(&mut *progress);
        let found = known
            .into_iter()
            .find(|(join, _)| is_same_join(record, join, now));
        if let Some(((sources, _), seen)) = found {
            let positions = sources
                .iter()
                .enumerate()
                .filter(|(_, source)| seen_now.contains(source));
            let sources: FieldSet = positions.map(|(index, _)| index).collect();
            *seen = JoinProgress {
                count: sources.iter().count(),
                sources,
            };
        }
    }
}

/// Returns the task with its memory of earlier runs. A result that is not the end of it is left out.
fn restored<S: State>(node: NodeId, task: TaskState<S>) -> Task<S> {
    let waits = task.waits();
    let result = match task.result {
        interrupted @ Some(TaskResult::Interrupted(_)) if waits => {
            interrupted.map(|interrupted| interrupted.after(task.ran.clone()))
        }
        finished @ Some(TaskResult::Finished(_)) => finished,
        _ => None,
    };
    let restored = match task.argument {
        None => Task::by_edge(node),
        Some(given) => Task::sent(node, given),
    };
    restored.with_memory(TaskMemory {
        answers: task.answers,
        once: task.once,
        result,
        ran: task.ran,
    })
}
