//! How a run on a thread begins: from an input, an answer, a command, or where the thread stands.

use langgraph::State;
use langgraph::checkpoint::CheckpointId;
use langgraph::error::{AgentError, CheckpointError};
use langgraph::interrupt::Interrupt;
use langgraph::node::Command;
use langgraph::run::Run;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::command::{command, invalid};
use super::inside::InnerCheckpoint;
use super::json::update_in;
use super::typed::Typed;
use super::{Invocation, Start};
use crate::wire::approval::{answer_in, name_answers};
use crate::wire::sleep::asks;

impl<S> Typed<S>
where
    S: State,
    S::Update: Serialize + DeserializeOwned,
{
    /// Returns the open interrupts of a thread.
    async fn open(&self, spec: &Invocation) -> Result<Vec<Interrupt>, AgentError> {
        let thread = self.graph.thread(&spec.thread);
        let thread = match spec.at {
            Some(at) => thread.at(at),
            None => thread,
        };
        let snapshot = thread.state().await?;
        Ok(snapshot.map_or_else(Vec::new, |snapshot| snapshot.interrupts))
    }

    /// Has a thread go on at a checkpoint of a subgraph.
    async fn enter(&self, thread: &str, inner: &InnerCheckpoint) -> Result<(), AgentError> {
        let unknown = || invalid("checkpoint_ns names no task of the checkpoint of its thread");
        let handle = self.graph.thread(thread);
        let head = match inner.root {
            Some(root) => Some(root),
            None => handle.state().await?.map(|snapshot| snapshot.id),
        };
        let handle = handle.at(head.ok_or_else(unknown)?);
        let inside = self.inside(&handle, &inner.namespace).await?;
        let (inside, _) = inside.ok_or_else(unknown)?;
        inside.fork(inner.id).await
    }

    /// Returns the run that an invocation asks for.
    pub(super) async fn begin(&self, spec: &mut Invocation) -> Result<Run<S>, AgentError> {
        if let Some(inner) = &spec.inner {
            self.enter(&spec.thread, inner).await?;
        }
        let thread = self.graph.thread(&spec.thread);
        let thread = match spec.at {
            Some(at) => thread.at(at),
            None => thread,
        };
        let goto = spec.goto.take();
        let current = match &goto {
            Some(_) => thread.state().await?.map(|snapshot| snapshot.values),
            None => None,
        };
        let command: Option<Command<S>> = command(current.as_ref(), spec.update.take(), goto)?;
        let start = std::mem::replace(&mut spec.start, Start::Proceed);
        let run = match start {
            Start::Input(input) => thread.run(update_in::<S>(input)?),
            Start::Proceed => thread.proceed(),
            Start::Recover => thread.recover(),
            Start::Resume(answer) => {
                let open = self.open(spec).await?;
                all_open(&spec.thread, &open, &answer, spec.strict)?;
                if answers(&open, &answer).is_none() {
                    are_open(&spec.thread, &open, &spec.answers)?;
                }
                let mut answer = answer_in(&open, addressed(&open, answer));
                if let Some(user) = &spec.context.user {
                    name_answers(&open, &mut answer, user.identity()).map_err(invalid)?;
                }
                match answers(&open, &answer) {
                    Some(answers) => thread.resume_all(answers),
                    None if open.len() > 1 => {
                        return Err(invalid(
                            "When there are multiple pending interrupts, you must specify the interrupt id when resuming.",
                        ));
                    }
                    None => thread.answer(answer),
                }
            }
        };
        Ok(match command {
            Some(command) => run.command(command),
            None => run,
        })
    }
}

/// Returns an answer that names no interrupt as that of the only one that asks something, if the others sleep.
fn addressed(open: &[Interrupt], given: Value) -> Value {
    let mut asking = open.iter().filter(|interrupt| asks(&interrupt.payload));
    match (asking.next(), asking.next()) {
        (Some(only), None) if open.len() > 1 && answers(open, &given).is_none() => {
            json!({&*only.id: given})
        }
        _ => given,
    }
}

/// Returns the answers by interrupt if the value is a map from ids, or keys, of open interrupts.
fn answers(open: &[Interrupt], given: &Value) -> Option<Vec<(String, Value)>> {
    let given = given.as_object().filter(|given| !given.is_empty())?;
    let is_open = |key: &str| {
        open.iter()
            .any(|interrupt| interrupt.id == key || interrupt.key == key)
    };
    given.keys().all(|key| is_open(key)).then(|| {
        given
            .iter()
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect()
    })
}

/// Fails if an answer is for an interrupt that is not open: one that comes twice is none to the next question. A map is
/// one from ids if all its keys look so; in a strict request, if one is open, or looks so.
fn all_open(
    thread: &str,
    open: &[Interrupt],
    given: &Value,
    strict: bool,
) -> Result<(), AgentError> {
    let refused = |key: &str| not_open(thread, open, key);
    let Some(given) = given.as_object().filter(|given| !given.is_empty()) else {
        return match open {
            [] if strict => Err(refused("")),
            _ => Ok(()),
        };
    };
    let is_open = |key: &str| {
        open.iter()
            .any(|interrupt| interrupt.id == key || interrupt.key == key)
    };
    let mut keys = given.keys();
    let is_map = if strict {
        keys.any(|key| is_open(key) || key.matches(':').count() > 1)
    } else {
        keys.all(|key| is_open(key) || is_id(key))
    };
    match given.keys().find(|key| !is_open(key)) {
        Some(key) if is_map => Err(refused(key)),
        _ if strict && open.is_empty() => Err(refused("")),
        _ => Ok(()),
    }
}

/// Fails if one of the interrupts is not open that an answer without a name is for.
fn are_open(thread: &str, open: &[Interrupt], ids: &[String]) -> Result<(), AgentError> {
    let is_open = |id: &&String| open.iter().any(|interrupt| interrupt.id == **id);
    match ids.iter().find(|id| !is_open(id)) {
        Some(id) => Err(not_open(thread, open, id)),
        None => Ok(()),
    }
}

fn not_open(thread: &str, open: &[Interrupt], key: &str) -> AgentError {
    let ids: Vec<&str> = open.iter().map(|interrupt| &*interrupt.id).collect();
    AgentError::from(CheckpointError::NothingToResume {
        thread: thread.to_owned(),
        key: key.to_owned(),
        open: if ids.is_empty() {
            "none".to_owned()
        } else {
            ids.join(", ")
        },
    })
}

/// Returns true for a text in the form of the ids of interrupts: a checkpoint, or a superstep of a call, with a task and
/// a key.
fn is_id(text: &str) -> bool {
    let mut parts = text.splitn(3, ':');
    let mut next = || parts.next().unwrap_or_default();
    let (base, task) = (next(), next());
    let is_number = |text: &str| text.parse::<u64>().is_ok();
    let step = base.rsplit_once('@').map(|(_, step)| step);
    let is_base = base.parse::<CheckpointId>().is_ok() || step.is_some_and(is_number);
    is_base && is_number(task) && parts.next().is_some()
}
