//! A tool of a server.

use std::pin::pin;
use std::sync::Arc;

use langgraph::node::{Context, NodeError};
use langgraph::stream::StreamMode;
use langgraph_agent::{Tool, ToolContext, ToolDefinition, ToolError, ToolOutput, async_trait};
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResponse, CallToolResult,
    CancelledNotification, CancelledNotificationParam, ClientRequest, ElicitRequestParams,
    ElicitResult, ProgressNotificationParam, RequestId, ServerResult,
};
use rmcp::service::{Peer, PeerRequestOptions, RoleClient, ServiceError};
use serde_json::{Value, json};
use tokio::runtime::Handle;

use crate::connection::Connection;
use crate::handler::Heard;
use crate::{Elicited, McpError, content, elicit};

/// The number of times that a server may ask for more before it answers a call.
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
                        "`{}` has begun a task of its own, whose end cannot be waited for",
                        self.name
                    )));
                }
            }
        }
        Err(ToolError::model(format!(
            "`{}` has asked {MAX_ROUNDS} times and not answered",
            self.name
        )))
    }

    /// Sends one request, unless an earlier attempt has sent it and the server asks for something: then
    /// the server waits for the answer, and must not begin anew.
    async fn round(
        &self,
        round: usize,
        call: CallToolRequestParams,
        cx: &ToolContext<'_>,
    ) -> Result<CallToolResponse, ToolError> {
        let key = || format!("mcp/{}/{round}", cx.call_id());
        if let Some(asked) = cx.once_result(key()).map_err(ToolError::fatal)? {
            return Ok(CallToolResponse::InputRequired(asked));
        }
        let response = self.once(call, cx).await?;
        if let CallToolResponse::InputRequired(asked) = &response {
            let asked = async { Ok::<_, NodeError>(asked.clone()) };
            Context::once(cx, key(), asked)
                .await
                .map_err(ToolError::fatal)?;
        }
        Ok(response)
    }

    /// Sends one request. Dropping the future cancels the request at the server.
    async fn once(
        &self,
        call: CallToolRequestParams,
        cx: &ToolContext<'_>,
    ) -> Result<CallToolResponse, ToolError> {
        let limit = self.connection.options.call_timeout;
        let Ok(answer) = tokio::time::timeout(limit, self.request(call, cx)).await else {
            return Err(ToolError::model(format!(
                "`{}` has not answered within {limit:?}",
                self.name
            )));
        };
        answer
    }

    async fn request(
        &self,
        call: CallToolRequestParams,
        cx: &ToolContext<'_>,
    ) -> Result<CallToolResponse, ToolError> {
        let peer = self.connection.peer();
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(call));
        let options = PeerRequestOptions::no_options();
        let sent = peer.send_request_with_option(request, options).await;
        let sent = sent.map_err(|error| self.failed(error))?;
        let mut hearing = self.connection.calls.hear(sent.progress_token.clone());
        let mut waiting = Waiting(Some((peer.clone(), sent.id.clone())));
        let mut answer = pin!(sent.await_response());
        let mut questions = 0;
        let answer = loop {
            tokio::select! {
                // What it says before its answer counts before it.
                biased;
                heard = hearing.next() => match heard {
                    Heard::Progress(progress) => Self::tell(progress, cx).await?,
                    Heard::Asked(params, reply) => {
                        let answer = Self::person(&params, questions, cx)?;
                        questions += 1;
                        let _ = reply.send(answer); // the server has just answered the call
                    }
                },
                answer = &mut answer => break answer,
            }
        };
        waiting.0 = None;
        match answer.map_err(|error| self.failed(error))? {
            ServerResult::CallToolResult(result) => Ok(CallToolResponse::Complete(result)),
            ServerResult::InputRequiredResult(result) => {
                Ok(CallToolResponse::InputRequired(result))
            }
            ServerResult::CreateTaskResult(result) => Ok(CallToolResponse::Task(result)),
            _ => Err(ToolError::model(format!(
                "the server has not answered the call of `{}` but something else",
                self.name
            ))),
        }
    }

    /// Returns the answer of a person to the question of a server during the call. Without it the run
    /// pauses; then the server is called again, and asks again.
    fn person(
        params: &ElicitRequestParams,
        questions: usize,
        cx: &ToolContext<'_>,
    ) -> Result<ElicitResult, ToolError> {
        let question = elicit::question(params).ok_or_else(elicit::not_a_question)?;
        let key = format!("{}/{questions}", cx.call().name);
        let answer: Elicited = cx.interrupt(&key, &question)?;
        Ok(serde_json::from_value(answer.into_wire())?)
    }

    /// Emits how far the call is.
    async fn tell(
        progress: ProgressNotificationParam,
        cx: &ToolContext<'_>,
    ) -> Result<(), ToolError> {
        if cx.wants(StreamMode::Custom) {
            let event = json!({
                "type": "mcp_progress",
                "tool": cx.call().name,
                "call": cx.call_id(),
                "progress": progress.progress,
                "total": progress.total,
                "message": progress.message,
            });
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

/// A request that is cancelled at the server if nobody waits for its answer any more.
struct Waiting(Option<(Peer<RoleClient>, RequestId)>);

impl Drop for Waiting {
    fn drop(&mut self) {
        let (Some((peer, id)), Ok(runtime)) = (self.0.take(), Handle::try_current()) else {
            return;
        };
        runtime.spawn(async move {
            let reason = Some("nobody waits for the answer".to_owned());
            let cancelled = CancelledNotificationParam::new(Some(id), reason);
            // A server that is gone needs no word.
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
                let text = format!("the arguments are no JSON object: {other}");
                return Err(ToolError::arguments(text));
            }
        };
        let result = self.answer(call, cx).await?;
        match result.is_error {
            Some(true) => Err(ToolError::model(content::text(result))),
            _ => Ok(content::output(result)),
        }
    }
}
