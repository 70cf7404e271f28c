//! The events of an A2A task, as the parts of a reply.

use std::collections::HashMap;

use a2a::{Artifact, Part, StreamResponse, Task, TaskState, TaskStatus};
use langgraph_remote::{Amounts, EnvelopeBody, ErrorCode, OpenInterrupt, StreamContent, StreamId};
use serde_json::Value;

use crate::wire;

/// Reads the events of one task. An event that it has read already, in a snapshot for example,
/// changes nothing.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    /// True if the agent speaks the extension of this crate.
    ours: bool,
    pub(crate) task: Option<String>,
    pub(crate) context: Option<String>,
    /// True if no more comes.
    pub(crate) over: bool,
    /// What the agent has spent.
    pub(crate) spent: Option<Amounts>,
    artifacts: Vec<ReadArtifact>,
    indexes: HashMap<String, usize>,
}

/// What has been read of an artifact.
#[derive(Debug, Default)]
struct ReadArtifact {
    id: String,
    parts: usize,
    open: bool,
    /// The payloads of the parts of an agent without this crate.
    values: Vec<Value>,
}

impl Reading {
    pub(crate) fn new(ours: bool) -> Self {
        Self {
            ours,
            ..Self::default()
        }
    }

    /// Takes the next event.
    pub(crate) fn take(&mut self, event: StreamResponse) -> Vec<EnvelopeBody> {
        if self.over {
            return Vec::new();
        }
        let mut bodies = Vec::new();
        let metadata = match &event {
            StreamResponse::Message(_) => None,
            StreamResponse::Task(task) => task.metadata.as_ref(),
            StreamResponse::ArtifactUpdate(update) => update.metadata.as_ref(),
            StreamResponse::StatusUpdate(update) => update.metadata.as_ref(),
        };
        if self.ours {
            self.spent = wire::read(metadata, "spent").or(self.spent);
        }
        match event {
            StreamResponse::Message(message) => {
                self.over = true;
                bodies.push(EnvelopeBody::Complete(wire::payload(&message.parts, "\n")));
            }
            StreamResponse::Task(task) => self.snapshot(&task, &mut bodies),
            StreamResponse::ArtifactUpdate(update) => {
                self.at(&update.task_id, &update.context_id);
                let seen = self.seen(&update.artifact.artifact_id);
                if update.append != Some(true) {
                    seen.values.clear();
                }
                seen.parts += update.artifact.parts.len();
                let last = update.last_chunk == Some(true);
                self.parts(&update.artifact, &update.artifact.parts, last, &mut bodies);
            }
            StreamResponse::StatusUpdate(update) => {
                self.at(&update.task_id, &update.context_id);
                self.status(&update.status, &mut bodies);
            }
        }
        bodies
    }

    fn at(&mut self, task: &str, context: &str) {
        self.task.get_or_insert_with(|| task.to_owned());
        self.context.get_or_insert_with(|| context.to_owned());
    }

    /// Takes the task as it is now: what is new in it, and its status.
    fn snapshot(&mut self, task: &Task, bodies: &mut Vec<EnvelopeBody>) {
        self.at(&task.id, &task.context_id);
        for artifact in task.artifacts.iter().flatten() {
            let seen = self.seen(&artifact.artifact_id);
            let new = artifact.parts.get(seen.parts..).unwrap_or_default();
            seen.parts = seen.parts.max(artifact.parts.len());
            // A snapshot does not say which artifacts are whole; the end of the task does.
            let last = self.ours && new.iter().any(is_end);
            self.parts(artifact, new, last, bodies);
            if !self.ours {
                // Agents replace artifacts, too: what an agent said before it slept, for example.
                let parts = artifact.parts.iter();
                self.seen(&artifact.artifact_id).values = parts.map(chunk).collect();
            }
        }
        self.status(&task.status, bodies);
    }

