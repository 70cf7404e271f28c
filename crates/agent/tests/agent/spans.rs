//! Calls of tools as `tracing` spans.

use std::fmt::{Debug, Write as _};
use std::sync::{Arc, Mutex};

use langgraph_agent::{MessagesStateUpdate, ScriptedModel, Turn, react_agent};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use super::support::{asks_the_time, clock};

/// Writes down the spans of tools.
#[derive(Clone, Default)]
struct Tools(Arc<Mutex<Vec<String>>>);

struct Text(String);

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        write!(self.0, "{field}={value:?} ").unwrap();
    }
}

impl Subscriber for Tools {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "langgraph"
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        if span.metadata().name() == "tool" {
            let mut text = Text(String::new());
            span.record(&mut text);
            self.0.lock().unwrap().push(text.0);
        }
        Id::from_u64(1)
    }

    fn event(&self, _: &Event<'_>) {}
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

#[tokio::test]
async fn a_call_of_a_tool_is_a_span_with_its_id() {
    let tools = Tools::default();
    let _guard = tracing::subscriber::set_default(tools.clone());
    let model = ScriptedModel::new([asks_the_time("c1"), Turn::text("Noon.")]);
    let agent = react_agent(model, (clock(),)).compile().unwrap();
    agent.invoke(MessagesStateUpdate::user("?")).await.unwrap();
    let spans = tools.0.lock().unwrap();
    assert_eq!(*spans, ["tool=\"get_current_time\" call=\"c1\" "]);
}
