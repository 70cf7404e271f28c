//! Calls of models and tools as `tracing` spans.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Arc, Mutex, Once};

use langgraph::message::{ToolCall, Usage};
use langgraph_agent::{
    Budget, ChatModelExt, FnTool, MessagesStateUpdate, ModelError, ModelErrorKind, Price, Prices,
    ScriptedModel, ToolError, TraceContent, Turn, react_agent,
};
use serde_json::json;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

type Fields = BTreeMap<String, String>;

/// Writes down the spans of models and tools, with the fields that they get later.
#[derive(Clone, Default)]
struct Spans(Arc<Mutex<Vec<(&'static str, Fields)>>>);

struct Into<'a>(&'a mut Fields);

impl Visit for Into<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name().to_owned(), value.to_owned());
    }
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.insert(field.name().to_owned(), format!("{value:?}"));
    }
}

thread_local! {
    static HERE: RefCell<Option<Spans>> = const { RefCell::new(None) };
}

/// The subscriber of the program: it writes down the spans of each test's own thread. One that is
/// set for a thread may miss a span that another thread meets for the first time.
struct ByThread;

/// The id of a span that is not recorded.
const NOT_RECORDED: u64 = u64::MAX;

impl Subscriber for ByThread {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "langgraph"
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let id = HERE.with_borrow(|here| here.as_ref().map(|spans| spans.add(span)));
        Id::from_u64(id.unwrap_or(NOT_RECORDED))
    }

    fn record(&self, id: &Id, values: &Record<'_>) {
        if id.into_u64() != NOT_RECORDED {
            HERE.with_borrow(|here| {
                here.as_ref()
                    .map(|spans| spans.record(id.into_u64(), values))
            });
        }
    }

    fn event(&self, _: &Event<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

impl Spans {
    /// Writes down the spans of this thread from now on.
    fn here() -> Self {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| tracing::subscriber::set_global_default(ByThread).unwrap());
        let spans = Self::default();
        HERE.set(Some(spans.clone()));
        spans
    }

    fn add(&self, span: &Attributes<'_>) -> u64 {
        let mut fields = Fields::new();
        span.record(&mut Into(&mut fields));
        let mut spans = self.0.lock().unwrap();
        spans.push((span.metadata().name(), fields));
        spans.len() as u64
    }

    fn record(&self, id: u64, values: &Record<'_>) {
        let index = usize::try_from(id).unwrap() - 1;
        values.record(&mut Into(&mut self.0.lock().unwrap()[index].1));
    }

    fn named(&self, name: &str) -> Vec<Fields> {
        let spans = self.0.lock().unwrap();
        let named = spans.iter().filter(|(span, _)| *span == name);
        named.map(|(_, fields)| fields.clone()).collect()
    }
}

fn agent() -> langgraph::CompiledStateGraph<langgraph_agent::MessagesState> {
    let model = ScriptedModel::new([
        Turn::tool_calls([
            ToolCall::new("c1", "now", json!({"secret": "x"})),
            ToolCall::new("c2", "broken", json!({})),
        ]),
        Turn::text("Noon.").with_usage(Usage::new(900, 100)),
    ]);
    let now = FnTool::new("now", "The time.", || async { "12:00" });
    let broken = FnTool::new("broken", "Breaks.", || async {
        Err::<(), _>(ToolError::model("no"))
    });
    react_agent(model.named("big"), (now, broken))
        .compile()
        .unwrap()
}

#[tokio::test]
async fn calls_of_models_and_tools_are_spans_with_the_names_of_the_conventions() {
    let spans = Spans::here();
    let prices = Prices::new().model("big", Price::per_million(1_000.0, 10_000.0));
    let budget = Budget::per_run().money(100.0, prices);
    let run = agent().run(MessagesStateUpdate::user("What time is it?"));
    run.resource(Arc::new(budget)).await.unwrap();

    let chats = spans.named("chat");
    assert_eq!(chats.len(), 2);
    let second = &chats[1];
    for (field, value) in [
        ("otel.name", "chat big"),
        ("gen_ai.operation.name", "chat"),
        ("gen_ai.request.model", "big"),
        ("gen_ai.usage.input_tokens", "900"),
        ("gen_ai.usage.output_tokens", "100"),
        ("langgraph.usage.cost", "1.9"),
        ("gen_ai.response.model", "big"),
        ("gen_ai.response.finish_reasons", "[\"stop\"]"),
    ] {
        assert_eq!(
            second.get(field).map(String::as_str),
            Some(value),
            "{field} of {second:?}"
        );
    }
    let tools = spans.named("execute_tool");
    assert_eq!(tools[0]["otel.name"], "execute_tool now");
    assert_eq!(
        (
            &*tools[0]["gen_ai.tool.name"],
            &*tools[0]["gen_ai.tool.call.id"]
        ),
        ("now", "c1")
    );
    assert_eq!(tools[0]["gen_ai.tool.type"], "function");
    assert!(!tools[0].contains_key("error.type"));
    assert_eq!(
        (&*tools[1]["error.type"], &*tools[1]["otel.status_code"]),
        ("tool", "ERROR")
    );
    assert_eq!(
        spans.named("run")[0]["gen_ai.operation.name"],
        "invoke_agent"
    );
    // Nothing that was said.
    let all = format!("{:?}", spans.0.lock().unwrap());
    for said in ["What time", "12:00", "Noon", "secret"] {
        assert!(!all.contains(said), "{said} in {all}");
    }
}

