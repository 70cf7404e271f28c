//! Threads: starting, going on, looking, changing.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use super::Run;
use super::coder::Coder;
use super::ended::Done;
use super::inside::{Looked, show};
use super::load::{Loaded, Read, load};
use super::machine::Machine;
use super::options::{Begin, Given};
use super::record::{Origin, Recorder, Snapshots};
use super::task::Task;
use super::tip::Tip;
use super::update::copy;
use crate::AgentError;
use crate::checkpoint::{
    Base, CheckpointError, CheckpointId, Checkpointer, Head, Snapshot, Source, ThreadKey,
};
use crate::graph::{CompiledStateGraph, NodeName};
use crate::node::{Answer, Interrupt, Jump, Output, Writes};
use crate::state::State;

/// The log of a thread, before it is read.
#[derive(Clone)]
pub(super) struct Log {
    pub(super) saver: Arc<dyn Checkpointer>,
    pub(super) key: ThreadKey,
    pub(super) metadata: BTreeMap<String, Value>,
    pub(super) snapshots: Snapshots,
    /// The call of a graph that is kept from call to call.
    pub(super) call: Option<Arc<str>>,
    /// False while values are held back as they are.
    pub(super) encodes: bool,
    /// True when it is written to from outside, without a run that goes on.
    pub(super) at_rest: bool,
}

impl Log {
    /// The root graph's log of a thread.
    pub(super) fn root(saver: &Arc<dyn Checkpointer>, thread: impl Into<String>) -> Self {
        Self {
            saver: Arc::clone(saver),
            key: ThreadKey::root(thread),
            metadata: BTreeMap::new(),
            snapshots: Snapshots::Anywhere,
            call: None,
            encodes: true,
            at_rest: false,
        }
    }

    /// Writes to the log behind `head`.
    pub(super) fn recorder<S: State>(
        &self,
        machine: &Machine<S>,
        head: Option<Head>,
    ) -> Recorder<S> {
        let saver = Arc::clone(&self.saver);
        let tip = Tip::new(saver, self.key.clone(), head, self.encodes);
        let coder = Coder {
            plan: Arc::clone(&machine.plan),
            codec: machine.codec,
        };
        let mut recorder = Recorder::new(Arc::new(tip), Arc::new(coder), self.metadata.clone());
        recorder.at_rest = self.at_rest;
        recorder.within(self.snapshots, self.call.clone())
    }

    /// Goes on behind what was loaded.
    pub(super) fn recorder_behind<S: State>(
        &self,
        machine: &Machine<S>,
        loaded: &Loaded<S>,
    ) -> Recorder<S> {
        let mut recorder = self.recorder(machine, Some(loaded.head));
        recorder.resume(&loaded.stored.checkpoint);
        recorder
    }

    /// Fails when the saver keeps bytes and the graph, or one inside it, has values that cannot
    /// become any.
    pub(super) fn check<S: State>(&self, machine: &Machine<S>) -> Result<(), CheckpointError> {
        if self.saver.formats().is_none() {
            return Ok(());
        }
        if machine.codec.is_none() {
            let state = std::any::type_name::<S>();
            return Err(CheckpointError::NotStorable { state });
        }
        match &machine.plan.unstorable {
            None => Ok(()),
            Some((node, state)) => Err(CheckpointError::SubgraphNotStorable {
                node: node.to_string(),
                state,
            }),
        }
    }

    pub(super) async fn load<S: State>(
        &self,
        machine: &Machine<S>,
        at: Option<CheckpointId>,
    ) -> Result<Option<Loaded<S>>, AgentError> {
        self.check(machine)?;
        let loaded = load(&Read {
            plan: &machine.plan,
            codec: machine.codec,
            initial: &machine.state,
            saver: &*self.saver,
            key: &self.key,
            at,
            changes: machine.changes.is_some(),
        })
        .await?;
        match (loaded, at) {
            (None, Some(id)) => Err(CheckpointError::UnknownCheckpoint {
                thread: self.key.thread.clone(),
                id,
            }
            .into()),
            (loaded, _) => Ok(loaded),
        }
    }
}

