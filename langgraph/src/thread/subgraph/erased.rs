//! Operations on a subgraph without its state type.

use std::collections::HashSet;
use std::sync::Arc;

use crate::checkpoint::{
    CheckNote, CheckpointId, Checkpointer, InnerSnapshot, ListOptions, Source, Stored, task_id,
};
use crate::error::{AgentError, CheckpointError, SubgraphError};
use crate::graph::plan::Plan;
use crate::graph::{CompiledStateGraph, NodeName};
use crate::log::{load_chain, load_list};
use crate::node::{
    AnyState, Fork, ForkFuture, FoundTask, GraphNode, InnerFuture, InnerGraph, InnerLog, NeededBy,
    Persistence, Resources, Shared, SnapshotQuery, TaskChoice, TaskQuery,
};
use crate::record::{Log, Origin};
use crate::state::State;
use crate::thread::check::check_inside;
use crate::thread::load::{Read, load};
use crate::thread::offline::offline;
use crate::thread::read::subgraphs::snapshot_inside;
use crate::thread::task_state::specs;
use crate::thread::write::copy;

impl<S: State> InnerGraph for CompiledStateGraph<S> {
    fn name(&self) -> &str {
        &self.topology().name
    }

    fn state(&self) -> &'static str {
        std::any::type_name::<S>()
    }

    fn persistence(&self) -> &Persistence {
        &self.persistence
    }

    fn resources(&self) -> &Resources {
        &self.plan.resources
    }

    fn needs(&self) -> Vec<NeededBy> {
        let given = &self.plan.resources;
        let needs = self.plan.needs.iter();
        needs
            .filter(|need| !given.have(&need.resource))
            .cloned()
            .collect()
    }

    fn nodes(&self) -> &[NodeName] {
        self.plan.declared_names()
    }

    fn node(&self, name: &str) -> Option<(NodeName, Option<GraphNode<'_>>)> {
        let index = self.plan.stored_node(name)?;
        index.place()?;
        let node = self.plan.node(index)?;
        Some((self.plan.name(index), node.step.graph()))
    }

    fn look<'a>(
        &'a self,
        log: InnerLog<'a>,
        look: SnapshotQuery,
    ) -> InnerFuture<'a, InnerSnapshot> {
        Box::pin(snapshot_inside(self, log, look))
    }

    fn check<'a>(
        &'a self,
        log: InnerLog<'a>,
        path: Vec<NodeName>,
    ) -> InnerFuture<'a, Vec<CheckNote>> {
        Box::pin(check_inside(self, log, path))
    }

    fn find<'a>(&'a self, log: InnerLog<'a>, wanted: TaskQuery<'a>) -> InnerFuture<'a, FoundTask> {
        Box::pin(find(self, log, wanted))
    }

    fn fork<'a>(
        &'a self,
        saver: &'a Arc<dyn Checkpointer>,
        thread: &'a str,
        fork: Fork,
    ) -> ForkFuture<'a> {
        Box::pin(make_fork(self, saver, thread, fork))
    }
}

/// A task of a node: its index, the name of the node at that time, and whether it joined in.
type NodeTask = (usize, NodeName, bool);

/// Returns the tasks of a node at a checkpoint.
fn tasks_of<S: State>(plan: &Plan<S>, stored: &Stored, node: &NodeName) -> Vec<NodeTask> {
    let mut tasks = Vec::new();
    for (index, (spec, joined_in)) in specs(stored).into_iter().enumerate() {
        if plan.renamed(&spec.node) == *node {
            tasks.push((index, Arc::clone(&spec.node), joined_in));
        }
    }
    tasks
}

/// Returns the newest checkpoint with a task of the node, searched from the head back, or the
/// checkpoint `at` if it has one.
async fn newest_with<S: State>(
    plan: &Plan<S>,
    log: &InnerLog<'_>,
    node: &NodeName,
    at: Option<CheckpointId>,
) -> Result<Option<(CheckpointId, Vec<NodeTask>)>, AgentError> {
    let mut next = at;
    loop {
        let Some(chain) = load_chain(log.saver, &log.key, next).await? else {
            return Ok(None);
        };
        if let (Some(id), true) = (at, chain.records.is_empty()) {
            let thread = log.key.thread.clone();
            return Err(CheckpointError::UnknownCheckpoint { thread, id }.into());
        }
        let found = chain.records.iter().rev().find_map(|stored| {
            let tasks = tasks_of(plan, stored, node);
            (!tasks.is_empty()).then_some((stored.checkpoint.id, tasks))
        });
        if found.is_some() || at.is_some() {
            return Ok(found.filter(|(id, _)| at.is_none_or(|at| at == *id)));
        }
        let first = chain.records.first().map(|stored| &stored.checkpoint);
        next = first.and_then(|first| first.base.map(|base| base.id).or(first.parent));
        if next.is_none() {
            return Ok(None);
        }
    }
}

