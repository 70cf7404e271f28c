//! Marks of the prompts that a provider keeps.

use langgraph::error::NodeError;
use langgraph::message::{Content, ContentPart, Message, MessageKind};
use langgraph_agent::{
    AgentContext, AgentMiddleware, ChatResponse, ModelCall, NextModel, middleware,
};
use serde_json::json;

/// Marks the instructions and the last message of each request, so that the provider keeps the prompt up to
/// there and the next request costs less; as LangChain's `AnthropicPromptCachingMiddleware`.
///
/// The marks are `cache_control` of Anthropic's interface: a part of the request, and not of the state. The
/// models of `langgraph-genai` send them to Anthropic only; other providers keep prompts without a mark. It
/// stands last in the list, so that no other middleware changes the request after it.
///
/// # Examples
///
/// ```
/// use langgraph_agent::{MessagesStateUpdate, ScriptedModel, react_agent};
/// use langgraph_middleware::PromptCaching;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let model = ScriptedModel::new(["hi"]);
/// let agent = react_agent(model.clone(), ()).prompt("Be brief.").with(PromptCaching::new()).compile()?;
/// agent.invoke(MessagesStateUpdate::user("Hello!")).await?;
/// let sent = serde_json::to_value(&model.requests()[0].messages)?;
/// assert_eq!(sent[0]["content"][0]["cache_control"]["type"], "ephemeral");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct PromptCaching {
    hour: bool,
}

impl PromptCaching {
    /// Keeps prompts for the provider's usual time: five minutes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Keeps prompts for an hour, for which Anthropic takes more.
    #[must_use]
    pub fn for_an_hour(mut self) -> Self {
        self.hour = true;
        self
    }

    /// Marks the last text of a message.
    fn mark(self, message: &mut Message) {
        match &mut message.kind {
            MessageKind::System(text) => {
                let parts = vec![self.part(std::mem::take(text))];
                message.kind = MessageKind::SystemParts(parts);
            }
            MessageKind::User(text) => {
                let parts = vec![self.part(std::mem::take(text))];
                message.kind = MessageKind::UserParts(parts);
            }
            MessageKind::SystemParts(parts) | MessageKind::UserParts(parts) => {
                self.mark_last(parts);
            }
            MessageKind::Tool(result) => match &mut result.content {
                Content::Text(text) => {
                    let parts = vec![self.part(std::mem::take(text))];
                    result.content = Content::Parts(parts);
                }
                Content::Parts(parts) => self.mark_last(parts),
            },
            _ => {}
        }
    }

    fn mark_last(self, parts: &mut [ContentPart]) {
        let is_text = |part: &&mut ContentPart| matches!(part, ContentPart::Text { .. });
        if let Some(part) = parts.iter_mut().rev().find(is_text)
            && let ContentPart::Text { text, .. } = part
        {
            *part = self.part(std::mem::take(text));
        }
    }

    fn part(self, text: String) -> ContentPart {
        let mark = if self.hour {
            json!({"type": "ephemeral", "ttl": "1h"})
        } else {
            json!({"type": "ephemeral"})
        };
        let part = json!({"type": "text", "text": &text, "cache_control": mark});
        serde_json::from_value(part).unwrap_or_else(|_| ContentPart::text(text))
    }
}

#[middleware]
impl AgentMiddleware for PromptCaching {
    async fn around_model(
        &self,
        mut call: ModelCall,
        _: &AgentContext<'_>,
        next: NextModel<'_>,
    ) -> Result<ChatResponse, NodeError> {
        let messages = &mut call.request.messages;
        let instructions = messages
            .iter_mut()
            .take_while(|message| message.is_system());
        if let Some(last) = instructions.last() {
            self.mark(last);
        }
        // Providers want a text that is not empty.
        let said = messages.last_mut().filter(|last| !last.is_system());
        if let Some(said) = said.filter(|said| !said.text().is_empty()) {
            self.mark(said);
        }
        next.run(call).await
    }
}
