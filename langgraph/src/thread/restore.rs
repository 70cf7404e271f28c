//! Restores an engine from a thread.

use std::sync::Arc;

use super::loaded::Loaded;
use crate::error::{AgentError, CheckpointError};
use crate::graph::NodeName;
use crate::node::NodeId;
use crate::record::Recorder;
use crate::state::State;
use crate::superstep::Engine;
use crate::task::{JoinProgress, Task, TaskMemory, TaskResult};

impl<S: State> Loaded<S> {
    /// Restores an engine to the position of the thread.
    pub(crate) fn restore(
        self,
        engine: &mut Engine<S>,
        thread: &str,
        recorder: Option<Recorder<S>>,
    ) -> Result<(), AgentError> {
        let plan = Arc::clone(&engine.position.plan);
        let find = |node: &NodeName| {
            plan.stored_node(node)
                .ok_or_else(|| CheckpointError::UnknownNode {
                    thread: thread.to_owned(),
                    node: node.to_string(),
                    graph: plan.topology.name.clone(),
                    stored: self.stored.checkpoint.graph,
                    now: plan.fingerprint,
                })
        };
        engine.position.step = self.stored.checkpoint.step;
        engine.position.state = self.state;
        engine.observer.recorder = recorder.map(Box::new);
        if let Some(recorder) = &mut engine.observer.recorder {
            let specs = self.stored.checkpoint.tasks.iter();
            recorder.stored_name(specs.map(|spec| &spec.node), &plan);
        }
        for node in &self.stored.checkpoint.deferred {
            engine.frontier.deferred.push(find(node)?);
        }
        for record in &self.stored.checkpoint.joins {
            let now = |names: &[NodeName]| -> Vec<NodeName> {
                names.iter().map(|name| plan.renamed(name)).collect()
            };
            let (waits_for, seen_now) = (now(&record.sources), now(&record.seen));
            let target_now = plan.renamed(&record.target);
            let joins = plan.topology_joins.iter();
            let found = joins
                .zip(&mut engine.frontier.joins)
                .find(|((sources, target), _)| *target == target_now && *sources == waits_for);
            if let Some(((sources, _), seen)) = found {
                let positions = sources
                    .iter()
                    .enumerate()
                    .filter(|(_, source)| seen_now.contains(source));
                let sources: crate::state::FieldSet = positions.map(|(index, _)| index).collect();
                *seen = JoinProgress {
                    count: sources.iter().count(),
                    sources,
                };
            }
        }
        for (index, task) in self.tasks.into_iter().enumerate() {
            let waits = task.waits();
            // START is finished, and its routers run again, until they fail again.
            if let (Some(_), Some(TaskResult::Finished(done))) = (&task.routing_error, &task.result)
                && let Some(recorder) = &mut engine.observer.recorder
            {
                recorder.keep(index, NodeId::START, &TaskResult::Finished(done.clone()))?;
            }
            let result = match task.result {
                interrupted @ Some(TaskResult::Interrupted(_)) if waits => {
                    interrupted.map(|interrupted| interrupted.after(task.ran.clone()))
                }
                finished @ Some(TaskResult::Finished(_)) => finished,
                _ => None,
            };
            let node = find(&task.node)?;
            engine.frontier.tasks.push(
                task.argument
                    .map_or_else(|| Task::by_edge(node), |given| Task::sent(node, given))
                    .with_memory(TaskMemory {
                        answers: task.answers,
                        once: task.once,
                        result,
                        ran: task.ran,
                    }),
            );
        }
        Ok(())
    }
}
