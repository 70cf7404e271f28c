//! The methods of A2A, over the tasks of one agent.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use a2a::{
    A2AError, AgentCard, CancelTaskRequest, DeleteTaskPushNotificationConfigRequest,
    GetExtendedAgentCardRequest, GetTaskPushNotificationConfigRequest, GetTaskRequest,
    ListTaskPushNotificationConfigsRequest, ListTaskPushNotificationConfigsResponse,
    ListTasksRequest, ListTasksResponse, Message, SendMessageRequest, SendMessageResponse,
    StreamResponse, SubscribeToTaskRequest, Task, TaskPushNotificationConfig, TaskState,
    new_context_id, new_task_id,
};
use a2a_server::{RequestHandler, ServiceParams};
use async_trait::async_trait;
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use langgraph_remote::{
    AgentEnvelope, AgentHandler, AgentId, ConversationId, EnvelopeBody, ErrorCode, TraceContext,
};

use crate::message::{Purpose, purpose};
use crate::push::Push;
use crate::task::{Entry, Refusal, rests};
use crate::tasks::{Listing, Page, TaskLimits, Tasks};
use crate::wire;

/// The id of every caller of a server without tokens.
pub(crate) const ANONYMOUS: &str = "anyone";
const PAGE: usize = 50;
const LONGEST_PAGE: usize = 100;
/// The most bytes of the tasks of a page, except for its first one.
const PAGE_BYTES: usize = 4 << 20;

pub(crate) type Tokens = HashMap<String, AgentId>;

pub(crate) struct Handler {
    pub(crate) id: AgentId,
    pub(crate) agent: Arc<dyn AgentHandler>,
    pub(crate) tokens: Option<Tokens>,
    pub(crate) tasks: Tasks,
    pub(crate) limits: TaskLimits,
    pub(crate) longest: Duration,
    pub(crate) push: Push,
}

impl Handler {
    /// Returns the caller: the owner of the token.
    pub(crate) fn caller(&self, authorization: Option<&str>) -> Option<AgentId> {
        let Some(tokens) = &self.tokens else {
            return Some(ANONYMOUS.into());
        };
        let (scheme, token) = authorization?.split_once(' ')?;
        // Compared with each of them, in a time that does not depend on where they differ.
        let known = tokens.iter().filter(|(known, _)| same(known, token.trim()));
        let owner = known.map(|(_, id)| id.clone()).last();
        owner.filter(|_| scheme.eq_ignore_ascii_case("bearer"))
    }

    fn owner(&self, params: &ServiceParams) -> Result<AgentId, A2AError> {
        let header = params
            .get("authorization")
            .and_then(|values| values.first());
        self.caller(header.map(String::as_str))
            .ok_or_else(|| A2AError::invalid_request(UNAUTHORIZED))
    }

    fn task(&self, params: &ServiceParams, id: &str) -> Result<Arc<Entry>, A2AError> {
        let owner = self.owner(params)?;
        self.tasks
            .get(id, &owner)
            .ok_or_else(|| A2AError::task_not_found(id))
    }

    /// Starts or continues the task of a message.
    async fn begin(
        &self,
        params: &ServiceParams,
        request: SendMessageRequest,
    ) -> Result<Arc<Entry>, A2AError> {
        let owner = self.owner(params)?;
        let message = request.message;
        if message.parts.is_empty() {
            return Err(A2AError::invalid_params("the message has no part"));
        }
        if let Some(entry) = self.tasks.begun_by(&message.message_id, &owner) {
            return Ok(entry);
        }
        let entry = self.entry(&message, &owner)?;
        let purpose = purpose(&message, &entry)?;
        let id = message.message_id.clone();
        let forgotten = self
            .tasks
            .add(&entry, &id, self.limits)
            .map_err(|()| A2AError::internal("overloaded: the agent is busy"))?;
        self.push.forget(&forgotten).await;
        let configuration = request.configuration;
        if let Some(webhook) = configuration.and_then(|all| all.task_push_notification_config)
            && let Err(error) = self.push.add(&entry, webhook).await
        {
            // Its work never begins.
            entry.fail(&ErrorCode::BadRequest, &error.message);
            return Err(error);
        }
        let limit = wire::field(message.metadata.as_ref(), "timeout_ms")
            .and_then(|millis| millis.as_u64())
            .map_or(self.longest, Duration::from_millis)
            .min(self.longest);
        let mut envelope = AgentEnvelope::new(owner, self.id.clone(), EnvelopeBody::Cancel)
            .with_request_id(id)
            .in_conversation(ConversationId::new(entry.context.as_str()))
            .with_timeout(limit);
        envelope.trace = trace(params);
        envelope.allowance = wire::read(message.metadata.as_ref(), "allowance");
        envelope.body = match purpose {
            Purpose::Request(body) => body,
            Purpose::Answers(answers) => EnvelopeBody::Resume(answers.into_iter().collect()),
        };
        match entry.begin(message) {
            Ok(()) => {}
            Err(Refusal::Busy) => {
                let message = format!("task {} is running", entry.id);
                return Err(A2AError::unsupported_operation(message));
            }
            Err(Refusal::TooLarge) => {
                let message = format!("the messages of task {} are too large", entry.id);
                entry.fail(&ErrorCode::BadRequest, &message);
                return Err(A2AError::invalid_params(message));
            }
        }
        let work = work(Arc::clone(&entry), self.agent.handle(envelope), limit);
        entry.working(tokio::spawn(work).abort_handle());
        Ok(entry)
    }