/// Returns the task of the node with that id, and its checkpoint, which may be on any branch.
async fn with_id<S: State>(
    plan: &Plan<S>,
    log: &InnerLog<'_>,
    node: &NodeName,
    id: &str,
) -> Result<Option<(CheckpointId, NodeTask)>, AgentError> {
    let mut seen = HashSet::new();
    for newest in load_list(log.saver, &log.key, ListOptions::new()).await? {
        if seen.contains(&newest) {
            continue;
        }
        // It may have been removed in the meantime.
        let Some(chain) = load_chain(log.saver, &log.key, Some(newest)).await? else {
            return Ok(None);
        };
        for stored in chain.records.iter().rev() {
            let checkpoint = stored.checkpoint.id;
            if seen.insert(checkpoint)
                && let Some(task) = named(tasks_of(plan, stored, node), checkpoint, node, id)
            {
                return Ok(Some((checkpoint, task)));
            }
        }
    }
    Ok(None)
}

/// Returns the task with that id.
fn named(
    tasks: Vec<NodeTask>,
    checkpoint: CheckpointId,
    node: &NodeName,
    id: &str,
) -> Option<NodeTask> {
    let mut tasks = tasks.into_iter();
    tasks.find(|(index, ..)| task_id::of(checkpoint, *index, node).to_string() == id)
}

/// Selects a task of a node: the one with that number, or the only one.
fn select(
    tasks: &[NodeTask],
    instance: Option<usize>,
    thread: &str,
    path: &str,
) -> Result<NodeTask, SubgraphError> {
    let (thread, path, count) = (thread.to_owned(), path.to_owned(), tasks.len());
    match (tasks, instance) {
        ([only], None) => Ok(only.clone()),
        (_, None) => Err(SubgraphError::SeveralTasks {
            thread,
            path,
            tasks: count,
        }),
        (all, Some(instance)) => {
            let task = all.get(instance).cloned();
            task.ok_or(SubgraphError::NoSuchTask {
                thread,
                path,
                tasks: count,
            })
        }
    }
}

/// Returns the wanted task, and its checkpoint.
async fn chosen<S: State>(
    plan: &Plan<S>,
    log: &InnerLog<'_>,
    TaskQuery {
        node,
        task,
        path,
        at,
    }: TaskQuery<'_>,
) -> Result<Option<(CheckpointId, NodeTask)>, AgentError> {
    if let (Some(TaskChoice::Id(id)), None) = (task, at) {
        return with_id(plan, log, node, id).await;
    }
    let Some((checkpoint, tasks)) = newest_with(plan, log, node, at).await? else {
        return Ok(None);
    };
    let task = match task {
        Some(TaskChoice::Id(id)) => named(tasks, checkpoint, node, id),
        Some(TaskChoice::Number(number)) => {
            Some(select(&tasks, Some(*number), &log.key.thread, path)?)
        }
        None => Some(select(&tasks, None, &log.key.thread, path)?),
    };
    Ok(task.map(|task| (checkpoint, task)))
}

async fn find<S: State>(
    graph: &CompiledStateGraph<S>,
    log: InnerLog<'_>,
    wanted: TaskQuery<'_>,
) -> Result<Option<FoundTask>, AgentError> {
    let plan = &graph.plan;
    let Some((checkpoint, (task, node, joined_in))) = chosen(plan, &log, wanted).await? else {
        return Ok(None);
    };
    let loaded = load(&Read {
        plan,
        codec: graph.codec.or_else(S::codec),
        initial: &graph.begins_with(log.around),
        saver: log.saver,
        key: &log.key,
        at: Some(checkpoint),
        changes: false,
    })
    .await?;
    // It may have been removed in the meantime.
    let Some(loaded) = loaded else {
        return Ok(None);
    };
    let Some(found) = loaded.tasks.get(task) else {
        return Ok(None);
    };
    let open = !found.is_finished() && found.ran.is_none();
    let state: AnyState = Arc::new(loaded.state_of(found));
    Ok(Some(FoundTask {
        head: loaded.head,
        checkpoint,
        task,
        node,
        state,
        pending: open && loaded.head.id == checkpoint,
        joined_in,
        call: loaded.stored.checkpoint.call.clone(),
    }))
}

async fn make_fork<S: State>(
    graph: &CompiledStateGraph<S>,
    saver: &Arc<dyn Checkpointer>,
    thread: &str,
    Fork { at, id, head }: Fork,
) -> Result<(), AgentError> {
    let resources = graph.plan.resources.clone();
    let initial = graph.plan.unwritten_state();
    let mut engine = offline(graph, Shared::of_thread(thread), &[], resources, initial);
    let log = Log {
        at_rest: true,
        next: Some(id),
        ..Log::root(saver, thread)
    };
    let Some(loaded) = log.load(&engine, Some(at)).await? else {
        return Err(CheckpointError::UnknownThread(thread.to_owned()).into());
    };
    if loaded.head != head {
        return Err(CheckpointError::Conflict {
            thread: thread.to_owned(),
            known: Some(head),
            head: Some(loaded.head),
        }
        .into());
    }
    let origin = Origin::child_of(Some(at), Source::Fork);
    copy(&mut engine, &log, loaded, origin, None, Vec::new()).await?;
    Ok(())
}
