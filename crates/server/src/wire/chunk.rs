//! Chunks of messages in LangChain's form.

use serde_json::{Value, json};

use langgraph::message::MessageChunk;

use super::usage;

/// Returns the chunk as an `AIMessageChunk`.
pub(crate) fn to_wire(chunk: &MessageChunk, id: &str) -> Value {
    let calls: Vec<Value> = chunk
        .tool_calls
        .iter()
        .map(|call| {
            json!({
                "name": call.name, "args": call.arguments, "id": call.id, "index": call.index,
                "type": "tool_call_chunk",
            })
        })
        .collect();
    let last = chunk.finish_reason.as_ref().map(|_| "last");
    let mut kwargs = json!({});
    if !chunk.reasoning.is_empty() {
        kwargs["reasoning_content"] = json!(chunk.reasoning);
    }
    let model = chunk.metadata.as_deref().map(usage::model_to_wire);
    json!({
        "content": chunk.text,
        "additional_kwargs": kwargs,
        "response_metadata": model.unwrap_or_default(),
        "type": "AIMessageChunk",
        "name": null,
        "id": id,
        "tool_calls": [],
        "invalid_tool_calls": [],
        "usage_metadata": usage::to_wire(chunk.usage.as_ref()),
        "tool_call_chunks": calls,
        "chunk_position": last,
    })
}
