//! Graphs whose state is a chat.

use langgraph::State;
use langgraph::graph::CompiledStateGraph;
use langgraph_server::GraphHandle;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;

/// Serves a graph over messages, so that clients show a chat.
pub(crate) fn chat<S>(graph: CompiledStateGraph<S>) -> GraphHandle<S>
where
    S: State,
    S::Update: Serialize + DeserializeOwned,
{
    let message = json!({"type": "object", "required": ["type", "content"]});
    let schema = json!({
        "type": "object",
        "properties": {"messages": {"type": "array", "items": message}},
    });
    GraphHandle::new(graph)
        .input_schema(schema.clone())
        .output_schema(schema.clone())
        .state_schema(schema)
}
