//! Reading a thread's log.

use std::sync::Arc;

use super::coder::Reader;
use super::commit::{Changes, Commit};
use super::ended::{Done, Ended};
use super::known::KnownIds;
use super::machine::{Machine, Seen};
use super::record::Recorder;
use super::task::Task;
use crate::AgentError;
use crate::checkpoint::{
    Chain, CheckpointError, CheckpointId, Checkpointer, Head, InnerSnapshot, Snapshot, StateCodec,
    Stored, TaskArgument, TaskOutcome, TaskSnapshot, TaskSpec, ThreadKey,
};
use crate::graph::plan::Plan;
use crate::graph::{NodeName, START, UnfilledJoin};
use crate::message::Reading;
use crate::node::{Answer, Argument, Interrupt, OnceRecord, Questions, Writes};
use crate::state::State;

/// A thread as one of its checkpoints left it.
pub(super) struct Loaded<S: State> {
    pub(super) state: Arc<S>,
    pub(super) stored: Stored,
    pub(super) head: Head,
    pub(super) tasks: Vec<TaskState<S>>,
    /// Everything that was written since the beginning of the log.
    pub(super) changes: Option<Changes<S>>,
}

/// What is to be read.
pub(super) struct Read<'a, S: State> {
    pub(super) plan: &'a Plan<S>,
    pub(super) codec: Option<StateCodec<S>>,
    /// The state before the first record.
    pub(super) initial: &'a Arc<S>,
    pub(super) saver: &'a dyn Checkpointer,
    pub(super) key: &'a ThreadKey,
    /// A checkpoint, or the head.
    pub(super) at: Option<CheckpointId>,
    /// True when [`Loaded::changes`] is wanted.
    pub(super) changes: bool,
}

/// What has become of a task.
pub(super) struct TaskState<S: State> {
    pub(super) node: NodeName,
    pub(super) argument: Option<Argument<S>>,
    /// A command from outside started it beside the tasks of the checkpoint.
    pub(super) joined_in: bool,
    pub(super) outcome: Option<Outcome<S>>,
    pub(super) answers: Vec<Answer>,
    pub(super) once: Vec<OnceRecord>,
    /// What it asked last, answered or not.
    pub(super) asked: Option<Questions>,
    /// START's routers failed; the input that it has taken up is kept all the same.
    pub(super) lost_way: Option<String>,
    /// What the node did, when it is its routers that have asked.
    pub(super) ran: Option<Done<S>>,
    /// The graph that its node is, when it has been looked at.
    pub(super) inside: Option<InnerSnapshot>,
}

pub(super) enum Outcome<S: State> {
    Finished(Done<S>),
    Asked(Questions),
    Failed(String),
}

/// A thread at `at`, or at its head; none when there is no such checkpoint.
pub(super) async fn load<S: State>(read: &Read<'_, S>) -> Result<Option<Loaded<S>>, AgentError> {
    let Some(Chain {
        head, mut records, ..
    }) = read.saver.load(read.key, read.at).await?
    else {
        return Ok(None);
    };
    let mut changes = read.changes.then(Changes::default);
    let mut replay = Replay::new(read.reader(), read.initial);
    let mut before = None;
    for stored in &records {
        replay.before_entries(before, stored, changes.as_mut())?;
        replay.entries(stored, changes.as_mut())?;
        before = Some(stored);
    }
    let Some(stored) = records.pop() else {
        return Ok(None);
    };
    Ok(Some(Loaded {
        changes,
        ..replay.loaded(head, stored)?
    }))
}

impl<'a, S: State> Read<'a, S> {
    pub(super) fn reader(&self) -> Reader<'a, S> {
        Reader {
            plan: self.plan,
            codec: self.codec,
            formats: self.saver.formats(),
            key: self.key,
        }
    }
}

/// Makes states of the records of a log, one after the other.
pub(super) struct Replay<'a, S: State> {
    reader: Reader<'a, S>,
    state: Arc<S>,
    known: KnownIds,
}

impl<'a, S: State> Replay<'a, S> {
    pub(super) fn new(reader: Reader<'a, S>, initial: &Arc<S>) -> Self {
        let mut known = KnownIds::default();
        if reader.formats.is_some() {
            known.add_state(&**initial);
        }
        Self {
            reader,
            state: Arc::clone(initial),
            known,
        }
    }

