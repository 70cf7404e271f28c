//! What several tests need.

use std::sync::Arc;

use langgraph::checkpoint::MemorySaver;
use langgraph::graph::CompiledStateGraph;
use langgraph::message::{Message, ToolCall};
use langgraph_agent::prelude::*;
use langgraph_agent::{MessagesState, MessagesStateUpdate};
use langgraph_deep::{DeepAgent, Files, deep_agent};
use langgraph_store::{MemoryStore, WithStore as _};
use serde_json::Value;

/// A model whose answer depends on the chat alone: how many answers it has already.
#[derive(Clone)]
pub(crate) struct ByPosition(Arc<[Message]>);

#[async_trait]
impl ChatModel for ByPosition {
    async fn generate(&self, request: ChatRequest) -> Result<ChatResponse, ModelError> {
        let given = request.messages.iter().filter(|one| one.is_assistant());
        let answer = self.0.get(given.count()).cloned();
        Ok(ChatResponse::new(answer.unwrap_or_else(|| {
            Message::assistant("nothing more to say")
        })))
    }
}

pub(crate) fn model(turns: impl IntoIterator<Item = Message>) -> ByPosition {
    ByPosition(turns.into_iter().collect())
}

pub(crate) fn call(id: &str, name: &str, arguments: Value) -> Message {
    calls([(id, name, arguments)])
}

pub(crate) fn calls<const N: usize>(of: [(&str, &str, Value); N]) -> Message {
    let calls = of.map(|(id, name, arguments)| ToolCall::new(id, name, arguments));
    Message::assistant_with_tool_calls("", calls)
}

pub(crate) fn says(text: &str) -> Message {
    Message::assistant(text)
}

/// Returns the agent with a store and a saver in memory.
pub(crate) fn compiled(agent: DeepAgent) -> CompiledStateGraph<MessagesState> {
    let agent = agent.compile().unwrap().store(Arc::new(MemoryStore::new()));
    agent.checkpointer(Arc::new(MemorySaver::new()))
}

/// Makes calls of tools, one after the other, and returns their answers.
pub(crate) async fn answers(
    agent: impl FnOnce(ByPosition) -> DeepAgent,
    of: &[(&str, Value)],
) -> Vec<String> {
    let turns = of.iter().enumerate();
    let turns = turns.map(|(n, (name, arguments))| call(&format!("c{n}"), name, arguments.clone()));
    let agent = compiled(agent(model(turns.chain([says("done")]))));
    let thread = agent.thread("t");
    let outcome = thread.run(MessagesStateUpdate::user("Go!")).await.unwrap();
    results(&outcome.finished().unwrap())
}

/// As [`answers`], of an agent with these files.
pub(crate) async fn answers_with(files: impl Files, of: &[(&str, Value)]) -> Vec<String> {
    answers(|model| deep_agent(model).files(files), of).await
}

/// Returns the answers of tools; errors without the words that surround each.
pub(crate) fn results(state: &MessagesState) -> Vec<String> {
    let results = state.messages.iter().filter(|message| message.is_tool());
    let texts = results.map(|message| {
        let text = message.text().into_owned();
        let error = text
            .strip_prefix("Error: ")
            .and_then(|text| text.split("\n Please").next());
        error.unwrap_or(&text).to_owned()
    });
    texts.collect()
}
