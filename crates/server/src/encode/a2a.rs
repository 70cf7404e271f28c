//! A2A: the events of a task.

use langgraph_http::Frame;
use serde_json::{Value, json};

use super::openai::Answer;
use super::{Encoder, add_open};
use crate::stream::{EndStatus, OpenInterrupt, StreamEvent, StreamEventKind};
use crate::wire::a2a::{State, StatusMessage, Version};
use crate::wire::ag_ui::text;
use crate::wire::sleep::all_sleep_until;

/// Encodes the events of one run as the messages of a streaming call.
pub(crate) struct A2a {
    form: Version,
    /// The id of the call.
    call: Value,
    task: String,
    context: String,
    answer: Answer,
    interrupts: Vec<OpenInterrupt>,
    /// What the last state comes to.
    last: Option<String>,
    has_begun: bool,
    has_text: bool,
}

/// Returns what the assistant has said last.
pub(crate) fn last_text(values: &Value) -> Option<String> {
    let messages = values["messages"].as_array();
    let mut messages = messages.into_iter().flatten().rev();
    let last = messages.find(|message| message["type"] == "ai");
    last.map(|message| text(&message["content"]))
}

/// Returns what a task has come to: what the assistant has said last, or all values of a state without messages.
pub(crate) fn reply(values: &Value) -> Option<String> {
    last_text(values).or_else(|| {
        let mut values = values.clone();
        let fields = values.as_object_mut();
        let is_empty = fields.is_some_and(|fields| {
            fields.remove("__interrupt__");
            fields.is_empty()
        });
        (!is_empty && !values.is_null()).then(|| values.to_string())
    })
}

/// Returns the state of a task whose run has ended so, with open interrupts of these payloads. It requires input if its
/// thread waits, for answers or at a breakpoint, and works if it sleeps.
pub(crate) fn state_of<'a>(end: EndStatus, open: impl IntoIterator<Item = &'a Value>) -> State {
    match end {
        EndStatus::Completed => State::Completed,
        EndStatus::Interrupted if all_sleep_until(open).is_some() => State::Working,
        EndStatus::Interrupted => State::InputRequired,
        EndStatus::Cancelled => State::Canceled,
        EndStatus::Failed => State::Failed,
    }
}

impl A2a {
    pub(crate) fn new(form: Version, call: Value, task: &str, context: &str) -> Self {
        Self {
            form,
            call,
            task: task.to_owned(),
            context: context.to_owned(),
            answer: Answer::new(0),
            interrupts: Vec::new(),
            last: None,
            has_begun: false,
            has_text: false,
        }
    }

    fn frame(&self, result: &Value) -> Frame {
        let message = json!({"jsonrpc": "2.0", "id": self.call, "result": result});
        Frame::data_only(message.to_string())
    }

    fn text(&mut self, text: &str) -> Frame {
        let appends = std::mem::replace(&mut self.has_text, true);
        let update = self
            .form
            .artifact_update(&self.task, &self.context, text, appends);
        self.frame(&update)
    }

    fn end(&self, status: EndStatus, error: Option<&str>) -> Frame {
        let open = || self.interrupts.iter().map(|open| &open.value);
        let state = state_of(status, open());
        let says = match state {
            State::InputRequired => {
                let open = self.interrupts.iter();
                let open: Vec<_> = open.map(|open| (&*open.id, &open.value)).collect();
                StatusMessage::requires(&open)
            }
            State::Working => all_sleep_until(open()).map(StatusMessage::sleeps),
            State::Failed => error.map(StatusMessage::text),
            _ => None,
        };
        let update = self
            .form
            .status_update(&self.task, &self.context, state, says.as_ref());
        self.frame(&update)
    }
}

impl Encoder for A2a {
    fn encode(&mut self, event: &StreamEvent) -> Vec<Frame> {
        let mut frames = Vec::new();
        if !std::mem::replace(&mut self.has_begun, true) {
            let task = self
                .form
                .task(&self.task, &self.context, State::Working, None, None);
            frames.push(self.frame(&self.form.wrapped(task)));
        }
        if let StreamEventKind::Interrupt { interrupt, .. } = &event.kind {
            add_open(&mut self.interrupts, interrupt);
        }
        if let StreamEventKind::Values(values) = &event.kind {
            self.last = reply(values);
        }
        let StreamEventKind::Ended { status, error } = &event.kind else {
            if let Some(text) = self.answer.event(event).filter(|text| !text.is_empty()) {
                frames.push(self.text(&text));
            }
            return frames;
        };
        // What no model has streamed.
        if !self.has_text
            && *status == EndStatus::Completed
            && let Some(text) = self.last.take()
        {
            frames.push(self.text(&text));
        }
        let error = error.as_ref().map(|error| error.message.as_str());
        frames.push(self.end(*status, error));
        frames
    }
}
