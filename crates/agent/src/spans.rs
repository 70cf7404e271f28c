//! `tracing` spans of model calls and tool calls, with the names of OpenTelemetry's conventions for
//! generative AI.

use langgraph::node::Context;
use serde_json::json;
use tracing::field::Empty;
use tracing::{Instrument as _, Span, info_span};

use self::parts::{finish_reason, input_messages, output_message};
use crate::{
    Budget, ChatModel, ChatRequest, ChatResponse, ModelError, ToolContext, ToolError, ToolOutput,
};

mod parts;

/// As a resource of a graph or a run, it puts what is said into the spans: the messages of model calls,
/// and the arguments and results of tool calls. Without it, spans hold no content.
///
/// Needs the feature `tracing`.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
/// use langgraph_agent::{ScriptedModel, TraceContent, react_agent};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let agent = react_agent(ScriptedModel::new(["hi"]), ()).compile()?;
/// let agent = agent.resource(Arc::new(TraceContent));
/// # let _ = agent;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct TraceContent;

fn shows_content(cx: Option<&Context>) -> bool {
    cx.is_some_and(|cx| cx.resource::<TraceContent>().is_ok())
}

/// Calls a model in a span.
pub(crate) async fn chat<M: ChatModel + ?Sized>(
    model: &M,
    request: &ChatRequest,
    cx: Option<&Context>,
    call: impl Future<Output = Result<ChatResponse, ModelError>>,
) -> Result<ChatResponse, ModelError> {
    let name = model.name().unwrap_or("model");
    // Which of several models answers is known at the end.
    let called = (model.names().len() == 1).then_some(name);
    let span = info_span!(
        target: "langgraph",
        "chat",
        otel.name = %format_args!("chat {name}"),
        otel.kind = "client",
        otel.status_code = Empty,
        gen_ai.operation.name = "chat",
        gen_ai.provider.name = called.and_then(|_| model.provider()),
        gen_ai.request.model = called,
        gen_ai.request.temperature = request.temperature,
        gen_ai.request.max_tokens = request.max_tokens.map(i64::from),
        gen_ai.conversation.id = cx.and_then(Context::thread_id),
        gen_ai.usage.input_tokens = Empty,
        gen_ai.usage.output_tokens = Empty,
        gen_ai.response.finish_reasons = Empty,
        gen_ai.response.id = Empty,
        gen_ai.response.model = Empty,
        langgraph.usage.cost = Empty,
        langgraph.response.cached = Empty,
        gen_ai.system_instructions = Empty,
        gen_ai.input.messages = Empty,
        gen_ai.output.messages = Empty,
        error.type = Empty,
    );
    if span.is_disabled() {
        return call.await;
    }
    if shows_content(cx) {
        record_input(&span, request);
    }
    let answer = call.instrument(span.clone()).await;
    match &answer {
        Ok(response) => {
            let metadata = &response.metadata;
            let name = metadata.name.as_deref().unwrap_or(name);
            if called.is_none() {
                span.record("otel.name", format_args!("chat {name}").to_string());
                let provider = metadata.provider.as_deref().or(model.provider());
                record_model(&span, name, provider);
            }
            answered(&span, name, response, cx);
        }
        Err(error) => {
            if called.is_none() {
                record_model(&span, name, model.provider());
            }
            // The text is in the event of the node that fails.
            span.record("error.type", error.kind().name());
            span.record("otel.status_code", "ERROR");
        }
    }
    answer
}

fn record_model(span: &Span, name: &str, provider: Option<&str>) {
    span.record("gen_ai.request.model", name);
    span.record("gen_ai.provider.name", provider);
}

fn record_input(span: &Span, request: &ChatRequest) {
    let (system, chat) = input_messages(&request.messages);
    span.record("gen_ai.input.messages", chat.to_string());
    if let Some(system) = system {
        span.record("gen_ai.system_instructions", system.to_string());
    }
}

fn answered(span: &Span, model: &str, response: &ChatResponse, cx: Option<&Context>) {
    if let Some(usage) = response.usage {
        span.record("gen_ai.usage.input_tokens", signed(usage.input_tokens));
        span.record("gen_ai.usage.output_tokens", signed(usage.output_tokens));
        let budget = cx.and_then(|cx| cx.resource::<Budget>().ok());
        if let Some(price) = budget.and_then(|budget| budget.price(model)) {
            span.record("langgraph.usage.cost", price.of(usage));
        }
    }
    let metadata = &response.metadata;
    span.record(
        "gen_ai.response.model",
        metadata.model.as_deref().unwrap_or(model),
    );
    span.record("gen_ai.response.id", metadata.id.as_deref());
    if metadata.cached {
        span.record("langgraph.response.cached", true);
    }
    let reason = response.finish_reason.as_ref();
    if let Some(reason) = reason {
        let reasons = json!([finish_reason(reason)]);
        span.record("gen_ai.response.finish_reasons", reasons.to_string());
    }
    if shows_content(cx) {
        let output = output_message(&response.message, reason);
        span.record("gen_ai.output.messages", json!([output]).to_string());
    }
}

/// A number as OpenTelemetry has it: unsigned ones end up as text there.
fn signed(tokens: u64) -> i64 {
    i64::try_from(tokens).unwrap_or(i64::MAX)
}

/// Calls a tool in a span.
pub(crate) async fn tool(
    cx: &ToolContext<'_>,
    call: impl Future<Output = Result<ToolOutput, ToolError>>,
) -> Result<ToolOutput, ToolError> {
    let name = &*cx.call().name;
    let span = info_span!(
        target: "langgraph",
        "execute_tool",
        otel.name = %format_args!("execute_tool {name}"),
        otel.status_code = Empty,
        gen_ai.operation.name = "execute_tool",
        gen_ai.tool.name = name,
        gen_ai.tool.type = "function",
        gen_ai.tool.call.id = cx.call_id(),
        gen_ai.tool.call.arguments = Empty,
        gen_ai.tool.call.result = Empty,
        error.type = Empty,
    );
    if span.is_disabled() {
        return call.await;
    }
    let shows = shows_content(Some(cx));
    if shows {
        span.record("gen_ai.tool.call.arguments", &*cx.call().arguments_text());
    }
    let answer = call.instrument(span.clone()).await;
    match &answer {
        // A tool that asks has not failed.
        _ if cx.has_open_interrupt() => {}
        Ok(output) if shows => {
            span.record("gen_ai.tool.call.result", &*output.answer().text());
        }
        Ok(_) => {}
        Err(error) => {
            let kind = match error {
                ToolError::Arguments(_) => "arguments",
                ToolError::Model(_) => "tool",
                ToolError::Fatal(_) => "fatal",
            };
            span.record("error.type", kind);
            span.record("otel.status_code", "ERROR");
        }
    }
    answer
}
