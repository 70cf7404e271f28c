//! A tool of a server.

use std::pin::pin;
use std::sync::Arc;

use langgraph::error::NodeError;
use langgraph::node::Context;
use langgraph::stream::StreamMode;
use langgraph_agent::{Tool, ToolContext, ToolDefinition, ToolError, ToolOutput, async_trait};
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResponse, CallToolResult,
    CancelledNotification, CancelledNotificationParam, ClientRequest, ElicitRequestParams,
    ElicitResult, ProgressNotificationParam, RequestId, ServerResult,
};
use rmcp::service::{Peer, PeerRequestOptions, RoleClient, ServiceError};
use serde_json::Value;
use tokio::runtime::Handle;

use crate::calls::CallEvent;
use crate::connection::Connection;
use crate::{Elicited, McpError, content, elicit, progress};

/// The number of times that a server may require input before it answers a call.
const MAX_ROUNDS: usize = 16;

/// A tool of a server.
pub(crate) struct RemoteTool {
    definition: ToolDefinition,
    /// The server's name for it.
    name: String,
    connection: Arc<Connection>,
}

impl RemoteTool {
    pub(crate) fn new(tool: rmcp::model::Tool, connection: Arc<Connection>) -> Self {
        let described = tool.description.as_deref().or(tool.title.as_deref());
        let definition = ToolDefinition::new(
            format!("{}{}", connection.options.prefix, tool.name),
            described.unwrap_or_default(),
            Value::Object((*tool.input_schema).clone()),
        );
        Self {
            definition,
            name: tool.name.into_owned(),
            connection,
        }
    }

    /// Calls the tool until the server has all answers.
    async fn answer(
        &self,
        mut call: CallToolRequestParams,
        cx: &ToolContext<'_>,
    ) -> Result<CallToolResult, ToolError> {
        for round in 0..MAX_ROUNDS {
            match self.round(round, call.clone(), cx).await? {
                CallToolResponse::Complete(result) => return Ok(result),
                CallToolResponse::InputRequired(required) => {
                    call.input_responses = elicit::answers(&required, round, cx)?;
                    call.request_state = required.request_state;
                }
                _ => {
                    return Err(ToolError::model(format!(
                        "`{}` has begun a task, which this client does not support",
                        self.name
                    )));
                }
            }
        }
        Err(ToolError::model(format!(
            "`{}` has required input {MAX_ROUNDS} times and not answered",
            self.name
        )))
    }

    /// Sends one request, unless an earlier attempt has sent it and the server requires input: then the server
    /// waits for the answer, and must not begin anew.
    async fn round(
        &self,
        round: usize,
        call: CallToolRequestParams,
        cx: &ToolContext<'_>,
    ) -> Result<CallToolResponse, ToolError> {
        let key = || format!("mcp/{}/{round}", cx.call_id());
        if let Some(required) = cx.once_result(key()).map_err(ToolError::fatal)? {
            return Ok(CallToolResponse::InputRequired(required));
        }
        let response = self.send(call, cx).await?;
        if let CallToolResponse::InputRequired(required) = &response {
            let required = async { Ok::<_, NodeError>(required.clone()) };
            Context::once(cx, key(), required)
                .await
                .map_err(ToolError::fatal)?;
        }
        Ok(response)
    }

    /// Sends one request, when it may be sent. Dropping the future cancels the request at the server.
    async fn send(
        &self,
        call: CallToolRequestParams,
        cx: &ToolContext<'_>,
    ) -> Result<CallToolResponse, ToolError> {
        let limit = self.connection.options.call_timeout;
        loop {
            let _turn = self.connection.calls.turn().await;
            let answer = tokio::time::timeout(limit, self.request(call.clone(), cx)).await;
            match answer {
                Ok(Ok(Some(response))) => return Ok(response),
                // The next turn is alone.
                Ok(Ok(None)) => {}
                Ok(Err(error)) => return Err(error),
                Err(_) => {
                    return Err(ToolError::model(format!(
                        "`{}` has not answered within {limit:?}",
                        self.name
                    )));
                }
            }
        }
    }

