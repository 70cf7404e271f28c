//! Version 1 of the streaming protocol: one frame for each stream mode that shows an event.

use std::collections::HashMap;

use langgraph::message::{MessageAccumulator, MessageChunk};
use langgraph_http::Frame;
use serde_json::{Value, json};

use super::tasks::task_json;
use super::{Encoder, checkpoint};
use crate::rows::PER_EVENT;
use crate::spec::Mode;
use crate::stream::{OpenInterrupt, RecordedFrame, StreamEvent, StreamEventKind};
use crate::wire::time::iso_ms;
use crate::wire::{chunk, message, usage};

/// Which ids frames have.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Ids {
    None,
    /// `{time}-{event}`; a frame that is not the last one of its event has `.{part}` behind it.
    OfRun {
        after: Seen,
    },
    /// `{time}-{number in the thread}`.
    OfThread {
        /// The number before the first one of the run.
        base: i64,
        after: i64,
    },
}

impl Ids {
    /// Returns the number of the first event that the client has not seen whole.
    pub(crate) fn next_event(self) -> i64 {
        match self {
            Self::None => 0,
            Self::OfRun { after } => after.next_event(),
            Self::OfThread { base, after } => ((after - base) / PER_EVENT).max(0),
        }
    }
}

/// What a client has seen of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    event: i64,
    /// The number of frames of that event that it has seen; `None`: all.
    frames: Option<usize>,
}

impl Seen {
    /// A client that has seen all events before that one.
    pub(crate) fn before(event: i64) -> Self {
        Self {
            event: event.saturating_sub(1),
            frames: None,
        }
    }

    /// A client that has seen nothing.
    pub(crate) const NOTHING: Self = Self {
        event: -1,
        frames: None,
    };

    /// Reads a `Last-Event-ID`; `-1` asks for everything.
    pub(crate) fn parse(id: &str) -> Option<Self> {
        let id = id.trim();
        if id == "-1" {
            return Some(Self::NOTHING);
        }
        let (_, number) = id.rsplit_once('-').filter(|(run, _)| !run.is_empty())?;
        let (event, frames) = match number.split_once('.') {
            Some((event, part)) => (event, Some(part.parse::<usize>().ok()?.checked_add(1)?)),
            None => (number, None),
        };
        let event = event.parse().ok().filter(|event| *event >= 0)?;
        Some(Self { event, frames })
    }

    /// Returns the number of the first event that it has not seen whole.
    pub(crate) fn next_event(self) -> i64 {
        match self.frames {
            Some(_) => self.event,
            None => self.event.saturating_add(1),
        }
    }

    /// Returns the number that a `Last-Event-ID` of a thread's stream names.
    pub(crate) fn number(self) -> i64 {
        self.event
    }

    fn has(self, event: i64, part: usize) -> bool {
        event < self.event
            || (event == self.event && self.frames.is_none_or(|frames| part < frames))
    }
}

/// Encodes the events of a run for the modes that its client wants.
pub(crate) struct V1 {
    modes: Vec<Mode>,
    ids: Ids,
    /// Messages so far, by their ids: for the mode `messages`.
    so_far: HashMap<String, MessageAccumulator>,
}

impl V1 {
    pub(crate) fn new(modes: Vec<Mode>, ids: Ids) -> Self {
        Self {
            modes,
            ids,
            so_far: HashMap::new(),
        }
    }

    /// Returns the number of the first event that the encoder needs.
    pub(crate) fn first_event(&self, next: i64) -> i64 {
        // Messages so far are made of all of their chunks.
        if self.modes.contains(&Mode::Messages) {
            0
        } else {
            next
        }
    }

    fn message_so_far(&mut self, id: &str, chunk: &MessageChunk) -> (bool, Value) {
        let is_new = !self.so_far.contains_key(id);
        let so_far = self.so_far.entry(id.to_owned()).or_default();
        so_far.push(chunk.clone());
        let mut whole = message::to_wire(&so_far.message());
        whole["id"] = json!(id);
        whole["usage_metadata"] = usage::to_wire(so_far.usage().as_ref());
        whole["response_metadata"] = json!(usage::model_to_wire(so_far.metadata()));
        (is_new, whole)
    }