    /// The state of a checkpoint without what was written to it from outside.
    pub(super) fn before_entries(
        &mut self,
        before: Option<&Stored>,
        stored: &Stored,
        mut changes: Option<&mut Changes<S>>,
    ) -> Result<&Arc<S>, AgentError> {
        let plan = self.reader.plan;
        if let Some(snapshot) = &stored.checkpoint.snapshot {
            self.state = Arc::new(S::clone(&*self.reader.state(snapshot)?));
            if self.reader.formats.is_some() {
                self.known.add_state(&*self.state);
            }
        } else if let (Some(base), Some(before)) = (stored.checkpoint.base, before)
            && base.with_tasks
        {
            let reading = Reading::begin();
            let tasks = task_states(&self.reader, before)?;
            let writes = into_finished(plan, tasks);
            let slices = writes.iter().map(|(_, writes)| writes.as_slice());
            let unmark =
                self.reader.formats.is_some() && !self.known.are_new(reading.end(), slices);
            // A copy has no marks.
            let writes = if unmark { writes.clone() } else { writes };
            let mut commit = Commit {
                plan,
                state: &mut self.state,
                changes: changes.as_deref_mut(),
                observed: false,
            };
            if before.checkpoint.step < 0 && !self.reader.key.namespace.is_empty() {
                // A graph inside another starts with what is ephemeral there.
                for (node, writes) in writes {
                    commit.entry(node, writes)?;
                }
            } else {
                commit.all(writes)?;
            }
            let starts = |task: &TaskSpec| &*task.node == START;
            if let Some(changes) = changes
                && before.checkpoint.tasks.iter().any(starts)
            {
                // The input is the caller's, not a change of this graph.
                *changes = Changes::default();
            }
        }
        Ok(&self.state)
    }

    /// The state of a checkpoint whose [`before_entries`](Self::before_entries) is done.
    pub(super) fn entries(
        &mut self,
        stored: &Stored,
        mut changes: Option<&mut Changes<S>>,
    ) -> Result<&Arc<S>, AgentError> {
        let plan = self.reader.plan;
        for entry in &stored.entries {
            let mut commit = Commit {
                plan,
                state: &mut self.state,
                changes: changes.as_deref_mut(),
                observed: false,
            };
            let reading = Reading::begin();
            let writes = self.reader.writes(&entry.writes)?;
            let unmark =
                self.reader.formats.is_some() && !self.known.are_new(reading.end(), [&*writes]);
            // A copy has no marks.
            let writes = if unmark { writes.clone() } else { writes };
            for write in writes {
                commit.apply(plan.names.len(), write)?;
            }
        }
        Ok(&self.state)
    }

    pub(super) fn loaded(&self, head: Head, stored: Stored) -> Result<Loaded<S>, AgentError> {
        Ok(Loaded {
            state: Arc::clone(&self.state),
            tasks: task_states(&self.reader, &stored)?,
            stored,
            head,
            changes: None,
        })
    }
}

/// What finished tasks wrote, in their order; the tasks are not needed any more.
fn into_finished<S: State>(plan: &Plan<S>, tasks: Vec<TaskState<S>>) -> Vec<(usize, Writes<S>)> {
    let writes = |task: TaskState<S>| match (task.outcome, task.ran) {
        (Some(Outcome::Finished(done)), _) | (_, Some(done)) => Some((
            plan.index_of(&task.node).unwrap_or(plan.names.len()),
            done.output.writes,
        )),
        _ => None,
    };
    tasks.into_iter().filter_map(writes).collect()
}

/// What finished tasks wrote, in their order.
fn finished<'a, S: State>(
    plan: &Plan<S>,
    tasks: impl IntoIterator<Item = &'a TaskState<S>>,
) -> Vec<(usize, Writes<S>)> {
    let writes = |task: &TaskState<S>| match (&task.outcome, &task.ran) {
        (Some(Outcome::Finished(done)), _) | (_, Some(done)) => Some((
            plan.index_of(&task.node).unwrap_or(plan.names.len()),
            done.output.writes.clone(),
        )),
        _ => None,
    };
    tasks.into_iter().filter_map(writes).collect()
}