/// Starts a run with an input: on a thread, a child of its head (or of `at`) whose pending tasks
/// are dropped.
pub(super) async fn start<S: State>(
    machine: &mut Machine<S>,
    log: Option<Log>,
    at: Option<CheckpointId>,
    mut input: Output<S>,
) -> Result<(), AgentError> {
    if let Some(log) = log {
        let mut recorder = log.recorder(machine, None);
        let mut origin = Origin {
            parent: None,
            base: None,
            source: Source::Input,
        };
        if let Some(loaded) = log.load(machine, at).await? {
            let checkpoint = &loaded.stored.checkpoint;
            recorder = log.recorder_behind(machine, &loaded);
            origin.parent = Some(checkpoint.id);
            origin.base = Some(Base {
                id: checkpoint.id,
                with_tasks: false,
            });
            machine.step = checkpoint.step + 1;
            machine.state = loaded.state;
        }
        machine.recorder = Some(Box::new(recorder));
        machine
            .frontier
            .push(Task::by_edge(machine.plan.nodes.len()));
        // The update of a command with a goto is there before START looks.
        let writes = match &input.jump {
            Jump::To(_) => std::mem::replace(&mut input.writes, Writes::None).into_vec(),
            _ => Vec::new(),
        };
        for write in writes.clone() {
            machine.commit().apply(usize::MAX, write)?;
        }
        let wrote = !writes.is_empty();
        let entry = machine.entry(writes)?;
        // The input is safe before the first node starts.
        machine.keep_input(0, &Done::new(input.clone()))?;
        machine.record(origin, entry).await?;
        if wrote {
            machine.tell_values().await;
        }
        machine.frontier.clear();
    }
    machine.start(input).await
}

/// Puts a machine where its thread stands.
pub(super) async fn proceed<S: State>(
    machine: &mut Machine<S>,
    log: Log,
    at: Option<CheckpointId>,
    given: Vec<Given>,
    command: Option<Output<S>>,
) -> Result<(), AgentError> {
    let thread = log.key.thread.clone();
    let Some(loaded) = log.load(machine, at).await? else {
        return Err(CheckpointError::UnknownThread(thread).into());
    };
    let checkpoint = &loaded.stored.checkpoint;
    // Another time is not changed: a copy of it goes on. An update was made to go on from.
    let elsewhere = match (at, given.is_empty()) {
        (None, _) => false,
        (Some(_), true) => checkpoint.source != Source::Update,
        (Some(id), false) => loaded.head.id != id,
    };
    if elsewhere {
        return fork(machine, &log, loaded, given, command).await;
    }
    let answers = assign(&thread, &loaded.open(&[]), given)?;
    go_on(machine, &log, loaded, answers, command).await
}

/// Goes on with a copy of a checkpoint whose tasks all run again, with these answers only.
async fn fork<S: State>(
    machine: &mut Machine<S>,
    log: &Log,
    loaded: Loaded<S>,
    given: Vec<Given>,
    command: Option<Output<S>>,
) -> Result<(), AgentError> {
    let answers = assign(&log.key.thread, &loaded.asked(&[]), given)?;
    let id = loaded.stored.checkpoint.id;
    let origin = Origin {
        parent: Some(id),
        base: Some(Base {
            id,
            with_tasks: false,
        }),
        source: Source::Fork,
    };
    copy(machine, log, loaded, origin, command).await?;
    for (task, answer) in answers {
        if let Some(task) = machine.frontier.get_mut(task) {
            task.answers.push(answer.clone());
        }
        if let Some(recorder) = &mut machine.recorder {
            recorder.keep_answers(task, vec![answer]);
            recorder.flush(true).await?;
        }
    }
    machine.passed = true;
    Ok(())
}

