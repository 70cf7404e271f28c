//! The actions of a case on its entrypoint, and their results in the case's form.

use std::sync::Arc;

use langgraph::CompiledStateGraph;
use langgraph::checkpoint::{Checkpointer, Snapshot};
use langgraph::error::AgentError;
use langgraph::interrupt::Interrupt;
use langgraph::policy::{InMemoryCache, NodeCache};
use langgraph::run::Run;
use langgraph::state::{State, Write};
use langgraph::stream::{Event, EventKind, StreamMode, StreamOptions};
use langgraph::thread::OnOpenInterrupt;
use langgraph_functional::{EntrypointExt as _, TaskState};
use serde_json::{Value, json};

use super::FunctionSpec;
use super::interpreter::{Functions, WorkflowState, tasks, workflow};
use crate::parity::case::{Action, CommandSpec, Do, OneOrMany};
use crate::parity::compare::sorted;
use crate::parity::kind;
use crate::parity::workplace::Site;
use crate::parity::world::World;

/// Compiles the entrypoint of a case, executes its actions, and returns the results in the form of an expectation.
///
/// # Errors
///
/// If the runner does not support something in the case.
pub(in super::super) async fn answer(
    name: &str,
    spec: &Arc<FunctionSpec>,
    actions: &[Action],
    saver: &Arc<dyn Checkpointer>,
    site: &Site,
) -> Result<Value, String> {
    let functions = Arc::new(Functions {
        spec: Arc::clone(spec),
        started: World::default(),
        failures: World::default(),
    });
    let cache: Arc<dyn NodeCache> = Arc::new(InMemoryCache::new());
    let graph = workflow.compile().map_err(|errors| errors.to_string())?;
    let graph = graph
        .resource(Arc::clone(&functions))
        .resource(Arc::clone(&cache));
    let graph = if spec.is_nested() {
        graph
    } else {
        let workers = tasks().compile().map_err(|errors| errors.to_string())?;
        let workers = workers.resource(Arc::clone(&functions)).resource(cache);
        match site.executor(&workers) {
            Some(executor) => {
                let executor = tasks().executor(executor);
                graph.resource(Arc::new(executor.map_err(|errors| errors.to_string())?))
            }
            None => graph,
        }
    };
    let graph = if spec.checkpointer {
        let graph = graph.checkpointer(Arc::clone(saver));
        // As in Python, where a new input drops what is asked.
        graph.on_open_interrupt(OnOpenInterrupt::Drop)
    } else {
        graph
    };
    let session = Session {
        graph,
        functions,
        name,
    };
    let mut results = Vec::new();
    for action in actions {
        results.push(session.act(action).await?);
    }
    // All cases share the saver.
    for action in actions.iter().filter(|_| spec.checkpointer) {
        let thread = session.graph.thread(session.thread(action));
        thread.delete().await.map_err(|error| error.to_string())?;
    }
    Ok(json!({ "results": results }))
}

struct Session<'a> {
    graph: CompiledStateGraph<WorkflowState>,
    functions: Arc<Functions>,
    /// The prefix of its threads' names.
    name: &'a str,
}

