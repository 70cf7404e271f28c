//! A model that needs no key: it repeats its input, word by word.

use std::time::Duration;

use async_trait::async_trait;
use futures_util::{StreamExt as _, stream};
use langgraph::message::{FinishReason, Message, MessageAccumulator, MessageChunk, ToolCall};
use langgraph_agent::{ChatModel, ChatRequest, ChatResponse, ModelError, ModelStream};
use serde_json::json;

/// Answers `delete F` with a call of `delete_file`, and everything else with its words.
pub(crate) struct Offline;

/// How long it takes for a word.
const WORD: Duration = Duration::from_millis(20);

fn answer(request: &ChatRequest) -> Message {
    let Some(last) = request.messages.last() else {
        return Message::assistant("Hello!");
    };
    let heard = last.text().into_owned();
    if let Some(path) = heard.strip_prefix("delete ").filter(|_| !last.is_tool()) {
        let id = format!("call-{}", request.messages.len());
        let call = ToolCall::new(id, "delete_file", json!({"path": path}));
        return Message::assistant_with_tool_calls("", [call]);
    }
    Message::assistant(format!("You said: {heard}"))
}

#[async_trait]
impl ChatModel for Offline {
    async fn generate(&self, request: ChatRequest) -> Result<ChatResponse, ModelError> {
        let mut whole = MessageAccumulator::new();
        let mut chunks = self.stream(request);
        while let Some(chunk) = chunks.next().await {
            whole.push(chunk?);
        }
        Ok(ChatResponse::new(whole.finish()))
    }

    fn stream(&self, request: ChatRequest) -> ModelStream<'_> {
        let answer = answer(&request);
        let mut chunks = Vec::new();
        if answer.tool_calls().is_empty() {
            let text = answer.text().into_owned();
            let words = text.split_inclusive(' ');
            chunks.extend(words.map(|word| MessageChunk::text(word.to_owned())));
            chunks.push(MessageChunk::finish(FinishReason::Stop));
        } else {
            chunks.extend(MessageChunk::split(&answer));
            chunks.push(MessageChunk::finish(FinishReason::ToolCalls));
        }
        Box::pin(stream::iter(chunks).then(|chunk| async {
            tokio::time::sleep(WORD).await;
            Ok(chunk)
        }))
    }
}