/// Puts a machine where a log stands, with answers to its tasks.
pub(super) async fn go_on<S: State>(
    machine: &mut Machine<S>,
    log: &Log,
    mut loaded: Loaded<S>,
    answers: Vec<(usize, Answer)>,
    command: Option<Output<S>>,
) -> Result<(), AgentError> {
    let thread = &log.key.thread;
    let mut recorder = log.recorder_behind(machine, &loaded);
    for (task, answer) in answers {
        if let Some(state) = loaded.tasks.get_mut(task) {
            state.answers.retain(|old| old.key != answer.key);
            state.answers.push(answer.clone());
        }
        recorder.keep_answers(task, vec![answer]);
    }
    recorder.flush(true).await?;
    if machine.changes.is_some() {
        machine.changes = loaded.changes.take();
    }
    loaded.restore(machine, thread, Some(recorder))?;
    machine.passed = true;
    let mut joining = Vec::new();
    if let Some(command) = command {
        joining = machine.joining(command.jump)?;
        let writes = command.writes.into_vec();
        for write in writes.clone() {
            machine.commit().apply(usize::MAX, write)?;
        }
        if let Some(recorder) = &mut machine.recorder {
            let tasks = joining.iter().map(|task| recorder.spec(task));
            let tasks = tasks.collect::<Result<_, _>>()?;
            recorder.keep_entry(writes, tasks)?;
            recorder.flush(true).await?;
        }
    }
    machine.tell_values().await;
    machine.tell_checkpoint().await;
    machine.frontier.extend(joining);
    Ok(())
}

/// The key under which a task finds the answer: its own question's, or the id of one that a graph
/// inside it has asked.
pub(super) fn answer_key(interrupt: &Interrupt, namespace: &[NodeName]) -> String {
    if interrupt.namespace == namespace {
        interrupt.key.clone()
    } else {
        interrupt.id.clone()
    }
}

/// Finds the question that each answer is for.
fn assign(
    thread: &str,
    open: &[(usize, Interrupt)],
    given: Vec<Given>,
) -> Result<Vec<(usize, Answer)>, CheckpointError> {
    let list = |questions: &[&(usize, Interrupt)]| {
        let ids: Vec<_> = questions
            .iter()
            .map(|(_, i)| format!("`{}` (`{}` of `{}`)", i.id, i.key, i.node))
            .collect();
        if ids.is_empty() {
            "nothing".to_owned()
        } else {
            ids.join(", ")
        }
    };
    let mut answers = Vec::with_capacity(given.len());
    for Given { key, value } in given {
        let fits: Vec<_> = open
            .iter()
            .filter(|(_, i)| key.as_ref().is_none_or(|key| i.id == *key || i.key == *key))
            .collect();
        let name = key.unwrap_or_default();
        match fits.as_slice() {
            [(task, interrupt)] => answers.push((
                *task,
                Answer {
                    key: answer_key(interrupt, &[]),
                    value,
                },
            )),
            [] => {
                let open = list(&open.iter().collect::<Vec<_>>());
                return Err(CheckpointError::NothingToResume {
                    thread: thread.to_owned(),
                    key: name,
                    open,
                });
            }
            several => {
                let open = list(several);
                return Err(CheckpointError::AmbiguousResume {
                    thread: thread.to_owned(),
                    key: name,
                    open,
                });
            }
        }
    }
    Ok(answers)
}

/// Runs that go on with a thread, and looks at it.
impl<S: State> CompiledStateGraph<S> {
    /// Goes on where the thread stands: behind a breakpoint, or after a failure. Tasks that have
    /// finished do not run again; tasks that wait for an answer keep waiting.
    pub fn proceed(&self, thread: impl Into<String>) -> Run<S> {
        Run::begin(self.clone(), Begin::Proceed(Ok(Vec::new()))).thread(thread)
    }

    /// Answers the question `key` (its key, or its id) and goes on.
    pub fn resume(
        &self,
        thread: impl Into<String>,
        key: impl Into<String>,
        answer: impl Serialize,
    ) -> Run<S> {
        self.resume_all(thread, [(key, answer)])
    }

    /// Answers several questions, by key or id, and goes on. Those without an answer keep waiting.
    pub fn resume_all<K: Into<String>>(
        &self,
        thread: impl Into<String>,
        answers: impl IntoIterator<Item = (K, impl Serialize)>,
    ) -> Run<S> {
        let given: Result<Vec<_>, _> = answers
            .into_iter()
            .map(|(key, value)| given(Some(key.into()), value))
            .collect();
        Run::begin(self.clone(), Begin::Proceed(given)).thread(thread)
    }

    /// Answers the only open question and goes on; an error when there are several, or none.
    pub fn answer(&self, thread: impl Into<String>, answer: impl Serialize) -> Run<S> {
        let given = given(None, answer).map(|given| vec![given]);
        Run::begin(self.clone(), Begin::Proceed(given)).thread(thread)
    }

