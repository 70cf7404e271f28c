//! Supersteps whose results are given: updates from outside, and results of earlier runs.

use std::sync::Arc;

use super::Engine;
use super::budget::DEFAULT_LIMIT;
use super::commit::Commit;
use super::route::route_on_view;
use crate::error::{AgentError, CheckpointError};
use crate::graph::targets::calls_routers;
use crate::graph::{CompiledStateGraph, NodeName};
use crate::node::{Jump, NodeId, Resources, Scope, Shared, Write, Writes};
use crate::state::State;
use crate::task::{Changes, Finished, Task, TaskResult, Writer};

impl<S: State> Engine<S> {
    /// Creates an engine that changes a log from outside: a thread's log, or a subgraph's.
    pub(crate) fn offline(
        graph: &CompiledStateGraph<S>,
        thread: &str,
        namespace: &[NodeName],
        resources: Resources,
        initial: Arc<S>,
    ) -> Self {
        let scope = Scope {
            names: Arc::clone(&graph.plan.names),
            limit: DEFAULT_LIMIT,
            resources,
            emitter: None,
            namespace: namespace.into(),
            heartbeat: None,
            shared: Arc::new(Shared {
                thread: Some(thread.to_owned()),
                ..Shared::default()
            }),
        };
        Self::new(graph, scope, initial)
    }

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
        self.frontier.keep(stays);
        self.results.clear();
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
        let cx = self.context(node);
        match route_on_view(&self.position, node, &cx, done).await {
            TaskResult::Finished(done) => Ok(done),
            TaskResult::Failed(error) => Err(self.position.failure(node, error)),
            TaskResult::Interrupted(_) => Err(refused(format!(
                "a router of `{}` interrupts, and an update from outside cannot wait for the answer; say where to go with `Command::goto(..)`",
                plan.name(node)
            ))),
        }
    }

    /// Returns the state with these results; `None` if they conflict.
    pub(crate) fn merged(&self, results: &[(NodeId, Finished<S>)]) -> Option<Arc<S>> {
        let writes = results
            .iter()
            .map(|(node, done)| (Writer::from(*node), done.output.writes.clone()));
        self.merge_apart(writes.collect())
    }

    fn merge_apart(&self, writes: Vec<(Writer, Writes<S>)>) -> Option<Arc<S>> {
        let mut state = Arc::clone(&self.position.state);
        let mut commit = Commit {
            plan: &self.position.plan,
            state: &mut state,
            changes: None,
            observed: false,
        };
        commit.superstep(writes).ok()?;
        Some(state)
    }

    /// Lets the tasks run again if an earlier run has left results that cannot be merged: it stopped
    /// at their conflict.
    pub(crate) fn forget_conflicting_results(&mut self) {
        let mut writes = Vec::with_capacity(self.frontier.tasks.len());
        for task in &self.frontier.tasks {
            let Some(TaskResult::Finished(done)) = task.result() else {
                return;
            };
            writes.push((Writer::from(task.node), done.output.writes.clone()));
        }
        if writes.iter().all(|(writer, _)| *writer == Writer::Start) {
            return;
        }
        if self.merge_apart(writes).is_none() {
            let tasks = self.frontier.tasks.iter_mut();
            tasks
                .filter(|task| !task.node.is_start())
                .for_each(Task::forget_result);
        }
    }
}

fn refused(reason: impl Into<String>) -> AgentError {
    CheckpointError::InvalidUpdate(reason.into()).into()
}
