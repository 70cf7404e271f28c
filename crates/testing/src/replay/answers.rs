//! Stored answers in the place of models and tools.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use langgraph::async_trait;
use langgraph::checkpoint::CheckpointId;
use langgraph::error::NodeError;
use langgraph::message::{Message, ToolCall, ToolResult};
use langgraph::node::Context;
use langgraph_agent::{ChatModel, ChatRequest, ChatResponse, ModelError, ModelErrorKind, StandIn};
use serde_json::Value;

use super::Options;
use super::requests::{self, Compared};
use super::stored::Answers;
use crate::Cassette;
use crate::cassette::Exchange;

pub(super) type Task = (CheckpointId, usize);

/// The roles of messages.
pub(super) const MODEL: &str = "assistant";
pub(super) const TOOL: &str = "tool";

/// A difference: the field, what was expected, and what came.
pub(super) type Difference = (String, Value, Value);

/// Answers what models and tools answered then.
pub(super) struct StoredAnswers {
    answers: Answers,
    model: Option<Arc<dyn ChatModel>>,
    /// The requests that models got then.
    recorded: Option<Cassette>,
    /// Takes the requests of now, with the answers of then.
    record: Option<Arc<Mutex<Vec<Exchange>>>>,
    /// The models answer anew.
    ask_models: bool,
    run_tools: std::collections::BTreeSet<String>,
    requests: Mutex<Requests>,
}

#[derive(Default)]
struct Requests {
    /// How many answers of models each task has taken.
    taken: HashMap<Task, usize>,
    /// Tasks whose models or tools answered as they did then, with the roles of these messages.
    answered: HashSet<(Task, &'static str)>,
    /// Tasks that called a model whose answers are not stored.
    missing: Vec<Task>,
    /// Tasks that called a tool whose answer is not stored.
    refused: Vec<Task>,
    /// Tasks whose requests are not recorded.
    unrecorded: Vec<Task>,
    /// Tasks whose requests differ from the recorded ones.
    changed: Vec<(Task, Difference)>,
}

impl StoredAnswers {
    pub(super) fn new(answers: Answers, options: &Options) -> Self {
        Self {
            answers,
            model: options.model.clone(),
            recorded: options.recorded.clone(),
            record: options.record.clone(),
            ask_models: options.ask_models,
            run_tools: options.run_tools.clone(),
            requests: Mutex::default(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Requests> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the roles of the messages with which the models and tools of the task answered as they did then.
    pub(super) fn answered(&self, task: Task) -> Vec<&'static str> {
        let answered = &self.lock().answered;
        let roles = [MODEL, TOOL].into_iter();
        roles
            .filter(|role| answered.contains(&(task, *role)))
            .collect()
    }

    /// Returns the tasks that called a model whose answers are not stored.
    pub(super) fn missing(&self) -> Vec<Task> {
        self.lock().missing.clone()
    }

    /// Returns the tasks that called a tool whose answer is not stored.
    pub(super) fn refused(&self) -> Vec<Task> {
        self.lock().refused.clone()
    }

    /// Returns true if the task called a tool whose answer is not stored.
    pub(super) fn has_refused(&self, task: Task) -> bool {
        self.lock().refused.contains(&task)
    }

    /// Returns the tasks whose requests are not recorded.
    pub(super) fn unrecorded(&self) -> Vec<Task> {
        self.lock().unrecorded.clone()
    }

    /// Returns the tasks whose requests differ from the recorded ones.
    pub(super) fn changed(&self) -> Vec<(Task, Difference)> {
        self.lock().changed.clone()
    }

    /// Takes the next stored answer of a task, if it can be one to the request. A thread has no answers but those that
    /// are messages of it: others are not found by their place.
    fn take(&self, task: Task, request: &ChatRequest) -> Option<&Message> {
        let mut requests = self.lock();
        let taken = requests.taken.entry(task).or_default();
        let message = self.answers.get(&task)?.models.get(*taken)?;
        if !requests::can_answer(message, request) {
            return None;
        }
        *taken += 1;
        requests.answered.insert((task, MODEL));
        Some(message)
    }

    /// Compares the request with the one that got `answer` then.
    fn compare(&self, task: Task, model: Option<&str>, request: &ChatRequest, answer: &Message) {
        if let Some(record) = &self.record {
            let mut record = record.lock().unwrap_or_else(PoisonError::into_inner);
            record.push(Exchange::of(model, request.clone(), answer.clone()));
        }
        let Some(recorded) = &self.recorded else {
            return;
        };
        match requests::compare(recorded, model, request, answer) {
            Compared::Same => {}
            Compared::Unknown => self.lock().unrecorded.push(task),
            Compared::Differs(field, then, now) => {
                self.lock().changed.push((task, (field, then, now)));
            }
        }
    }
}

/// Returns the task of a context. Its idempotency keys end in `:checkpoint:task`.
fn task(cx: &Context) -> Option<Task> {
    let key = cx.idempotency_key("");
    let mut parts = key.rsplit(':');
    let task = parts.next()?.parse().ok()?;
    Some((parts.next()?.parse().ok()?, task))
}

#[async_trait]
impl StandIn for StoredAnswers {
    async fn model(
        &self,
        model: Option<&str>,
        request: &ChatRequest,
        cx: &Context,
    ) -> Option<Result<ChatResponse, ModelError>> {
        if self.ask_models {
            let model = self.model.as_ref()?;
            return Some(model.generate(request.clone()).await);
        }
        let invalid = |text: &str| Err(ModelError::new(ModelErrorKind::InvalidRequest, text));
        let Some(task) = task(cx) else {
            return Some(invalid(
                "the task that calls the model is unknown to the replay",
            ));
        };
        let Some(message) = self.take(task, request) else {
            if let Some(model) = &self.model {
                return Some(model.generate(request.clone()).await);
            }
            self.lock().missing.push(task);
            return Some(invalid("no answer of the model is stored"));
        };
        self.compare(task, model, request, message);
        Some(Ok(ChatResponse::new(message.clone())))
    }

    fn is_replay(&self) -> bool {
        true
    }

    fn tool(&self, call: &ToolCall, cx: &Context) -> Option<Result<ToolResult, NodeError>> {
        if self.run_tools.contains(&call.name) {
            return None;
        }
        let task = task(cx);
        let stored = task.and_then(|task| self.answers.get(&task));
        let mut results = stored.into_iter().flat_map(|task| &task.tools);
        let result = results.find(|result| result.call_id == call.id);
        if result.is_some() {
            let answered = task.map(|task| (task, TOOL));
            self.lock().answered.extend(answered);
        } else {
            self.lock().refused.extend(task);
        }
        Some(result.cloned().ok_or_else(|| {
            let name = &call.name;
            NodeError::msg(format!("`{name}` would run now, and did not then"))
        }))
    }
}

/// The model of a replay without one.
pub(super) struct NoModel;

#[async_trait]
impl ChatModel for NoModel {
    async fn generate(&self, _: ChatRequest) -> Result<ChatResponse, ModelError> {
        Err(ModelError::new(
            ModelErrorKind::InvalidRequest,
            "a replay calls no model; name one with `.model(..)`",
        ))
    }
}
