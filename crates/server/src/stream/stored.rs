//! Events as rows of the log.

use langgraph::message::{FinishReason, MessageChunk, ToolCallChunk};
use serde_json::Value;

use super::{EndStatus, OpenInterrupt, RecordedFrame, RunError, StreamEvent, StreamEventKind};
use crate::queue::LoggedEvent;
use crate::wire::usage;

/// The mode of rows that hold events. Those of version 0.1 hold frames, and name a stream mode.
const EVENT: &str = "event";

impl StreamEvent {
    /// Returns the event as it is stored, with its number.
    pub(crate) fn logged(&self, number: i64) -> serde_json::Result<LoggedEvent> {
        Ok(LoggedEvent {
            number,
            made: self.made,
            mode: EVENT.to_owned(),
            event: String::new(),
            data: serde_json::to_string(self)?,
        })
    }

    /// Reads a row of the log.
    pub(crate) fn read(row: &LoggedEvent) -> serde_json::Result<Self> {
        let event = if row.mode == EVENT {
            serde_json::from_str(&row.data)?
        } else {
            of_frame(row)?
        };
        Ok(Self {
            number: row.number,
            made: row.made,
            ..event
        })
    }
}

/// Reads a row of the older form: a frame as it was sent.
fn of_frame(row: &LoggedEvent) -> serde_json::Result<StreamEvent> {
    let data: Value = serde_json::from_str(&row.data)?;
    let (name, namespace) = row.event.split_once('|').unwrap_or((&row.event, ""));
    let namespace: Vec<String> = match namespace {
        "" => Vec::new(),
        parts => parts.split('|').map(str::to_owned).collect(),
    };
    let mode = match &*row.mode {
        "" | "metadata" | "end" => None,
        mode => Some(mode.to_owned()),
    };
    let recorded = RecordedFrame {
        mode,
        name: (row.mode != "end").then(|| row.event.clone()),
        data: data.clone(),
    };
    let kind = match (&*row.mode, name) {
        ("metadata", _) => StreamEventKind::Started {
            run_id: text(&data["run_id"]),
            attempt: data["attempt"].as_i64().unwrap_or(1),
        },
        ("values", _) => StreamEventKind::Values(data),
        ("updates", _) => update(data),
        ("messages-tuple", _) => message(data),
        ("custom", _) => StreamEventKind::Custom(data),
        ("tasks", _) => task(data),
        ("checkpoints", _) => StreamEventKind::Checkpoint(data),
        ("end", _) => ended(&data),
        _ => StreamEventKind::Recorded,
    };
    let event = StreamEvent::new(kind).at(namespace, 0);
    Ok(StreamEvent {
        recorded: Some(Box::new(recorded)),
        ..event
    })
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn interrupt(value: &Value) -> OpenInterrupt {
    OpenInterrupt {
        id: text(&value["id"]),
        value: value["value"].clone(),
        response_schema: value["response_schema"].clone(),
    }
}

fn update(data: Value) -> StreamEventKind {
    if let Some(first) = data["__interrupt__"].get(0) {
        // The values with the interrupt are a row of their own.
        return StreamEventKind::Interrupt {
            interrupt: interrupt(first),
            values: None,
        };
    }
    let cached = data["__metadata__"]["cached"] == true;
    let Value::Object(nodes) = data else {
        return StreamEventKind::Custom(data);
    };
    let node = nodes.into_iter().find(|(name, _)| name != "__metadata__");
    let (node, update) = node.unwrap_or_default();
    StreamEventKind::Update {
        node,
        update,
        cached,
    }
}

fn message(mut data: Value) -> StreamEventKind {
    let (message, metadata) = (data[0].take(), data[1].take());
    if message["type"] != "AIMessageChunk" {
        return StreamEventKind::Message { message, metadata };
    }
    let mut chunk = MessageChunk::text(text(&message["content"]));
    chunk.reasoning = text(&message["additional_kwargs"]["reasoning_content"]);
    chunk.usage = usage::from_wire(&message["usage_metadata"]);
    if message["chunk_position"] == "last" {
        chunk.finish_reason = Some(FinishReason::Stop);
    }
    for call in message["tool_call_chunks"].as_array().into_iter().flatten() {
        let index = call["index"]
            .as_u64()
            .and_then(|index| index.try_into().ok());
        chunk.tool_calls.push(ToolCallChunk {
            index: index.unwrap_or_default(),
            id: call["id"].as_str().map(str::to_owned),
            name: call["name"].as_str().map(str::to_owned),
            arguments: text(&call["args"]),
        });
    }
    StreamEventKind::MessageChunk {
        id: text(&message["id"]),
        chunk,
        metadata,
    }
}

fn task(mut data: Value) -> StreamEventKind {
    let (id, node) = (data["id"].as_str().map(str::to_owned), text(&data["name"]));
    if data["triggers"].is_array() {
        return StreamEventKind::TaskStarted {
            id: id.unwrap_or_default(),
            node,
            input: data["input"].take(),
            metadata: Value::Null,
        };
    }
    let interrupts = data["interrupts"].as_array().into_iter().flatten();
    StreamEventKind::TaskFinished {
        id,
        node,
        interrupts: interrupts.map(interrupt).collect(),
        error: data["error"]["message"].as_str().map(str::to_owned),
        result: data["result"].take(),
        spent: None,
    }
}

fn ended(data: &Value) -> StreamEventKind {
    StreamEventKind::Ended {
        status: match data["event"].as_str() {
            Some("completed") => EndStatus::Completed,
            Some("interrupted") => EndStatus::Interrupted,
            _ => EndStatus::Failed,
        },
        // The row before it, which is a frame, has the name of the error, too.
        error: data["error"]
            .as_str()
            .map(|message| RunError::new("RuntimeError", message)),
    }
}
