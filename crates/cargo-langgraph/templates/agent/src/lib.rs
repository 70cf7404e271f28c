//! An agent: it asks a model, calls the tools that the model requests, and repeats until it has an answer.

use langgraph::graph::CompilationErrors;
use langgraph::prelude::*;
use langgraph_agent::prelude::*;

pub mod model;

use model::Offline;

/// The state; each field says how updates are merged into it.
#[derive(State, Clone, Debug, Default)]
pub struct Chat {
    #[reducer(add_messages)]
    pub messages: Vec<Message>,
}

/// Multiplies two whole numbers.
#[tool]
async fn multiply(a: i64, b: i64) -> Result<i64, NodeError> {
    a.checked_mul(b)
        .ok_or_else(|| NodeError::msg("the product is too large"))
}

#[node]
async fn think(chat: &Chat, cx: &Context) -> Result<ChatUpdate, NodeError> {
    let model = cx.model()?;
    let reply = model.invoke(&chat.messages, cx).await?;
    Ok(ChatUpdate::default().messages(vec![reply]))
}

enum Step {
    CallTools,
    Answer,
}

fn next_step(chat: &Chat) -> Step {
    match chat.messages.last() {
        Some(message) if !message.tool_calls().is_empty() => Step::CallTools,
        _ => Step::Answer,
    }
}

/// Returns the graph. A run may have another model.
pub fn agent() -> Result<CompiledStateGraph<Chat>, CompilationErrors> {
    graph! {
        type State = Chat;

        let act = ToolNode::new((multiply,));

        START => think => match next_step {
            Step::CallTools => act => think,
            Step::Answer => END,
        };
    }
    .compile()
    .map(|graph| graph.model(Offline))
}
