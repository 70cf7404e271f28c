//! A graph whose threads are served, without its types.

use async_trait::async_trait;
use langgraph::checkpoint::Snapshot;
use langgraph::error::{AgentError, CheckpointError};
use langgraph::interrupt::Interrupt;
use langgraph::run::{CancelToken, EventStream, Run, StreamOptions};
use langgraph::stream::{EventKind, StreamMode};
use langgraph::thread::{OnConflict, Thread};
use langgraph::{CompiledStateGraph, Outcome, State};
use langgraph_wait::Wait;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::time::SystemTime;

use crate::ThreadState;

/// The metadata entry of a run that says which invocation drives it.
pub(crate) const INVOCATION: &str = "restate_invocation";

/// What a caller gives a thread.
#[derive(Clone, Debug)]
pub(crate) enum Given {
    /// The answer to the only open interrupt.
    Answer(Value),
    /// Answers by key or id.
    Answers(Vec<(String, Value)>),
    Signal {
        event: String,
        payload: Value,
    },
    /// The time for waits that are due.
    Time(SystemTime),
}

/// How an invocation begins, once it is settled.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Begin {
    Input(Value),
    Proceed,
    /// Answers by the ids of interrupts.
    Answers(Vec<(String, Value)>),
}

/// The end of a superstep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Step {
    /// These nodes are next.
    More(Vec<String>),
    Ended(ThreadState),
}

/// A run that is under way in this process.
#[async_trait]
pub(crate) trait Steps: Send {
    /// Runs the next superstep.
    async fn next(&mut self) -> Result<Step, AgentError>;
}

#[async_trait]
pub(crate) trait ErasedThreads: Send + Sync {
    /// Finds the interrupts that are meant; an empty list if nothing is due.
    async fn accept(&self, thread: &str, given: &Given)
    -> Result<Vec<(String, Value)>, AgentError>;

    /// Begins the run of an invocation, or takes it up where the thread stands.
    async fn begin(
        &self,
        thread: &str,
        begin: &Begin,
        invocation: &str,
        cancel: CancelToken,
    ) -> Result<Box<dyn Steps>, AgentError>;

    async fn state(&self, thread: &str) -> Result<Option<ThreadState>, AgentError>;
}

/// A graph with its types.
pub(crate) struct Served<S: State> {
    graph: CompiledStateGraph<S>,
    options: Options<S>,
}

/// Sets the options of a run.
type Options<S> = Box<dyn Fn(Run<S>) -> Run<S> + Send + Sync>;

impl<S> Served<S>
where
    S: State,
    S::Update: Serialize + DeserializeOwned,
{
    pub(crate) fn new(graph: CompiledStateGraph<S>, options: Options<S>) -> Self {
        // Restate lets one invocation at a time onto a thread: whoever else holds it was given up.
        let leases = graph.threads();
        let has_leases = leases.saver().is_ok_and(|saver| saver.leases().is_some());
        let graph = if has_leases {
            graph.on_conflict(OnConflict::Cancel)
        } else {
            graph
        };
        Self { graph, options }
    }
}

#[async_trait]
impl<S> ErasedThreads for Served<S>
where
    S: State,
    S::Update: Serialize + DeserializeOwned,
{
    async fn accept(
        &self,
        thread: &str,
        given: &Given,
    ) -> Result<Vec<(String, Value)>, AgentError> {
        let unknown = || CheckpointError::UnknownThread(thread.to_owned());
        let snapshot = self.graph.thread(thread).state().await?;
        assign(thread, &snapshot.ok_or_else(unknown)?.interrupts, given)
    }

    async fn begin(
        &self,
        thread: &str,
        begin: &Begin,
        invocation: &str,
        cancel: CancelToken,
    ) -> Result<Box<dyn Steps>, AgentError> {
        let thread = self.graph.thread(thread);
        let snapshot = thread.state().await?;
        let run = match (begin, snapshot) {
            (Begin::Input(input), None) => thread.run(update_of::<S>(input.clone())?),
            (Begin::Input(input), Some(snapshot)) => {
                let by = snapshot.metadata.get(INVOCATION).and_then(Value::as_str);
                if by != Some(invocation) {
                    thread.run(update_of::<S>(input.clone())?)
                } else if is_settled(&snapshot) {
                    return Ok(Box::new(Over(shown(snapshot))));
                } else {
                    thread.proceed()
                }
            }
            (Begin::Answers(given), Some(snapshot)) => {
                // An earlier attempt may have given them.
                let open = |id: &str| snapshot.interrupts.iter().any(|asked| asked.id == id);
                let left: Vec<_> = given.iter().filter(|(id, _)| open(id)).cloned().collect();
                if !left.is_empty() {
                    thread.resume_all(left)
                } else if is_settled(&snapshot) {
                    return Ok(Box::new(Over(shown(snapshot))));
                } else {
                    thread.proceed()
                }
            }
            (_, Some(snapshot)) if is_settled(&snapshot) => {
                return Ok(Box::new(Over(shown(snapshot))));
            }
            _ => thread.proceed(),
        };
        let watched = StreamOptions::new(StreamMode::Checkpoints)
            .without_checkpoint_values()
            .buffer(1);
        let events = (self.options)(run)
            .metadata(INVOCATION, invocation)
            .cancel(cancel)
            .stream(watched);
        Ok(Box::new(Running(Some(events))))
    }

    async fn state(&self, thread: &str) -> Result<Option<ThreadState>, AgentError> {
        let thread: Thread<S> = self.graph.thread(thread);
        Ok(thread.state().await?.map(shown))
    }
}