#[tokio::test]
async fn what_is_said_is_in_the_spans_on_request_only() {
    let spans = Spans::here();
    let agent = agent().resource(Arc::new(TraceContent));
    agent
        .invoke(MessagesStateUpdate::user("What time is it?"))
        .await
        .unwrap();
    let chats = spans.named("chat");
    let json = |field: &str| -> serde_json::Value { serde_json::from_str(field).unwrap() };
    let asked = json!([{
        "role": "user",
        "parts": [{"type": "text", "content": "What time is it?"}],
    }]);
    assert_eq!(json(&chats[0]["gen_ai.input.messages"]), asked);
    let input = json(&chats[1]["gen_ai.input.messages"]);
    assert_eq!(input[1]["parts"][0]["type"], "tool_call");
    let result = json!({"type": "tool_call_response", "id": "c1", "response": "12:00"});
    assert_eq!(input[2], json!({"role": "tool", "parts": [result]}));
    let said = json!([{
        "role": "assistant",
        "parts": [{"type": "text", "content": "Noon."}],
        "finish_reason": "stop",
    }]);
    assert_eq!(json(&chats[1]["gen_ai.output.messages"]), said);
    let first = json(&chats[0]["gen_ai.output.messages"]);
    assert_eq!(first[0]["finish_reason"], "tool_call");
    let tool = &spans.named("execute_tool")[0];
    assert_eq!(tool["gen_ai.tool.call.arguments"], r#"{"secret":"x"}"#);
    assert_eq!(tool["gen_ai.tool.call.result"], "12:00");
}

#[tokio::test]
async fn a_call_that_fails_says_what_kind_of_error_it_is() {
    let spans = Spans::here();
    let limited = ModelError::new(
        ModelErrorKind::RateLimited { retry_after: None },
        "slow down",
    );
    let agent = react_agent(ScriptedModel::new([limited]), ())
        .compile()
        .unwrap();
    agent
        .invoke(MessagesStateUpdate::user("?"))
        .await
        .unwrap_err();
    let chat = &spans.named("chat")[0];
    assert_eq!(
        (&*chat["error.type"], &*chat["otel.status_code"]),
        ("rate_limited", "ERROR")
    );
}

#[tokio::test]
async fn k10_the_span_of_a_fallback_names_the_model_that_answered() {
    let spans = Spans::here();
    let down = ModelError::new(ModelErrorKind::Timeout, "no answer");
    let cheap = ScriptedModel::new([down]).named("cheap");
    let answer = Turn::text("hi").with_usage(Usage::new(1_000_000, 0));
    let dear = ScriptedModel::new([answer]).named("dear");
    let prices = Prices::new()
        .model("cheap", Price::per_million(1.0, 1.0))
        .model("dear", Price::per_million(1_000.0, 1_000.0));
    let agent = react_agent(cheap.or(dear), ()).compile().unwrap();
    let run = agent.run(MessagesStateUpdate::user("?"));
    let budget = Budget::per_run().money(10_000.0, prices);
    run.resource(Arc::new(budget)).await.unwrap();
    let chat = &spans.named("chat")[0];
    for (field, value) in [
        ("otel.name", "chat dear"),
        ("gen_ai.request.model", "dear"),
        ("gen_ai.response.model", "dear"),
        ("langgraph.usage.cost", "1000.0"),
    ] {
        assert_eq!(chat.get(field).map(String::as_str), Some(value), "{field}");
    }
}
