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
    /// Tasks whose tools answered as they did then.
    answered: HashSet<Task>,
    /// Tasks that called a model whose answers are not stored.
    missing: Vec<Task>,
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

    /// Returns true if a tool of the task answered as it did then.
    pub(super) fn has_answered(&self, task: Task) -> bool {
        self.lock().answered.contains(&task)
    }

    /// Returns the tasks that called a model whose answers are not stored.
    pub(super) fn missing(&self) -> Vec<Task> {
        self.lock().missing.clone()
    }

    /// Returns the tasks whose requests are not recorded.
    pub(super) fn unrecorded(&self) -> Vec<Task> {
        self.lock().unrecorded.clone()
    }

    /// Returns the tasks whose requests differ from the recorded ones.
    pub(super) fn changed(&self) -> Vec<(Task, Difference)> {
        self.lock().changed.clone()
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
        let stored = self.answers.get(&task).map(|task| &*task.models);
        let stored = stored.unwrap_or_default();
        if stored.is_empty() {
            if let Some(model) = &self.model {
                return Some(model.generate(request.clone()).await);
            }
            self.lock().missing.push(task);
            return Some(invalid("no answer of the model is stored"));
        }
        let place = {
            let mut requests = self.lock();
            let taken = requests.taken.entry(task).or_default();
            *taken += 1;
            *taken - 1
        };
        Some(match stored.get(place) {
            Some(message) => {
                self.compare(task, model, request, message);
                Ok(ChatResponse::new(message.clone()))
            }
            None => invalid("the model is called more often than then"),
        })
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
            self.lock().answered.extend(task);
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
