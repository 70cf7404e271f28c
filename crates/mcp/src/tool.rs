//! A tool of a server.

use std::sync::Arc;

use langgraph_agent::{Tool, ToolContext, ToolDefinition, ToolError, ToolOutput, async_trait};
use rmcp::model::{CallToolRequestParams, CallToolResponse, CallToolResult};
use rmcp::service::ServiceError;
use serde_json::Value;

use crate::client::Connection;
use crate::{McpError, content, elicit};

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
        for _ in 0..MAX_ROUNDS {
            match self.once(call.clone()).await? {
                CallToolResponse::Complete(result) => return Ok(result),
                CallToolResponse::InputRequired(required) => {
                    call.input_responses = elicit::answers(&required, cx)?;
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

    /// Sends one request. Dropping the future cancels the request at the server.
    async fn once(&self, call: CallToolRequestParams) -> Result<CallToolResponse, ToolError> {
        let Connection {
            server, options, ..
        } = &*self.connection;
        let limit = options.call_timeout;
        let answer = self.connection.peer().call_tool_once(call);
        let Ok(answer) = tokio::time::timeout(limit, answer).await else {
            return Err(ToolError::model(format!(
                "`{}` has not answered within {limit:?}",
                self.name
            )));
        };
        answer.map_err(|error| match error {
            ServiceError::McpError(refusal) => ToolError::model(refusal.message.into_owned()),
            gone @ (ServiceError::TransportSend(_) | ServiceError::TransportClosed) => {
                ToolError::fatal(McpError::Gone {
                    server: server.clone(),
                    source: Box::new(gone),
                })
            }
            other => ToolError::model(other.to_string()),
        })
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