    fn seen(&mut self, id: &str) -> &mut ReadArtifact {
        let index = *self.indexes.entry(id.to_owned()).or_insert_with(|| {
            self.artifacts.push(ReadArtifact {
                id: id.to_owned(),
                ..ReadArtifact::default()
            });
            self.artifacts.len() - 1
        });
        #[allow(
            clippy::indexing_slicing,
            reason = "the index of an artifact that was added"
        )]
        &mut self.artifacts[index]
    }

    fn parts(
        &mut self,
        artifact: &Artifact,
        parts: &[Part],
        last: bool,
        bodies: &mut Vec<EnvelopeBody>,
    ) {
        let ours = self.ours;
        if ours && wire::field(artifact.metadata.as_ref(), "reply").is_some() {
            bodies.extend(parts.iter().map(wire::value).map(EnvelopeBody::Complete));
            return;
        }
        let stream_id = StreamId::new(artifact.artifact_id.as_str());
        let seen = self.seen(&artifact.artifact_id);
        for part in parts {
            if !std::mem::replace(&mut seen.open, true) {
                let metadata = wire::field(artifact.metadata.as_ref(), "stream");
                let metadata = metadata.unwrap_or_else(|| content(part).metadata());
                bodies.push(EnvelopeBody::StreamStart {
                    stream_id: stream_id.clone(),
                    metadata,
                });
            }
            if ours && is_end(part) {
                continue;
            }
            let chunk = chunk(part);
            if !ours {
                seen.values.push(chunk.clone());
            }
            bodies.push(EnvelopeBody::StreamChunk {
                stream_id: stream_id.clone(),
                chunk,
            });
        }
        if ours && last && std::mem::take(&mut seen.open) {
            bodies.push(EnvelopeBody::StreamEnd { stream_id });
        }
    }

    fn status(&mut self, status: &TaskStatus, bodies: &mut Vec<EnvelopeBody>) {
        let message = status.message.as_ref();
        let code = match status.state {
            TaskState::Completed => {
                self.over = true;
                if !self.ours {
                    bodies.push(EnvelopeBody::Complete(self.reply(status)));
                }
                for seen in &mut self.artifacts {
                    if std::mem::take(&mut seen.open) {
                        bodies.push(EnvelopeBody::StreamEnd {
                            stream_id: StreamId::new(seen.id.as_str()),
                        });
                    }
                }
                return;
            }
            TaskState::InputRequired => {
                self.over = true;
                let task = self.task.clone().unwrap_or_default();
                let open: Vec<OpenInterrupt> = wire::read_interrupts(message, &task);
                bodies.push(EnvelopeBody::Interrupt(open));
                return;
            }
            TaskState::Failed => ErrorCode::Failed,
            TaskState::Rejected => ErrorCode::BadRequest,
            TaskState::Canceled => ErrorCode::Cancelled,
            TaskState::AuthRequired => "auth_required".into(),
            _ => return,
        };
        self.over = true;
        let own_code = message.and_then(|message| wire::field(message.metadata.as_ref(), "code"));
        let own_code = own_code.and_then(|code| Some(code.as_str()?.to_owned()));
        let text = message.map(|message| match wire::payload(&message.parts, "\n") {
            Value::String(text) => text,
            other => other.to_string(),
        });
        bodies.push(EnvelopeBody::Error {
            code: own_code.map_or(code, ErrorCode::from),
            message: text.unwrap_or_else(|| "the agent has given no reason".to_owned()),
        });
    }

    /// Returns the reply of an agent without this crate: all that it has written, or its last message.
    fn reply(&mut self, status: &TaskStatus) -> Value {
        let seen = self.artifacts.iter_mut();
        let mut values: Vec<Value> = seen
            .flat_map(|seen| std::mem::take(&mut seen.values))
            .collect();
        let texts: Option<String> = values.iter().map(Value::as_str).collect();
        match (values.len(), texts) {
            (0, _) => {
                let message = status.message.as_ref();
                message.map_or(Value::Null, |message| wire::payload(&message.parts, "\n"))
            }
            (1, _) => values.pop().unwrap_or_default(),
            (_, Some(text)) => Value::String(text),
            (_, None) => Value::Array(values),
        }
    }
}

fn content(part: &Part) -> StreamContent {
    match part.as_text() {
        Some(_) => StreamContent::Text,
        None => StreamContent::Values,
    }
}

/// The end of a stream has no content of its own.
fn is_end(part: &Part) -> bool {
    part.as_text() == Some("") && part.metadata.as_ref().is_none_or(HashMap::is_empty)
}

fn chunk(part: &Part) -> Value {
    let whole = wire::field(part.metadata.as_ref(), "chunk");
    let whole = whole.and_then(|whole| serde_json::from_str(whole.as_str()?).ok());
    whole.unwrap_or_else(|| wire::value(part))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn reply_of(events: &[Value]) -> Option<Value> {
        let mut reading = Reading::new(false);
        let events = events.iter().cloned();
        let mut bodies = events.flat_map(|event| {
            let event = serde_json::from_value(event);
            reading.take(event.unwrap())
        });
        bodies.find_map(|body| match body {
            EnvelopeBody::Complete(reply) => Some(reply),
            _ => None,
        })
    }

    #[test]
    fn the_reply_is_what_the_artifacts_of_the_task_are_at_its_end() {
        let task = |state: &str, texts: &[&str]| {
            let parts: Vec<Value> = texts.iter().map(|text| json!({"text": text})).collect();
            let artifacts = match &*parts {
                [] => json!([]),
                parts => json!([{"artifactId": "reply", "parts": parts}]),
            };
            json!({"task": {
                "id": "t", "contextId": "c", "artifacts": artifacts, "status": {"state": state},
            }})
        };
        let chunk = |text: &str, append: bool| {
            json!({"artifactUpdate": {
                "taskId": "t", "contextId": "c", "append": append,
                "artifact": {"artifactId": "reply", "parts": [{"text": text}]},
            }})
        };
        let done = task("TASK_STATE_COMPLETED", &["It is done."]);
        for before in [
            vec![],
            vec![task("TASK_STATE_WORKING", &["Tomorrow."])],
            vec![chunk("To", false), chunk("mor", true), chunk("row.", true)],
        ] {
            let events = [
                vec![task("TASK_STATE_WORKING", &[])],
                before,
                vec![done.clone()],
            ];
            assert_eq!(reply_of(&events.concat()), Some(json!("It is done.")));
        }
    }
}