    /// Returns the task that the message continues, or a new one.
    fn entry(&self, message: &Message, owner: &AgentId) -> Result<Arc<Entry>, A2AError> {
        let new = |context: Option<String>| {
            let context = context.unwrap_or_else(new_context_id);
            Entry::new(new_task_id(), context, owner.clone())
        };
        let Some(id) = &message.task_id else {
            return Ok(new(message.context_id.clone()));
        };
        // Answers name their interrupts. If the task is no longer kept, the thread still has them.
        let answers = wire::read_answers(message).is_some() && message.context_id.is_some();
        let Some(entry) = self.tasks.get(id, owner) else {
            if answers {
                return Ok(new(message.context_id.clone()));
            }
            return Err(A2AError::task_not_found(id));
        };
        if message
            .context_id
            .as_ref()
            .is_some_and(|context| *context != entry.context)
        {
            let message = format!("task {id} belongs to another context");
            return Err(A2AError::invalid_params(message));
        }
        match entry.state() {
            TaskState::InputRequired => Ok(entry),
            state if state.is_terminal() && answers => Ok(new(Some(entry.context.clone()))),
            state if state.is_terminal() => Err(A2AError::unsupported_operation(format!(
                "task {id} has ended; send the message without a task"
            ))),
            _ => Err(A2AError::unsupported_operation(format!(
                "task {id} is running, and waits for no answer"
            ))),
        }
    }
}

/// Cuts a page before it becomes too large. Returns its tasks, and the number of the last one if more follow.
fn bounded(page: Page) -> (Vec<Arc<Entry>>, Option<u64>) {
    let mut bytes = 0;
    let mut tasks: Vec<Arc<Entry>> = Vec::new();
    let mut last = None;
    for (number, entry) in page.tasks {
        bytes += entry.bytes();
        if bytes > PAGE_BYTES && !tasks.is_empty() {
            return (tasks, last);
        }
        tasks.push(entry);
        last = Some(number);
    }
    (tasks, page.more)
}

/// Reads a reply into its task.
async fn work(entry: Arc<Entry>, mut reply: langgraph_remote::ReplyStream, limit: Duration) {
    // A panic of the agent must not leave a task that never ends.
    let ends = Ends(Arc::clone(&entry));
    let read = async {
        while let Some(part) = reply.next().await {
            match part {
                Ok(envelope) => entry.add(envelope),
                Err(error) => entry.fail(&ErrorCode::Failed, &error.to_string()),
            }
            if rests(&entry.state()) {
                return;
            }
        }
    };
    if tokio::time::timeout(limit, read).await.is_err() {
        let message = format!("no complete reply within {limit:?}");
        entry.fail(&ErrorCode::TimedOut, &message);
    }
    drop(ends);
}

struct Ends(Arc<Entry>);

impl Drop for Ends {
    fn drop(&mut self) {
        self.0.end();
    }
}

pub(crate) const UNAUTHORIZED: &str = "unauthorized: the agent needs a bearer token";

fn same(expected: &str, found: &str) -> bool {
    let pairs = expected.bytes().zip(found.bytes());
    let different = pairs.fold(0, |difference, (a, b)| difference | (a ^ b));
    expected.len() == found.len() && different == 0
}

fn trace(params: &ServiceParams) -> Option<TraceContext> {
    let header = |name: &str| Some(params.get(name)?.first()?.clone());
    Some(TraceContext::new(
        header("traceparent")?,
        header("tracestate"),
    ))
}

#[async_trait]
impl RequestHandler for Handler {
    async fn send_message(
        &self,
        params: &ServiceParams,
        request: SendMessageRequest,
    ) -> Result<SendMessageResponse, A2AError> {
        let configuration = request.configuration.clone();
        let history = configuration.as_ref().and_then(|all| all.history_length);
        let at_once = configuration.and_then(|all| all.return_immediately);
        let entry = self.begin(params, request).await?;
        if at_once != Some(true) {
            entry.rest().await;
        }
        Ok(SendMessageResponse::Task(entry.snapshot(history, true)))
    }

