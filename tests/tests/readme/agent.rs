use langgraph::prelude::*;
use langgraph_agent::prelude::*;
use langgraph_agent::{
    MessagesState, MessagesStateUpdate, ScriptedModel, ToolRoute, Turn, tools_condition,
};
use serde_json::json;

/// Multiplies two whole numbers.
#[tool]
async fn multiply(a: i64, b: i64) -> i64 {
    a * b
}

fn agent() -> Result<CompiledStateGraph<MessagesState>, CompilationErrors> {
    // A script, for tests. Any other `ChatModel` takes its place.
    let model = ScriptedModel::new([
        Turn::tool_calls([ToolCall::new("c1", "multiply", json!({"a": 37, "b": 21}))]),
        Turn::text("37 * 21 is 777."),
    ]);
    graph! {
        type State = MessagesState;

        let think = ModelNode::new(model).tools((multiply,));
        let act = ToolNode::new((multiply,));

        START => think => match tools_condition {
            ToolRoute::Tools => act => think,    // a loop is an edge back
            ToolRoute::End => END,               // without this arm it does not compile
        };
    }
    .compile()
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let question = MessagesStateUpdate::user("What is 37 * 21?");
    let chat = agent()?.invoke(question).await?;
    assert_eq!(chat.messages[3].text(), "37 * 21 is 777.");
    Ok(())
}
