use langgraph::graph::CompilationErrors;
use langgraph::message::ToolCall;
use langgraph::prelude::*;
use langgraph_agent::prelude::*;
use langgraph_agent::{ScriptedModel, Turn};
use serde_json::json;

// The state is a plain struct; each field says how updates are merged into it.
#[derive(State, Clone, Debug, Default)]
struct Chat {
    #[reducer(add_messages)]
    messages: Vec<Message>,
}

/// Multiplies two whole numbers.
#[tool]
async fn multiply(a: i64, b: i64) -> i64 {
    a * b
}

// A node reads the state and returns an update of it.
#[node]
async fn think(state: &Chat, cx: &Context) -> Result<ChatUpdate, NodeError> {
    let model = cx.model()?;
    let reply = model.invoke(&state.messages, cx).await?;
    Ok(ChatUpdate::default().messages(vec![reply]))
}

enum Step {
    CallTools,
    Answer,
}

// A router says where to go: the graph has to have an arm for every answer.
fn next_step(state: &Chat) -> Step {
    match state.messages.last() {
        Some(message) if !message.tool_calls().is_empty() => Step::CallTools,
        _ => Step::Answer,
    }
}

fn agent() -> Result<CompiledStateGraph<Chat>, CompilationErrors> {
    graph! {
        type State = Chat;

        let think = think.retry(3);              // options are method calls
        let act = ToolNode::new((multiply,));    // a node is any value

        START => think => match next_step {
            Step::CallTools => act => think,     // a loop is an edge back
            Step::Answer => END,
        };
    }
    .compile()
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // A scripted model for tests. Swap in any other `ChatModel`.
    let script = ScriptedModel::new([
        Turn::tool_calls([ToolCall::new("c1", "multiply", json!({"a": 37, "b": 21}))]),
        Turn::text("37 * 21 is 777."),
    ]);
    let model = script.bind_tools((multiply,));

    let question = ChatUpdate::default().messages(vec![Message::user("What is 37 * 21?")]);
    let chat = agent()?.run(question).model(model).await?.finished()?;

    let texts: Vec<_> = chat.messages.iter().map(Message::text).collect();
    assert_eq!(texts, ["What is 37 * 21?", "", "777", "37 * 21 is 777."]);
    Ok(())
}