    async fn send_streaming_message(
        &self,
        params: &ServiceParams,
        request: SendMessageRequest,
    ) -> Result<BoxStream<'static, Result<StreamResponse, A2AError>>, A2AError> {
        let entry = self.begin(params, request).await?;
        Ok(entry.follow().map(Ok).boxed())
    }

    async fn get_task(
        &self,
        params: &ServiceParams,
        request: GetTaskRequest,
    ) -> Result<Task, A2AError> {
        let entry = self.task(params, &request.id)?;
        Ok(entry.snapshot(request.history_length, true))
    }

    async fn list_tasks(
        &self,
        params: &ServiceParams,
        request: ListTasksRequest,
    ) -> Result<ListTasksResponse, A2AError> {
        let owner = self.owner(params)?;
        let after = request.status_timestamp_after.as_ref();
        let matches = |entry: &Entry| {
            let status = entry.status();
            let state = request.status.as_ref();
            state.is_none_or(|state| *state == status.state)
                && after.is_none_or(|after| status.timestamp.is_some_and(|at| at > *after))
        };
        let filtered = request.status.is_some() || after.is_some();
        let size = request
            .page_size
            .map_or(PAGE, |size| usize::try_from(size).unwrap_or(0))
            .clamp(1, LONGEST_PAGE);
        let before = match request.page_token.as_deref() {
            None | Some("") => u64::MAX,
            Some(token) => token
                .parse()
                .map_err(|_| A2AError::invalid_params("invalid page token"))?,
        };
        let page = self.tasks.list(&Listing {
            owner: &owner,
            context: request.context_id.as_deref(),
            matches: if filtered { Some(&matches) } else { None },
            before,
            size,
        });
        let artifacts = request.include_artifacts == Some(true);
        let count = |count: usize| i32::try_from(count).unwrap_or(i32::MAX);
        let total_size = count(page.total);
        let (tasks, next) = bounded(page);
        Ok(ListTasksResponse {
            page_size: count(size),
            total_size,
            next_page_token: next.map(|number| number.to_string()).unwrap_or_default(),
            tasks: tasks
                .iter()
                .map(|entry| entry.snapshot(request.history_length, artifacts))
                .collect(),
        })
    }

    async fn cancel_task(
        &self,
        params: &ServiceParams,
        request: CancelTaskRequest,
    ) -> Result<Task, A2AError> {
        let entry = self.task(params, &request.id)?;
        if !entry.cancel() && entry.state() != TaskState::Canceled {
            return Err(A2AError::task_not_cancelable(&request.id));
        }
        Ok(entry.snapshot(None, true))
    }

    async fn subscribe_to_task(
        &self,
        params: &ServiceParams,
        request: SubscribeToTaskRequest,
    ) -> Result<BoxStream<'static, Result<StreamResponse, A2AError>>, A2AError> {
        let entry = self.task(params, &request.id)?;
        if entry.state().is_terminal() {
            let message = format!("task {} has ended", request.id);
            return Err(A2AError::unsupported_operation(message));
        }
        Ok(entry.follow().map(Ok).boxed())
    }

    async fn create_push_config(
        &self,
        params: &ServiceParams,
        request: TaskPushNotificationConfig,
    ) -> Result<TaskPushNotificationConfig, A2AError> {
        let entry = self.task(params, &request.task_id)?;
        self.push.add(&entry, request).await
    }

    async fn get_push_config(
        &self,
        params: &ServiceParams,
        request: GetTaskPushNotificationConfigRequest,
    ) -> Result<TaskPushNotificationConfig, A2AError> {
        self.task(params, &request.task_id)?;
        self.push.get(&request.task_id, &request.id).await
    }

    async fn list_push_configs(
        &self,
        params: &ServiceParams,
        request: ListTaskPushNotificationConfigsRequest,
    ) -> Result<ListTaskPushNotificationConfigsResponse, A2AError> {
        self.task(params, &request.task_id)?;
        Ok(ListTaskPushNotificationConfigsResponse {
            configs: self.push.list(&request.task_id).await?,
            next_page_token: None,
        })
    }

    async fn delete_push_config(
        &self,
        params: &ServiceParams,
        request: DeleteTaskPushNotificationConfigRequest,
    ) -> Result<(), A2AError> {
        self.task(params, &request.task_id)?;
        self.push.delete(&request.task_id, &request.id).await
    }

    async fn get_extended_agent_card(
        &self,
        _: &ServiceParams,
        _: GetExtendedAgentCardRequest,
    ) -> Result<AgentCard, A2AError> {
        Err(A2AError::unsupported_operation(
            "the card has no extended form",
        ))
    }
}
