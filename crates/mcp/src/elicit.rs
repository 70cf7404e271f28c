//! Questions of a server during a call.

use langgraph_agent::{ToolContext, ToolError};
use rmcp::model::{
    ElicitRequestParams, ElicitationCapability, InputRequest, InputRequiredResult, InputResponses,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A question of a server: the payload of the [interrupt](langgraph_agent::ToolContext::interrupt),
/// whose key is the tool's name and the server's own key, as in `book_table/guests`. A question that the
/// server repeats has its number too, as in `book_table/guests#1`; without a key of the server, the key
/// is the number of the question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Question {
    /// The question for the person.
    pub message: String,
    /// The JSON schema of the answer, if the question is a form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<Value>,
    /// The address that the person should open, if it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

/// The answer to a [`Question`].
///
/// # Examples
///
/// ```
/// use langgraph_mcp::Elicited;
/// use serde_json::json;
///
/// let answer = Elicited::Accept(json!({"guests": 4}));
/// assert_eq!(serde_json::to_value(answer)?, json!({"accept": {"guests": 4}}));
/// assert_eq!(serde_json::to_value(Elicited::Decline)?, json!("decline"));
/// # Ok::<_, serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Elicited {
    /// The content of the form; `null` for an address.
    Accept(Value),
    /// The person does not want to answer.
    Decline,
    /// The person cancels.
    Cancel,
}

impl Elicited {
    /// Returns the answer as the protocol has it.
    pub(crate) fn into_wire(self) -> Value {
        match self {
            Self::Accept(Value::Null) => json!({"action": "accept"}),
            Self::Accept(content) => json!({"action": "accept", "content": content}),
            Self::Decline => json!({"action": "decline"}),
            Self::Cancel => json!({"action": "cancel"}),
        }
    }

    /// Reads the answer of a client.
    #[cfg(feature = "server")]
    pub(crate) fn from_wire(answer: &Value) -> Result<Self, String> {
        match answer["action"].as_str() {
            Some("accept") => Ok(Self::Accept(answer["content"].clone())),
            Some("decline") => Ok(Self::Decline),
            Some("cancel") => Ok(Self::Cancel),
            _ => Err(format!("invalid answer to a question: {answer}")),
        }
    }
}

/// Returns the question of a request; `None` if it is not one to a person.
pub(crate) fn question(params: &ElicitRequestParams) -> Option<Question> {
    match params {
        ElicitRequestParams::FormElicitationParams {
            message,
            requested_schema,
            ..
        } => Some(Question {
            message: message.clone(),
            schema: serde_json::to_value(requested_schema).ok(),
            url: None,
        }),
        ElicitRequestParams::UrlElicitationParams { message, url, .. } => Some(Question {
            message: message.clone(),
            schema: None,
            url: Some(url.clone()),
        }),
        _ => None,
    }
}

/// Declares that we can answer forms and addresses.
pub(crate) fn capability() -> ElicitationCapability {
    let mut capability = ElicitationCapability::default();
    capability.form = Some(rmcp::model::FormElicitationCapability::default());
    capability.url = Some(rmcp::model::UrlElicitationCapability::default());
    capability
}

/// Returns the answers to all of a server's questions, once they exist.
pub(crate) fn answers(
    required: &InputRequiredResult,
    round: usize,
    cx: &ToolContext<'_>,
) -> Result<Option<InputResponses>, ToolError> {
    let Some(requests) = &required.input_requests else {
        return Ok(None);
    };
    let mut answers = InputResponses::new();
    for (key, request) in requests {
        let InputRequest::Elicitation(request) = request else {
            return Err(unsupported_request());
        };
        let question = question(&request.params).ok_or_else(unsupported_request)?;
        // A server may ask the same again, if the answer did not fit.
        let key_here = match round {
            0 => format!("{}/{key}", cx.call().name),
            again => format!("{}/{key}#{again}", cx.call().name),
        };
        let answer: Elicited = cx.interrupt(&key_here, &question)?;
        answers.insert(key.clone(), answer.into_wire());
    }
    Ok(Some(answers))
}

pub(crate) fn unsupported_request() -> ToolError {
    ToolError::model("unsupported request of the server: it is no question to a person")
}