    /// Returns the frame of an event that was stored as one.
    fn recorded(&self, frame: &RecordedFrame) -> Vec<(String, Value)> {
        let shown = match &frame.mode {
            Some(mode) => self.modes.iter().any(|wanted| wanted.as_str() == mode),
            None => true,
        };
        let name = frame.name.clone().filter(|_| shown);
        let named = name.map(|name| (name, frame.data.clone()));
        named.into_iter().collect()
    }

    fn named(&mut self, event: &StreamEvent) -> Vec<(String, Value)> {
        if let Some(frame) = &event.recorded {
            return self.recorded(frame);
        }
        let mut out = Frames {
            modes: &self.modes,
            event,
            named: Vec::new(),
        };
        match &event.kind {
            StreamEventKind::Started { run_id, attempt } => {
                out.add("metadata", json!({"run_id": run_id, "attempt": attempt}));
            }
            StreamEventKind::Values(values) => out.push(Mode::Values, values.clone()),
            StreamEventKind::Update {
                node,
                update,
                cached,
            } => {
                let mut data = json!({node.as_str(): update});
                if *cached {
                    data["__metadata__"] = json!({"cached": true});
                }
                out.push(Mode::Updates, data);
            }
            StreamEventKind::MessageChunk { .. } | StreamEventKind::Message { .. } => {
                return self.message(event);
            }
            StreamEventKind::Custom(value) => out.push(Mode::Custom, value.clone()),
            StreamEventKind::TaskStarted { .. } | StreamEventKind::TaskFinished { .. } => {
                let task = task_json(&event.kind).unwrap_or_default();
                out.push(Mode::Tasks, task.clone());
                let is_start = matches!(event.kind, StreamEventKind::TaskStarted { .. });
                out.debug(if is_start { "task" } else { "task_result" }, &task);
            }
            StreamEventKind::Checkpoint(snapshot) => {
                let shown = checkpoint::as_event(snapshot);
                out.push(Mode::Checkpoints, shown.clone());
                out.debug("checkpoint", &shown);
            }
            StreamEventKind::Interrupt { interrupt, values } => {
                out.interrupt(interrupt, values.as_ref());
            }
            StreamEventKind::Breakpoint => {
                out.push(Mode::Updates, json!({"__interrupt__": []}));
            }
            StreamEventKind::Ended { error, .. } => {
                if let Some(error) = error {
                    out.add("error", error.json());
                }
            }
            StreamEventKind::Recorded => {}
        }
        out.named
    }

    fn message(&mut self, event: &StreamEvent) -> Vec<(String, Value)> {
        let (id, wire, metadata) = match &event.kind {
            StreamEventKind::MessageChunk {
                id,
                chunk,
                metadata,
            } => (id.clone(), chunk::to_wire(chunk, id), metadata),
            StreamEventKind::Message { message, metadata } => {
                let id = message["id"].as_str().unwrap_or_default().to_owned();
                (id, message.clone(), metadata)
            }
            _ => return Vec::new(),
        };
        let so_far = match &event.kind {
            StreamEventKind::MessageChunk { chunk, .. } if self.modes.contains(&Mode::Messages) => {
                Some(self.message_so_far(&id, chunk))
            }
            _ => None,
        };
        let mut out = Frames {
            modes: &self.modes,
            event,
            named: Vec::new(),
        };
        out.push(Mode::MessagesTuple, json!([wire, metadata]));
        if self.modes.contains(&Mode::Messages) {
            // Their metadata say where they come from; the names of the frames do not.
            let (is_new, name, whole) = match so_far {
                Some((is_new, whole)) => (is_new, "messages/partial", whole),
                None => (true, "messages/complete", wire),
            };
            if is_new {
                out.add("messages/metadata", json!({id: {"metadata": metadata}}));
            }
            out.add(name, json!([whole]));
        }
        out.named
    }
}

/// The frames of one event: names and data.
struct Frames<'a> {
    modes: &'a [Mode],
    event: &'a StreamEvent,
    named: Vec<(String, Value)>,
}

