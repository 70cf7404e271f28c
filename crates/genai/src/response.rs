//! Converts answers of genai.

use genai::Error;
use genai::adapter::AdapterKind;
use genai::chat::{
    ChatResponse as Response, ContentPart as Part, StopReason, ToolCall as Call, Usage as Used,
};
use langgraph::message::{
    Content, ContentPart, FinishReason, Message, ResponseMetadata, ToolCall, Usage,
};
use langgraph_agent::ChatResponse;
use serde_json::Value;

use crate::call_id;
use crate::signature;

/// Converts an answer in one piece.
pub(crate) fn convert(response: Response, provider: AdapterKind) -> ChatResponse {
    let model = response.provider_model_iden.model_name.to_string();
    let body = response.captured_raw_body.as_ref();
    let id = || Some(body?.get("id")?.as_str()?.to_owned());
    let id = response.response_id.clone().or_else(id);
    let mut text = String::new();
    // Blocks of reasoning, each with its signature. At some providers the signature comes first.
    let mut thoughts: Vec<(String, Option<String>)> = Vec::new();
    let mut calls = Vec::new();
    for part in response.content.into_parts() {
        match part {
            Part::Text(more) => text.push_str(&more),
            Part::ReasoningContent(more) => match thoughts.last_mut() {
                Some((known, signed)) if known.is_empty() || signed.is_none() => {
                    known.push_str(&more);
                }
                _ => thoughts.push((more, None)),
            },
            Part::ThoughtSignature(given) => {
                let given = signature::sign(&given, provider);
                match thoughts.last_mut() {
                    Some((_, signed @ None)) => *signed = Some(given),
                    _ => thoughts.push((String::new(), Some(given))),
                }
            }
            Part::ToolCall(call) => calls.push(tool_call(call)),
            Part::Binary(_) | Part::ToolResponse(_) | Part::Custom(_) => {}
        }
    }
    let elsewhere = response.reasoning_content.unwrap_or_default();
    if thoughts.iter().all(|(known, _)| known.is_empty()) && !elsewhere.is_empty() {
        match thoughts.first_mut() {
            Some((known, _)) => *known = elsewhere,
            None => thoughts.push((elsewhere, None)),
        }
    }
    let content = if thoughts.is_empty() {
        Content::Text(text)
    } else {
        let thoughts = thoughts.into_iter();
        let thoughts =
            thoughts.map(|(reasoning, signature)| ContentPart::reasoning(reasoning, signature));
        let mut parts: Vec<_> = thoughts.collect();
        if !text.is_empty() {
            parts.push(ContentPart::text(text));
        }
        Content::Parts(parts)
    };
    let reason = finish_reason(response.stop_reason.as_ref(), !calls.is_empty());
    let message = Message::assistant_with_tool_calls(content, calls);
    let mut converted = ChatResponse::new(message).with_finish_reason(reason);
    converted.usage = usage(&response.usage);
    let mut metadata = ResponseMetadata::of(&*model);
    metadata.id = id;
    converted.with_metadata(metadata)
}

/// Recovers an answer that genai refuses: calls whose arguments are invalid JSON, in the form of
/// `OpenAI`'s protocol. They are reported to the model, as it is when the same answer is streamed.
pub(crate) fn rescued(error: &Error) -> Option<ChatResponse> {
    let Error::ChatResponseGeneration { response_body, .. } = error else {
        return None;
    };
    let text = |value: &Value, path: &str| value.pointer(path)?.as_str().map(str::to_owned);
    let choice = response_body.pointer("/choices/0")?;
    let calls = choice.pointer("/message/tool_calls")?.as_array()?;
    let calls: Option<Vec<ToolCall>> = calls
        .iter()
        .map(|call| {
            let arguments = text(call, "/function/arguments")?;
            let id = text(call, "/id").unwrap_or_default();
            Some(ToolCall::from_text(
                id,
                text(call, "/function/name")?,
                arguments,
            ))
        })
        .collect();
    let calls = calls?;
    let reason = text(choice, "/finish_reason").map(StopReason::from);
    let reason = finish_reason(reason.as_ref(), !calls.is_empty());
    let said = text(choice, "/message/content").unwrap_or_default();
    let message = Message::assistant_with_tool_calls(said, calls);
    let mut response = ChatResponse::new(message).with_finish_reason(reason);
    let count = |path: &str| response_body.pointer(path)?.as_u64();
    response.metadata.model = text(response_body, "/model");
    response.metadata.id = text(response_body, "/id");
    response.usage = count("/usage/prompt_tokens")
        .map(|read| Usage::new(read, count("/usage/completion_tokens").unwrap_or(0)));
    Some(response)
}

pub(crate) fn tool_call(call: Call) -> ToolCall {
    let id = call_id::of(&call);
    match call.fn_arguments {
        arguments @ Value::Object(_) => ToolCall::new(id, call.fn_name, arguments),
        other => ToolCall::from_text(id, call.fn_name, arguments_text(&other)),
    }
}

/// Returns the arguments as the model wrote them.
pub(crate) fn arguments_text(arguments: &Value) -> String {
    match arguments {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Returns why the answer ends. Some providers say "stop" when the model waits for tools, and some
/// say nothing; then the calls decide.
pub(crate) fn finish_reason(reason: Option<&StopReason>, calls: bool) -> FinishReason {
    match reason {
        Some(StopReason::MaxTokens(_)) => FinishReason::Length,
        Some(StopReason::ContentFilter(_)) => FinishReason::ContentFilter,
        Some(StopReason::Other(reason)) => FinishReason::Other(reason.clone()),
        _ if calls => FinishReason::ToolCalls,
        Some(StopReason::ToolCall(_) | StopReason::Completed(_) | StopReason::StopSequence(_))
        | None => FinishReason::Stop,
    }
}

/// Returns the tokens used, or `None` if the provider does not count.
pub(crate) fn usage(used: &Used) -> Option<Usage> {
    let count = |tokens: Option<i32>| tokens.and_then(|tokens| u64::try_from(tokens).ok());
    let read = count(used.prompt_tokens);
    let written = count(used.completion_tokens);
    if read.is_none() && written.is_none() {
        return None;
    }
    let cached = used.prompt_tokens_details.as_ref();
    let thought = used.completion_tokens_details.as_ref();
    Some(
        Usage::new(read.unwrap_or(0), written.unwrap_or(0))
            .with_cached(cached.and_then(|of| count(of.cached_tokens)).unwrap_or(0))
            .with_reasoning(
                thought
                    .and_then(|of| count(of.reasoning_tokens))
                    .unwrap_or(0),
            ),
    )
}