    pub(super) fn kept(
        &self,
        thread: &str,
    ) -> Result<(&Arc<dyn Checkpointer>, ThreadKey), CheckpointError> {
        match &self.saver {
            Some(saver) => Ok((saver, ThreadKey::root(thread))),
            None => Err(CheckpointError::NoCheckpointer(thread.to_owned())),
        }
    }

    /// The thread as it is now, with what finished tasks of an unfinished superstep have written;
    /// `None` when there is no such thread.
    ///
    /// # Errors
    ///
    /// [`AgentError::Checkpoint`] when the thread cannot be read.
    pub async fn get_state(&self, thread: &str) -> Result<Option<Snapshot<S>>, AgentError> {
        let loaded = self.read(thread, None).await?;
        Ok(loaded.map(|loaded| loaded.live(&self.plan, &[])))
    }

    /// The thread as it is now, or as the checkpoint `at` was saved, with the graphs inside its
    /// pending tasks: [`TaskSnapshot::inside`](crate::checkpoint::TaskSnapshot::inside), to any
    /// depth.
    ///
    /// Seen are the nodes that are graphs themselves; what a node calls by
    /// [`Context::run`](crate::Context::run) is its own business.
    ///
    /// # Errors
    ///
    /// As [`get_state`](Self::get_state).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::Arc;
    /// use langgraph::prelude::*;
    /// use langgraph::checkpoint::MemorySaver;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut inner = StateGraph::<i64>::new();
    /// inner.add_node("double", |n: &i64| n * 2).add_node("increment", |n: &i64| n + 1);
    /// inner.add_sequence(&["double", "increment"]).interrupt_before(["increment"]);
    ///
    /// let mut outer = StateGraph::<i64>::new();
    /// outer.add_node("inner", inner.compile()?).add_sequence(&["inner"]);
    /// let graph = outer.compile()?.checkpointer(Arc::new(MemorySaver::new()));
    ///
    /// graph.run(20).thread("t").await?;
    /// let snapshot = graph.get_state_with_subgraphs("t", None).await?.unwrap();
    /// assert_eq!(snapshot.values, 20);
    /// let inside = snapshot.tasks[0].inside::<i64>().unwrap();
    /// assert_eq!((inside.values, &*inside.next[0]), (40, "increment"));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn get_state_with_subgraphs(
        &self,
        thread: &str,
        at: impl Into<Option<CheckpointId>> + Send,
    ) -> Result<Option<Snapshot<S>>, AgentError> {
        let at = at.into();
        let Some(loaded) = self.read(thread, at).await? else {
            return Ok(None);
        };
        let (saver, key) = self.kept(thread)?;
        let looked = Looked {
            saver: &**saver,
            key: &key,
            namespace: &[],
            saved: at.is_some(),
        };
        Ok(Some(show(&self.plan, loaded, looked).await?))
    }

    async fn read(
        &self,
        thread: &str,
        at: Option<CheckpointId>,
    ) -> Result<Option<Loaded<S>>, AgentError> {
        let (saver, key) = self.kept(thread)?;
        load(&Read {
            plan: &self.plan,
            codec: self.codec.or_else(S::codec),
            initial: &Arc::new(self.plan.initial.clone()),
            saver: &**saver,
            key: &key,
            at,
            changes: false,
        })
        .await
    }

    /// The thread as that checkpoint was saved; `None` when there is no such checkpoint.
    ///
    /// # Errors
    ///
    /// As [`get_state`](Self::get_state).
    pub async fn get_state_at(
        &self,
        thread: &str,
        checkpoint: CheckpointId,
    ) -> Result<Option<Snapshot<S>>, AgentError> {
        Ok(self
            .read(thread, Some(checkpoint))
            .await?
            .map(|loaded| loaded.saved(&[])))
    }
}

fn given(key: Option<String>, value: impl Serialize) -> Result<Given, AgentError> {
    let value = serde_json::to_value(value).map_err(|error| {
        AgentError::InvalidInput(format!("an answer cannot be written as JSON: {error}"))
    })?;
    Ok(Given { key, value })
}