    /// Makes the call once; returns `None` if it is to be made again, alone.
    async fn request(
        &self,
        call: CallToolRequestParams,
        cx: &ToolContext<'_>,
    ) -> Result<Option<CallToolResponse>, ToolError> {
        let peer = self.connection.peer();
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(call));
        let options = PeerRequestOptions::no_options();
        let sent = peer.send_request_with_option(request, options).await;
        let sent = sent.map_err(|error| self.failed(error))?;
        let mut events = self.connection.calls.register(sent.progress_token.clone());
        let mut unanswered = CancelOnDrop(Some((peer.clone(), sent.id.clone())));
        let mut answer = pin!(sent.await_response());
        let mut questions = 0;
        let answer = loop {
            tokio::select! {
                // Events that precede the answer are handled before it.
                biased;
                event = events.next() => match event {
                    CallEvent::Progress(progress) => Self::emit_progress(progress, cx).await?,
                    CallEvent::Elicitation(params, reply) => {
                        let answer = Self::ask_person(&params, questions, cx)?;
                        questions += 1;
                        let _ = reply.send(answer); // the server has just answered the call
                    }
                    CallEvent::Repeat => return Ok(None),
                },
                answer = &mut answer => break answer,
            }
        };
        unanswered.0 = None;
        let response = match answer.map_err(|error| self.failed(error))? {
            ServerResult::CallToolResult(result) => CallToolResponse::Complete(result),
            ServerResult::InputRequiredResult(result) => CallToolResponse::InputRequired(result),
            ServerResult::CreateTaskResult(result) => CallToolResponse::Task(result),
            _ => {
                return Err(ToolError::model(format!(
                    "unexpected answer of the server to the call of `{}`",
                    self.name
                )));
            }
        };
        Ok(Some(response))
    }

    /// Returns the answer of a person to the question of a server during the call. Without it the run
    /// pauses; then the server is called again, and asks again.
    fn ask_person(
        params: &ElicitRequestParams,
        questions: usize,
        cx: &ToolContext<'_>,
    ) -> Result<ElicitResult, ToolError> {
        let question = elicit::question(params).ok_or_else(elicit::unsupported_request)?;
        let key = format!("{}/{questions}", cx.call().name);
        let answer: Elicited = cx.interrupt(&key, &question)?;
        Ok(serde_json::from_value(answer.into_wire())?)
    }

    /// Emits the progress of the call.
    async fn emit_progress(
        progress: ProgressNotificationParam,
        cx: &ToolContext<'_>,
    ) -> Result<(), ToolError> {
        if cx.wants(StreamMode::Custom) {
            let event = progress::event(&cx.call().name, cx.call_id(), &progress);
            cx.emit(event).await.map_err(ToolError::fatal)?;
        }
        cx.heartbeat();
        Ok(())
    }

    fn failed(&self, error: ServiceError) -> ToolError {
        match error {
            ServiceError::McpError(refusal) => ToolError::model(refusal.message.into_owned()),
            gone @ (ServiceError::TransportSend(_) | ServiceError::TransportClosed) => {
                ToolError::fatal(McpError::Gone {
                    server: self.connection.server.clone(),
                    source: Box::new(gone),
                })
            }
            other => ToolError::model(other.to_string()),
        }
    }
}

/// Cancels a request at the server, if it is dropped before the answer.
struct CancelOnDrop(Option<(Peer<RoleClient>, RequestId)>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        let (Some((peer, id)), Ok(runtime)) = (self.0.take(), Handle::try_current()) else {
            return;
        };
        runtime.spawn(async move {
            let reason = Some("the answer is no longer needed".to_owned());
            let cancelled = CancelledNotificationParam::new(Some(id), reason);
            // A server that is gone has nothing to cancel.
            let _ = peer
                .send_notification(CancelledNotification::new(cancelled).into())
                .await;
        });
    }
}

#[async_trait]
impl Tool for RemoteTool {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    async fn call(&self, arguments: Value, cx: &ToolContext<'_>) -> Result<ToolOutput, ToolError> {
        let mut call = CallToolRequestParams::new(self.name.clone());
        call.arguments = match arguments {
            Value::Null => None,
            Value::Object(arguments) => Some(arguments),
            other => {
                let text = format!("invalid arguments: expected a JSON object, found {other}");
                return Err(ToolError::arguments(text));
            }
        };
        let result = self.answer(call, cx).await?;
        match result.is_error {
            Some(true) => Err(ToolError::model(content::text(result))),
            _ => Ok(content::output(result)),
        }
    }

    fn custom_events(&self) -> Option<Value> {
        Some(progress::schema(&self.definition.name))
    }
}