/// Returns true if nothing can run before somebody answers.
fn is_settled<S: State>(snapshot: &Snapshot<S>) -> bool {
    snapshot.next.len()
        <= snapshot
            .tasks
            .iter()
            .filter(|task| !task.interrupts.is_empty())
            .count()
}

/// Finds the interrupts that are meant.
fn assign(
    thread: &str,
    open: &[Interrupt],
    given: &Given,
) -> Result<Vec<(String, Value)>, AgentError> {
    let keys: Vec<_> = open
        .iter()
        .map(|asked| format!("`{}`", asked.key))
        .collect();
    let nothing = |key: &str| {
        AgentError::from(CheckpointError::NothingToResume {
            thread: thread.to_owned(),
            key: key.to_owned(),
            open: keys.join(", "),
        })
    };
    let waits = || open.iter().filter_map(|asked| Wait::of(thread, asked));
    match given {
        Given::Answer(answer) => match open {
            [asked] => Ok(vec![(asked.id.clone(), answer.clone())]),
            [] => Err(nothing("the only open interrupt")),
            several => Err(ambiguous(thread, "", several)),
        },
        Given::Answers(answers) => {
            let mut found = Vec::new();
            for (key, answer) in answers {
                let meant = |asked: &&Interrupt| asked.id == *key || asked.key == *key;
                let mut meant = open.iter().filter(meant);
                match (meant.next(), meant.next()) {
                    (None, _) => return Err(nothing(key)),
                    (Some(asked), None) => found.push((asked.id.clone(), answer.clone())),
                    (Some(_), Some(_)) => return Err(ambiguous(thread, key, open)),
                }
            }
            Ok(found)
        }
        Given::Signal { event, payload } => {
            let waits = waits().filter(|wait| wait.event.as_ref() == Some(event));
            let found: Vec<_> = waits
                .map(|wait| {
                    let answer = wait.answer_with(payload.clone());
                    (wait.interrupt, answer)
                })
                .collect();
            if found.is_empty() {
                return Err(nothing(event));
            }
            Ok(found)
        }
        Given::Time(now) => Ok(waits()
            .filter(|wait| wait.is_due(*now))
            .map(|wait| {
                let answer = wait.answer();
                (wait.interrupt, answer)
            })
            .collect()),
    }
}

/// The error of an answer that several interrupts may mean.
fn ambiguous(thread: &str, key: &str, open: &[Interrupt]) -> AgentError {
    let meant = open
        .iter()
        .filter(|asked| key.is_empty() || asked.key == key);
    let ids: Vec<_> = meant.map(|asked| asked.id.as_str()).collect();
    AgentError::from(CheckpointError::AmbiguousResume {
        thread: thread.to_owned(),
        key: key.to_owned(),
        open: ids.join(", "),
    })
}

struct Running<S: State>(Option<EventStream<S>>);

#[async_trait]
impl<S> Steps for Running<S>
where
    S: State,
    S::Update: Serialize,
{
    async fn next(&mut self) -> Result<Step, AgentError> {
        let ended = || AgentError::InvalidInput("the run has ended".to_owned());
        let events = self.0.as_mut().ok_or_else(ended)?;
        while let Some(event) = events.next().await {
            let event = event?;
            // What leads to the first nodes is part of their superstep, and the last checkpoint is
            // part of the end.
            if let EventKind::CheckpointSaved(saved) = event.kind
                && event.namespace.is_empty()
                && saved.step > 0
                && !saved.next.is_empty()
            {
                return Ok(Step::More(names(&saved.next)));
            }
        }
        let events = self.0.take().ok_or_else(ended)?;
        Ok(Step::Ended(end(events.finish().await?)))
    }
}

/// A run that had ended before anybody heard of it.
struct Over(ThreadState);

#[async_trait]
impl Steps for Over {
    async fn next(&mut self) -> Result<Step, AgentError> {
        Ok(Step::Ended(self.0.clone()))
    }
}

