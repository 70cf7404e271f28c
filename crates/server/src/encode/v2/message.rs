//! A message, as it comes: its blocks start, grow and finish.

use serde_json::{Value, json};

use super::values::blocks;

/// A message that is under way.
#[derive(Debug, Default)]
pub(super) struct Growing {
    pub(super) id: String,
    blocks: Vec<Block>,
    usage: Value,
}

#[derive(Debug)]
enum Block {
    Text(String),
    Reasoning(String),
    Call(Box<Call>),
}

#[derive(Debug)]
struct Call {
    index: Value,
    id: Value,
    name: Value,
    args: String,
}

impl Block {
    fn finished(&self) -> Value {
        match self {
            Self::Text(text) => json!({"type": "text", "text": text}),
            Self::Reasoning(text) => json!({"type": "reasoning", "reasoning": text}),
            Self::Call(call) => {
                let Call { id, name, args, .. } = &**call;
                let args = if args.is_empty() { "{}" } else { args };
                match serde_json::from_str::<Value>(args) {
                    Ok(read) if read.is_object() => {
                        json!({"type": "tool_call", "id": id, "name": name, "args": read})
                    }
                    _ => json!({
                        "type": "invalid_tool_call", "id": id, "name": name, "args": args,
                        "error": "the arguments are no JSON object",
                    }),
                }
            }
        }
    }
}

impl Growing {
    pub(super) fn start(id: &str) -> (Self, Value) {
        let growing = Self {
            id: id.to_owned(),
            ..Self::default()
        };
        (
            growing,
            json!({"event": "message-start", "role": "ai", "id": id}),
        )
    }

    /// Adds a chunk in LangChain's form; returns what it says.
    pub(super) fn add(&mut self, chunk: &Value) -> Vec<Value> {
        let mut said = Vec::new();
        let reasoning = chunk["additional_kwargs"]["reasoning_content"].as_str();
        if let Some(text) = reasoning.filter(|text| !text.is_empty()) {
            self.add_reasoning(text, &mut said);
        }
        let content = match &chunk["content"] {
            Value::String(text) => text.clone(),
            Value::Array(parts) => parts
                .iter()
                .filter_map(|part| part["text"].as_str())
                .collect(),
            _ => String::new(),
        };
        if !content.is_empty() {
            self.add_text(&content, &mut said);
        }
        for call in chunk["tool_call_chunks"].as_array().into_iter().flatten() {
            self.add_call(call, &mut said);
        }
        if !chunk["usage_metadata"].is_null() {
            self.usage = chunk["usage_metadata"].clone();
        }
        said
    }

    fn add_reasoning(&mut self, text: &str, said: &mut Vec<Value>) {
        let is = |block: &Block| matches!(block, Block::Reasoning(_));
        let new = || Block::Reasoning(String::new());
        let start = json!({"type": "reasoning", "reasoning": ""});
        let index = self.block(is, new, &start, said);
        if let Some(Block::Reasoning(so_far)) = self.blocks.get_mut(index) {
            so_far.push_str(text);
        }
        let data = json!({"type": "reasoning-delta", "reasoning": text});
        said.push(delta(index, &data));
    }

    fn add_text(&mut self, text: &str, said: &mut Vec<Value>) {
        let is = |block: &Block| matches!(block, Block::Text(_));
        let new = || Block::Text(String::new());
        let index = self.block(is, new, &json!({"type": "text", "text": ""}), said);
        if let Some(Block::Text(so_far)) = self.blocks.get_mut(index) {
            so_far.push_str(text);
        }
        let data = json!({"type": "text-delta", "text": text});
        said.push(delta(index, &data));
    }

    fn add_call(&mut self, call: &Value, said: &mut Vec<Value>) {
        let number = &call["index"];
        let is = |block: &Block| matches!(block, Block::Call(call) if call.index == *number);
        let new = || {
            Block::Call(Box::new(Call {
                index: number.clone(),
                id: call["id"].clone(),
                name: call["name"].clone(),
                args: String::new(),
            }))
        };
        let start = json!({
            "type": "tool_call_chunk", "id": call["id"], "name": call["name"], "args": "",
            "index": number,
        });
        let index = self.block(is, new, &start, said);
        let text = call["args"].as_str().unwrap_or_default();
        if let Some(Block::Call(call)) = self.blocks.get_mut(index) {
            call.args.push_str(text);
        }
        if !text.is_empty() {
            let data = json!({"type": "tool-call-delta", "args": text});
            said.push(delta(index, &data));
        }
    }

    /// Returns the index of a block, which starts if it is not there.
    fn block(
        &mut self,
        is: impl Fn(&Block) -> bool,
        new: impl FnOnce() -> Block,
        start: &Value,
        said: &mut Vec<Value>,
    ) -> usize {
        if let Some(index) = self.blocks.iter().position(is) {
            return index;
        }
        self.blocks.push(new());
        let index = self.blocks.len() - 1;
        said.push(json!({"event": "content-block-start", "index": index, "content": start}));
        index
    }

    /// Returns what the end of the message says, and its tool calls.
    pub(super) fn finish(self) -> (Vec<Value>, Vec<Value>) {
        let mut said = Vec::new();
        let mut calls = Vec::new();
        for (index, block) in self.blocks.iter().enumerate() {
            let content = block.finished();
            if content["type"] == "tool_call" {
                calls.push(content.clone());
            }
            said.push(json!({"event": "content-block-finish", "index": index, "content": content}));
        }
        said.push(finish(&self.usage));
        (said, calls)
    }
}

fn delta(index: usize, delta: &Value) -> Value {
    json!({"event": "content-block-delta", "index": index, "delta": delta})
}

fn finish(usage: &Value) -> Value {
    let mut said = json!({"event": "message-finish"});
    if !usage.is_null() {
        said["usage"] = usage.clone();
    }
    said
}

/// Returns what a message says that comes as a whole, and its tool calls.
pub(super) fn whole(message: &Value) -> (Vec<Value>, Vec<Value>) {
    let tool = message["type"] == "tool";
    let mut start = json!({
        "event": "message-start", "role": message["type"], "id": message["id"],
    });
    if tool {
        start["tool_call_id"] = message["tool_call_id"].clone();
    }
    let mut said = vec![start];
    let mut calls = Vec::new();
    for (index, mut block) in blocks(&message["content"], &message["tool_calls"])
        .into_iter()
        .enumerate()
    {
        if let Value::Object(fields) = &mut block {
            fields.remove("index");
        }
        let text = block["text"].as_str().map(str::to_owned);
        let start = match &text {
            Some(_) => json!({"type": "text", "text": ""}),
            None => block.clone(),
        };
        said.push(json!({"event": "content-block-start", "index": index, "content": start}));
        if let Some(text) = text {
            said.push(delta(index, &json!({"type": "text-delta", "text": text})));
        }
        if block["type"] == "tool_call" {
            calls.push(block.clone());
        }
        said.push(json!({"event": "content-block-finish", "index": index, "content": block}));
    }
    said.push(finish(&message["usage_metadata"]));
    (said, calls)
}