fn task_states<S: State>(
    reader: &Reader<'_, S>,
    stored: &Stored,
) -> Result<Vec<TaskState<S>>, AgentError> {
    let own = stored.checkpoint.tasks.iter().map(|spec| (spec, false));
    let joined_in = stored.entries.iter().flat_map(|entry| &entry.tasks);
    let mut states = Vec::with_capacity(stored.checkpoint.tasks.len());
    for (spec, joined_in) in own.chain(joined_in.map(|spec| (spec, true))) {
        let argument = match &spec.argument {
            None => None,
            Some(TaskArgument::Item(item)) => Some(Argument::Item(reader.item(item)?)),
            Some(TaskArgument::State(state)) => Some(Argument::State(reader.state(state)?)),
        };
        let node = reader.plan.renamed(&spec.node);
        states.push(TaskState {
            node,
            argument,
            joined_in,
            outcome: None,
            answers: Vec::new(),
            once: Vec::new(),
            asked: None,
            lost_way: None,
            ran: None,
            inside: None,
        });
    }
    for record in &stored.tasks {
        let Some(state) = states.get_mut(record.task) else {
            continue;
        };
        match &record.outcome {
            Some(TaskOutcome::Finished(done)) => {
                state.outcome = Some(Outcome::Finished(reader.done(done)?));
                state.lost_way = None;
                state.ran = None;
            }
            Some(TaskOutcome::Ran(done)) => state.ran = Some(reader.done(done)?),
            Some(TaskOutcome::Asked(questions)) => {
                // START's input is there before its routers are asked.
                if let Some(Outcome::Finished(done)) = state.outcome.take() {
                    state.ran = Some(done);
                }
                state.lost_way = None;
                // Had it been answered, it would not ask.
                let Questions { own, inner } = &questions.0;
                let asks = |key: &String| {
                    own.iter().any(|own| own.key == *key) || inner.iter().any(|i| i.id == *key)
                };
                state.answers.retain(|answer| !asks(&answer.key));
                state.asked = Some(questions.0.clone());
                state.outcome = Some(Outcome::Asked(questions.0.clone()));
            }
            Some(TaskOutcome::Failed(text)) if &*state.node == START => {
                state.lost_way = Some(text.clone());
            }
            Some(TaskOutcome::Failed(text)) => state.outcome = Some(Outcome::Failed(text.clone())),
            None => {}
        }
        state.once.extend_from_slice(&record.once);
        for answer in &record.answers {
            state.answers.retain(|old| old.key != answer.key);
            state.answers.push(answer.clone());
        }
    }
    Ok(states)
}

impl<S: State> TaskState<S> {
    /// Runs again as if it had never run. START, which has no code, keeps its input.
    pub(super) fn forget(&mut self) {
        if &*self.node != START {
            self.outcome = None;
            self.ran = None;
        } else if let Some(input) = self.ran.take() {
            self.outcome = Some(Outcome::Finished(input));
        }
        self.lost_way = None;
        self.answers.clear();
        self.once.clear();
        self.asked = None;
    }

    fn has_answer(&self, key: &str) -> bool {
        self.answers.iter().any(|answer| answer.key == key)
    }

    /// True when it waits for answers and has got none.
    fn waits(&self) -> bool {
        match &self.outcome {
            Some(Outcome::Asked(Questions { own, inner })) => {
                let asked = own.is_some() || !inner.is_empty();
                let answered = own.iter().any(|own| self.has_answer(&own.key))
                    || inner.iter().any(|inner| self.has_answer(&inner.id));
                asked && !answered
            }
            _ => false,
        }
    }

    pub(super) fn is_finished(&self) -> bool {
        self.lost_way.is_none() && matches!(self.outcome, Some(Outcome::Finished(_)))
    }

    fn questions(
        &self,
        base: &str,
        index: usize,
        namespace: &[NodeName],
        all: bool,
    ) -> Vec<Interrupt> {
        let questions = match &self.outcome {
            Some(Outcome::Asked(questions)) => Some(questions),
            _ if all => self.asked.as_ref(),
            _ => None,
        };
        let Some(mut questions) = questions.cloned() else {
            return Vec::new();
        };
        if !all {
            questions.own = questions.own.filter(|own| !self.has_answer(&own.key));
            questions.inner.retain(|inner| !self.has_answer(&inner.id));
        }
        interrupts(base, index, &self.node, namespace, questions)
    }
}

/// The questions of a task as the caller sees them.
pub(super) fn interrupts(
    base: &str,
    index: usize,
    node: &NodeName,
    namespace: &[NodeName],
    questions: Questions,
) -> Vec<Interrupt> {
    let own = questions.own.map(|question| {
        let id = format!("{base}:{index}:{}", question.key);
        Interrupt::new(id, Arc::clone(node), namespace.to_vec(), question)
    });
    own.into_iter().chain(questions.inner).collect()
}

