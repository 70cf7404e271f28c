//! Going on where a thread stands.

use std::sync::Arc;

use super::load::Loaded;
use super::task_state::Outcome;
use crate::AgentError;
use crate::checkpoint::CheckpointError;
use crate::graph::{NodeName, START};
use crate::run::ended::Ended;
use crate::run::machine::{Machine, Seen};
use crate::run::record::Recorder;
use crate::run::task::{Past, Task};
use crate::state::State;

impl<S: State> Loaded<S> {
    /// Puts a machine where the thread stands.
    pub(crate) fn restore(
        self,
        machine: &mut Machine<S>,
        thread: &str,
        recorder: Option<Recorder<S>>,
    ) -> Result<(), AgentError> {
        let plan = Arc::clone(&machine.plan);
        let find = |node: &NodeName| {
            if &**node == START {
                return Ok(plan.names.len());
            }
            plan.stored_index(node)
                .ok_or_else(|| CheckpointError::UnknownNode {
                    thread: thread.to_owned(),
                    node: node.to_string(),
                    graph: plan.topology.name.clone(),
                    stored: self.stored.checkpoint.graph,
                    now: plan.fingerprint,
                })
        };
        machine.step = self.stored.checkpoint.step;
        machine.state = self.state;
        machine.recorder = recorder.map(Box::new);
        if let Some(recorder) = &mut machine.recorder {
            let specs = self.stored.checkpoint.tasks.iter();
            recorder.called_before(specs.map(|spec| &spec.node), &plan);
        }
        for node in &self.stored.checkpoint.deferred {
            machine.deferred.push(find(node)?);
        }
        for record in &self.stored.checkpoint.joins {
            let now = |names: &[NodeName]| -> Vec<NodeName> {
                names.iter().map(|name| plan.renamed(name)).collect()
            };
            let (waits_for, seen_now) = (now(&record.sources), now(&record.seen));
            let target_now = plan.renamed(&record.target);
            let joins = plan.topology_joins.iter();
            let found = joins
                .zip(&mut machine.joins)
                .find(|((sources, target), _)| *target == target_now && *sources == waits_for);
            if let Some(((sources, _), seen)) = found {
                let positions = sources
                    .iter()
                    .enumerate()
                    .filter(|(_, source)| seen_now.contains(source));
                let sources: crate::state::FieldSet = positions.map(|(index, _)| index).collect();
                *seen = Seen {
                    count: sources.iter().count(),
                    sources,
                };
            }
        }
        for (index, task) in self.tasks.into_iter().enumerate() {
            let waits = task.waits();
            // START goes its way again; until that fails again it is finished.
            if let (Some(_), Some(Outcome::Finished(done))) = (&task.lost_way, &task.outcome)
                && let Some(recorder) = &mut machine.recorder
            {
                recorder.keep(index, plan.nodes.len(), &Ended::Finished(done.clone()))?;
            }
            let prior = match task.outcome {
                Some(Outcome::Finished(done)) => Some(Ended::Finished(done)),
                Some(Outcome::Asked(questions)) if waits => Some(Ended::Asked {
                    questions,
                    ran: task.ran.clone(),
                    refused: None,
                }),
                _ => None,
            };
            let node = find(&task.node)?;
            machine.frontier.push(
                task.argument
                    .map_or_else(|| Task::by_edge(node), |given| Task::sent(node, given))
                    .with_past(Past {
                        answers: task.answers,
                        once: task.once,
                        prior,
                        ran: task.ran,
                    }),
            );
        }
        Ok(())
    }
}
