//! Prompts of a server.

use langgraph::message::Message;
use rmcp::model::{PromptMessage, Role};

use crate::content;

/// Messages that a server has prepared; [`McpClient::prompt`](crate::McpClient::prompt) gives them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Prompt {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
    /// What it can be filled with.
    pub arguments: Vec<PromptArgument>,
}

/// An argument of a [`Prompt`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PromptArgument {
    /// Its name.
    pub name: String,
    /// What it is.
    pub description: Option<String>,
    /// Whether the server insists on it.
    pub required: bool,
}

impl From<rmcp::model::Prompt> for Prompt {
    fn from(prompt: rmcp::model::Prompt) -> Self {
        let arguments = prompt.arguments.unwrap_or_default().into_iter();
        Self {
            name: prompt.name,
            description: prompt.description.or(prompt.title),
            arguments: arguments
                .map(|argument| PromptArgument {
                    name: argument.name,
                    description: argument.description,
                    required: argument.required.unwrap_or(false),
                })
                .collect(),
        }
    }
}

/// Converts a message of a prompt.
pub(crate) fn message(message: PromptMessage) -> Message {
    let content = content::joined(vec![content::part(message.content)]);
    match message.role {
        Role::Assistant => Message::assistant(content.text()),
        Role::User => Message::user(content),
    }
}