impl<S: State> Loaded<S> {
    /// What has been asked and not been answered.
    pub(super) fn open(&self, namespace: &[NodeName]) -> Vec<(usize, Interrupt)> {
        self.questions(namespace, false)
    }

    /// What has been asked, answered or not.
    pub(super) fn asked(&self, namespace: &[NodeName]) -> Vec<(usize, Interrupt)> {
        self.questions(namespace, true)
    }

    /// The tasks that have not finished.
    pub(super) fn unfinished(&self) -> Vec<usize> {
        let tasks = self.tasks.iter().enumerate();
        tasks
            .filter(|(_, task)| !task.is_finished())
            .map(|(index, _)| index)
            .collect()
    }

    fn questions(&self, namespace: &[NodeName], all: bool) -> Vec<(usize, Interrupt)> {
        let base = self.stored.checkpoint.id.to_string();
        let tasks = self.tasks.iter().enumerate();
        tasks
            .flat_map(|(index, task)| {
                task.questions(&base, index, namespace, all)
                    .into_iter()
                    .map(move |i| (index, i))
            })
            .collect()
    }

    /// The thread as it is: with what finished tasks of an unfinished superstep wrote.
    pub(super) fn live(mut self, plan: &Plan<S>, namespace: &[NodeName]) -> Snapshot<S> {
        let mut state = Arc::clone(&self.state);
        let tasks: Vec<_> = self.tasks.iter().filter(|task| !task.joined_in).collect();
        let known = tasks
            .iter()
            .filter(|task| task.is_finished() || task.ran.is_some());
        let writes = finished(plan, known.copied());
        if !tasks.iter().all(|task| task.is_finished()) {
            let mut commit = Commit {
                plan,
                state: &mut state,
                changes: None,
                observed: false,
            };
            // What does not fit together is not shown; it has not happened yet.
            if commit.all(writes).is_ok() {
                self.state = state;
            }
        }
        self.show(false, namespace)
    }

    /// The checkpoint as it was saved.
    pub(super) fn saved(self, namespace: &[NodeName]) -> Snapshot<S> {
        self.show(true, namespace)
    }

    fn show(self, all: bool, namespace: &[NodeName]) -> Snapshot<S> {
        let checkpoint = self.stored.checkpoint;
        let base = checkpoint.id.to_string();
        // A superstep whose tasks have all finished without a checkpoint behind it runs again.
        let whole = all || self.tasks.iter().all(TaskState::is_finished);
        let joins = checkpoint.joins.iter().map(|join| {
            UnfilledJoin::new(namespace, &join.sources, &join.target, |_, source| {
                join.seen.contains(source)
            })
        });
        let mut snapshot = Snapshot {
            id: checkpoint.id,
            parent: checkpoint.parent,
            values: Arc::unwrap_or_clone(self.state),
            next: Vec::new(),
            step: checkpoint.step,
            source: checkpoint.source,
            created_at: checkpoint.created_at,
            interrupts: Vec::new(),
            tasks: Vec::new(),
            unfilled_joins: joins.collect(),
            metadata: checkpoint.metadata,
        };
        for (index, task) in self.tasks.into_iter().enumerate() {
            // It is no part of the checkpoint; but what it waits for has to be seen.
            if task.joined_in && (all || task.asked.is_none()) {
                continue;
            }
            if whole || !task.is_finished() {
                snapshot.next.push(Arc::clone(&task.node));
            }
            let interrupts = task.questions(&base, index, namespace, all);
            snapshot.interrupts.extend(interrupts.iter().cloned());
            let (result, error) = match task.outcome {
                _ if task.lost_way.is_some() => (None, task.lost_way),
                Some(Outcome::Finished(done)) => (Some(done.output.writes.into_vec()), None),
                Some(Outcome::Failed(error)) => (None, Some(error)),
                _ => (None, None),
            };
            snapshot.tasks.push(TaskSnapshot {
                node: task.node,
                sent: task.argument.is_some(),
                result,
                error,
                interrupts,
                inside: task.inside,
            });
        }
        snapshot
    }

    /// Puts a machine where the thread stands.
    pub(super) fn restore(
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
            machine.frontier.push(Task {
                node: find(&task.node)?,
                argument: task.argument,
                answers: task.answers,
                once: task.once,
                prior: prior.map(Box::new),
                ran: task.ran.map(Box::new),
            });
        }
        Ok(())
    }
}
