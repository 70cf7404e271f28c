//! The message of a request.

use std::collections::HashMap;

use a2a::{Message, Role};
use langgraph_remote::{AgentEnvelope, ConversationId, EnvelopeBody, RemoteError};
use serde_json::{Map, Value, json};

use crate::wire;

/// Writes the limits that the agent should observe. Only an agent with this crate is sent the budget.
pub(crate) fn metadata(request: &AgentEnvelope, ours: bool) -> Option<HashMap<String, Value>> {
    let mut fields = Map::new();
    if let Some(limit) = request.timeout {
        let millis = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
        fields.insert("timeout_ms".to_owned(), json!(millis));
    }
    if let Some(allowance) = request.allowance.filter(|_| ours) {
        fields.insert("allowance".to_owned(), json!(allowance));
    }
    (!fields.is_empty()).then(|| wire::metadata(Value::Object(fields)))
}

/// Writes the message of a request.
pub(crate) fn message(request: &AgentEnvelope, ours: bool) -> Result<Message, RemoteError> {
    let mut message = match &request.body {
        EnvelopeBody::Complete(payload) => {
            let mut message = Message::new(Role::User, vec![wire::part(payload)]);
            message.context_id = request.conversation.as_ref().map(ToString::to_string);
            message
        }
        EnvelopeBody::Resume(answers) => {
            let answers: Map<String, Value> = answers.clone().into_iter().collect();
            let part = match answers.values().next() {
                _ if ours => wire::answers(&answers),
                Some(only) if answers.len() == 1 => wire::part(only),
                _ => wire::part(&Value::Object(answers)),
            };
            let mut message = Message::new(Role::User, vec![part]);
            if let Some((context, task)) = request.conversation.as_ref().and_then(context_and_task)
            {
                message.context_id = Some(context);
                message.task_id = Some(task);
            }
            message
        }
        _ => return Err(RemoteError::NotWhole("part of a message")),
    };
    if let Some(id) = &request.request_id {
        message.message_id = id.to_string();
    }
    Ok(message)
}

/// Returns the conversation of answers to a task: its context and its id, as one name.
pub(crate) fn conversation(context: &str, task: &str) -> ConversationId {
    format!("{context}?task={task}").into()
}

fn context_and_task(conversation: &ConversationId) -> Option<(String, String)> {
    let (context, task) = conversation.as_str().rsplit_once("?task=")?;
    Some((context.to_owned(), task.to_owned()))
}