impl Frames<'_> {
    fn add(&mut self, name: &str, data: Value) {
        self.named.push((name.to_owned(), data));
    }

    /// Adds a frame of a mode, if the client wants it.
    fn push(&mut self, mode: Mode, data: Value) {
        if !self.modes.contains(&mode) {
            return;
        }
        let name = match mode {
            Mode::MessagesTuple => "messages",
            mode => mode.as_str(),
        };
        let mut name = name.to_owned();
        for part in &self.event.namespace {
            name.push('|');
            name.push_str(part);
        }
        self.named.push((name, data));
    }

    fn debug(&mut self, kind: &str, payload: &Value) {
        if !self.modes.contains(&Mode::Debug) {
            return;
        }
        let data = json!({
            "step": self.event.step, "timestamp": iso_ms(self.event.made), "type": kind,
            "payload": payload,
        });
        self.push(Mode::Debug, data);
    }

    fn interrupt(&mut self, interrupt: &OpenInterrupt, values: Option<&Value>) {
        let open = json!([interrupt.json()]);
        self.push(Mode::Updates, json!({"__interrupt__": open}));
        let Some(mut values) = values.cloned() else {
            return;
        };
        if values.is_object() {
            values["__interrupt__"] = open;
        }
        self.push(Mode::Values, values);
    }
}

impl Encoder for V1 {
    fn encode(&mut self, event: &StreamEvent) -> Vec<Frame> {
        let named = self.named(event);
        let last = named.len().saturating_sub(1);
        let frames = named.into_iter().enumerate();
        let frames = frames.filter_map(|(part, (name, data))| {
            let frame = Frame::new(name, data.to_string());
            let (number, made) = (event.number, event.made);
            match self.ids {
                Ids::None => Some(frame),
                Ids::OfRun { after } if after.has(number, part) => None,
                Ids::OfRun { .. } if part == last => {
                    Some(frame.with_id(format!("{made}-{number}")))
                }
                Ids::OfRun { .. } => Some(frame.with_id(format!("{made}-{number}.{part}"))),
                Ids::OfThread { base, after } => {
                    let part = i64::try_from(part).unwrap_or(PER_EVENT);
                    let number = base + number * PER_EVENT + part + 1;
                    (number > after).then(|| frame.with_id(format!("{made}-{number}")))
                }
            }
        });
        frames.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(encoder: &mut V1, event: &StreamEvent) -> Vec<String> {
        let frames = encoder.encode(event).into_iter();
        frames
            .map(|frame| format!("{} {}", frame.name().unwrap(), frame.id().unwrap_or("-")))
            .collect()
    }

    #[test]
    fn a_client_that_lost_its_connection_between_two_frames_of_an_event_gets_the_second() {
        let event = StreamEvent {
            number: 4,
            made: 7,
            ..StreamEvent::new(StreamEventKind::Checkpoint(json!({})))
        };
        let modes = vec![Mode::Checkpoints, Mode::Debug];
        let after = |id: &str| Ids::OfRun {
            after: Seen::parse(id).unwrap(),
        };
        let encode = |ids_from| ids(&mut V1::new(modes.clone(), ids_from), &event);
        assert_eq!(encode(after("-1")), ["checkpoints 7-4.0", "debug 7-4"]);
        assert_eq!(encode(after("7-3")), ["checkpoints 7-4.0", "debug 7-4"]);
        assert_eq!(encode(after("7-4.0")), ["debug 7-4"]);
        assert!(encode(after("7-4")).is_empty());
        let thread = Ids::OfThread {
            base: 1000,
            after: 2025,
        };
        assert_eq!(encode(thread), ["debug 7-2026"]);
        assert_eq!(Seen::parse("7-4.0").unwrap().next_event(), 4);
        assert_eq!(Seen::parse("7-4").unwrap().next_event(), 5);
    }

    #[test]
    fn an_id_that_names_no_event_is_none() {
        for id in ["", "7", "x", "-2", "7-x", "7-4.x", "7-99999999999999999999"] {
            assert_eq!(Seen::parse(id), None, "{id}");
        }
        let last = Seen::parse("x-9223372036854775807").unwrap();
        assert_eq!(last.next_event(), i64::MAX);
    }
}