fn names(nodes: &[langgraph::graph::NodeName]) -> Vec<String> {
    nodes.iter().map(ToString::to_string).collect()
}

fn end<S>(outcome: Outcome<S>) -> ThreadState
where
    S: State,
    S::Update: Serialize,
{
    let (interrupts, next) = match &outcome {
        Outcome::Interrupted {
            interrupts, next, ..
        } => (interrupts.clone(), names(next)),
        Outcome::Drained { next, .. } => (Vec::new(), names(next)),
        _ => (Vec::new(), Vec::new()),
    };
    ThreadState {
        values: value_of::<S>(outcome.into_state()),
        interrupts,
        next,
    }
}

fn shown<S>(snapshot: Snapshot<S>) -> ThreadState
where
    S: State,
    S::Update: Serialize,
{
    ThreadState {
        values: value_of::<S>(snapshot.values),
        interrupts: snapshot.interrupts,
        next: names(&snapshot.next),
    }
}

/// Returns true if the state is a single value: its updates are lists of at most one.
fn is_plain<S: State<Update: Serialize>>() -> bool {
    serde_json::to_value(S::Update::default()).is_ok_and(|update| update.is_array())
}

fn value_of<S: State<Update: Serialize>>(state: S) -> Value {
    match serde_json::to_value(S::Update::from(state)).unwrap_or_default() {
        Value::Array(mut one) if is_plain::<S>() => one.pop().unwrap_or_default(),
        value => value,
    }
}

fn update_of<S>(given: Value) -> Result<S::Update, AgentError>
where
    S: State,
    S::Update: Serialize + DeserializeOwned,
{
    let given = match given {
        Value::Null => return Ok(S::Update::default()),
        given if is_plain::<S>() => json!([given]),
        given => given,
    };
    serde_json::from_value(given).map_err(|error| {
        AgentError::InvalidInput(format!("the input does not fit the state: {error}"))
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use langgraph::checkpoint::MemorySaver;
    use langgraph::prelude::*;

    use super::*;

    fn served() -> Result<Served<i64>, Box<dyn std::error::Error>> {
        let mut graph = StateGraph::<i64>::new();
        graph.add_node("double", |n: &i64| n * 2);
        graph.add_node("ask", |n: &i64, cx: &Context| -> Result<i64, NodeError> {
            Ok(n + cx.interrupt::<i64>("more", "How many more?")?)
        });
        graph.add_sequence(&["double", "ask"]);
        let graph = graph.compile()?.checkpointer(Arc::new(MemorySaver::new()));
        Ok(Served::new(graph, Box::new(|run| run)))
    }

    async fn begun(served: &Served<i64>, begin: &Begin, by: &str) -> Vec<Step> {
        let mut steps = served
            .begin("t", begin, by, CancelToken::new())
            .await
            .unwrap();
        let mut all = Vec::new();
        loop {
            all.push(steps.next().await.unwrap());
            if matches!(all.last(), Some(Step::Ended(_))) {
                return all;
            }
        }
    }

    fn ended(steps: &[Step]) -> &ThreadState {
        match steps.last() {
            Some(Step::Ended(state)) => state,
            _ => panic!("the run has not ended"),
        }
    }

    #[tokio::test]
    async fn an_input_is_taken_once_however_often_its_invocation_is_tried() {
        let served = served().unwrap();
        let input = Begin::Input(json!(5));
        let steps = begun(&served, &input, "first").await;
        assert_eq!(steps[0], Step::More(vec!["ask".to_owned()]));
        let state = ended(&steps);
        assert_eq!((&state.values, state.interrupts.len()), (&json!(10), 1));
        // Nobody heard of the end: it is tried again.
        let again = begun(&served, &input, "first").await;
        assert_eq!(ended(&again), state);
        // Another invocation is another input.
        let mut other = served
            .begin("t", &input, "second", CancelToken::new())
            .await
            .unwrap();
        let refused = other.next().await.unwrap_err();
        assert_eq!(refused.kind(), langgraph::error::ErrorKind::Interrupted);
    }

    #[tokio::test]
    async fn an_answer_is_given_once_however_often_its_invocation_is_tried() {
        let served = served().unwrap();
        begun(&served, &Begin::Input(json!(5)), "first").await;
        let accepted = served.accept("t", &Given::Answer(json!(7))).await.unwrap();
        let answer = Begin::Answers(accepted);
        for _ in 0..2 {
            let steps = begun(&served, &answer, "second").await;
            assert_eq!(ended(&steps).values, json!(17));
            assert!(ended(&steps).is_done());
        }
        let nothing = served
            .accept("t", &Given::Answer(json!(7)))
            .await
            .unwrap_err();
        assert_eq!(nothing.kind(), langgraph::error::ErrorKind::NotFound);
    }
}