impl Session<'_> {
    fn thread(&self, action: &Action) -> String {
        format!("{}/{}", self.name, action.thread.as_deref().unwrap_or("t"))
    }

    async fn act(&self, action: &Action) -> Result<Value, String> {
        let runs = !matches!(action.what, Do::GetState { .. } | Do::GetHistory {});
        let result = self.try_act(action).await;
        let mut result = match result {
            Ok(result) => result.ok_or("an entrypoint has no such action")?,
            Err(error) => json!({ "error": kind::error(&error) }),
        };
        let executed = self.functions.started.take();
        if let (true, Some(result)) = (runs, result.as_object_mut()) {
            result.insert("executed".to_owned(), executed);
        }
        Ok(result)
    }

    async fn try_act(&self, action: &Action) -> Result<Option<Value>, AgentError> {
        let thread = self.graph.thread(self.thread(action));
        match &action.what {
            Do::Invoke { input } => self.invoke(self.input(input, action).await?).await,
            Do::Command(command) => self.invoke(self.resume(command, action).await?).await,
            Do::Stream {
                mode: OneOrMany::One(mode),
                input,
                command,
                ..
            } => {
                let run = match command {
                    Some(command) => self.resume(command, action).await?,
                    None => self.input(input, action).await?,
                };
                self.stream(run, mode).await
            }
            Do::GetState { .. } => {
                let state = thread.state().await?;
                let next = state.as_ref().map_or(&[][..], |state| &state.next);
                let next: Vec<_> = next.iter().map(ToString::to_string).collect();
                let interrupts = state.as_ref().map(|state| payloads(&state.interrupts));
                Ok(Some(json!({
                    "state": {
                        "value": state.as_ref().and_then(|state| state.values.output.clone()),
                        "next": next,
                        "interrupts": interrupts.unwrap_or_else(|| json!([])),
                    }
                })))
            }
            Do::GetHistory {} => {
                let ended = self.ended(action).await?;
                let values: Vec<_> = ended.iter().map(|state| &state.values.output).collect();
                Ok(Some(json!({ "history": values })))
            }
            _ => Ok(None),
        }
    }

    /// The checkpoints of runs that have ended, newest first.
    async fn ended(&self, action: &Action) -> Result<Vec<Snapshot<WorkflowState>>, AgentError> {
        let thread = self.graph.thread(self.thread(action));
        let mut history = thread.history().await?;
        history.retain(|state| state.next.is_empty());
        Ok(history)
    }

    async fn input(
        &self,
        input: &Value,
        action: &Action,
    ) -> Result<Option<Run<WorkflowState>>, AgentError> {
        if !self.functions.spec.checkpointer {
            return Ok(Some(self.graph.run(workflow(input.clone()))));
        }
        let thread = self.graph.thread(self.thread(action));
        if input.is_null() {
            return Ok(Some(thread.proceed()));
        }
        let run = thread.run(workflow(input.clone()));
        let Some(index) = action.at else {
            return Ok(Some(run));
        };
        let ended = self.ended(action).await?;
        Ok(ended.get(index).map(|state| run.at(state.id)))
    }

    async fn resume(
        &self,
        command: &CommandSpec,
        action: &Action,
    ) -> Result<Option<Run<WorkflowState>>, AgentError> {
        let thread = self.graph.thread(self.thread(action));
        if let Some(answer) = &command.resume {
            return Ok(Some(thread.answer(answer)));
        }
        let Some(pairs) = &command.resume_map else {
            return Ok(None);
        };
        let state = thread.state().await?;
        let mut open = state.map_or_else(Vec::new, |state| state.interrupts);
        let mut answers = Vec::new();
        for (payload, answer) in pairs {
            let found = open
                .iter()
                .position(|interrupt| interrupt.payload == *payload);
            if let Some(found) = found {
                answers.push((open.remove(found).id, answer.clone()));
            }
        }
        Ok(Some(thread.resume_all(answers)))
    }

    async fn invoke(&self, run: Option<Run<WorkflowState>>) -> Result<Option<Value>, AgentError> {
        let Some(run) = run else { return Ok(None) };
        let outcome = run.await?;
        let interrupts = payloads(outcome.interrupts());
        let value = &outcome.state().output;
        Ok(Some(json!({ "value": value, "interrupts": interrupts })))
    }

    async fn stream(
        &self,
        run: Option<Run<WorkflowState>>,
        mode: &str,
    ) -> Result<Option<Value>, AgentError> {
        let mode_of = |mode: &str| {
            Some(match mode {
                "values" => StreamMode::Values,
                "updates" => StreamMode::Updates,
                "custom" => StreamMode::Custom,
                "tasks" => StreamMode::Tasks,
                _ => return None,
            })
        };
        let (Some(run), Some(modes)) = (run, mode_of(mode)) else {
            return Ok(None);
        };
        let mut events = run.stream(StreamOptions::new(modes).subgraphs());
        let mut chunks = Vec::new();
        while let Some(event) = events.next().await {
            chunks.extend(chunk(event?));
        }
        events.finish().await?;
        Ok(Some(json!({ "chunks": [chunks] })))
    }
}

/// The payloads of interrupts.
fn payloads(interrupts: &[Interrupt]) -> Value {
    sorted(interrupts.iter().map(|one| one.payload.clone()).collect())
}

/// An event as a chunk. A task is a graph of one node, whose events are those of the task.
fn chunk(event: Event<WorkflowState>) -> Option<Value> {
    match event.kind {
        EventKind::Values(state) => state.output.clone(),
        EventKind::Interrupt(interrupts) if event.namespace.is_empty() => {
            Some(json!({ "__interrupt__": payloads(&interrupts) }))
        }
        EventKind::Update { node, update, .. } => {
            Some(json!({ &*node: written(&update, |state| state.output.clone()) }))
        }
        EventKind::Inner(inner) => match inner.typed::<TaskState>()? {
            EventKind::Update { node, update, .. } => {
                let output = |state: &TaskState| state.output.as_ref()?.to_value().ok();
                Some(json!({ &*node: written(&update, output) }))
            }
            other => any(other),
        },
        other => any(other),
    }
}

fn any<S: State>(kind: EventKind<S>) -> Option<Value> {
    match kind {
        EventKind::Custom { value, .. } => Some(value),
        EventKind::TaskStarted(task) => Some(json!(["start", &*task.node])),
        EventKind::TaskFinished(task) => {
            let interrupts = payloads(&task.interrupts);
            Some(json!(["finish", &*task.node, interrupts]))
        }
        _ => None,
    }
}

/// What the writes of a function make of an empty state.
fn written<S: State + Default, T>(
    writes: &[Write<S>],
    read: impl Fn(&S) -> Option<T>,
) -> Option<T> {
    let mut updates = writes.iter().filter_map(Write::update);
    let state = updates.try_fold(S::default(), |state, update| state.merge(update.clone()));
    read(&state.ok()?)
}
