//! Converts requests to genai's form.

use genai::chat::{
    ChatMessage, ChatOptions, ChatRequest as Request, ChatResponseFormat, ContentPart as Part,
    JsonSpec, MessageContent, Tool, ToolCall as Call, ToolChoice as Choice, ToolResponse,
};
use langgraph::message::{Content, ContentPart, Media, Message, MessageKind, ToolCall, ToolResult};
use langgraph_agent::{ChatRequest, ModelError, ModelErrorKind, ToolChoice};
use serde_json::{Value, json};

/// Returns the options for `request`.
pub(crate) fn options(request: &ChatRequest) -> ChatOptions {
    let mut options = ChatOptions {
        temperature: request.temperature,
        max_tokens: request.max_tokens,
        stop_sequences: request.stop.clone(),
        ..ChatOptions::default()
    };
    if !request.tools.is_empty() {
        options.tool_choice = match &request.tool_choice {
            ToolChoice::Required => Some(Choice::Required),
            ToolChoice::None => Some(Choice::None),
            ToolChoice::Tool(name) => Some(Choice::tool(name)),
            // The default of every provider.
            _ => None,
        };
    }
    options.response_format = request.response_format.as_ref().map(|format| {
        let name = format.name.chars().map(allowed).collect::<String>();
        ChatResponseFormat::JsonSpec(JsonSpec::new(name, format.schema.clone()))
    });
    options
}

/// Names of response formats may contain little more than letters.
fn allowed(c: char) -> char {
    if c.is_ascii_alphanumeric() || c == '-' {
        c
    } else {
        '_'
    }
}

/// Converts the request itself.
pub(crate) fn convert(request: ChatRequest) -> Result<Request, ModelError> {
    let mut messages: Vec<ChatMessage> = Vec::with_capacity(request.messages.len());
    let mut results: Vec<ToolResponse> = Vec::new();
    for message in request.messages {
        match message.kind {
            // Answers to the calls of one message stay together: some providers insist on it.
            MessageKind::Tool(result) => results.push(tool_result(result)?),
            kind => {
                if !results.is_empty() {
                    messages.push(std::mem::take(&mut results).into());
                }
                messages.extend(convert_message(kind)?);
            }
        }
    }
    if !results.is_empty() {
        messages.push(results.into());
    }
    let mut converted = Request::new(messages);
    if !request.tools.is_empty() {
        let tools = request.tools.into_iter().map(|tool| {
            Tool::new(tool.name)
                .with_description(tool.description)
                .with_schema(tool.parameters)
        });
        converted = converted.with_tools(tools);
    }
    Ok(converted)
}

fn convert_message(kind: MessageKind) -> Result<Option<ChatMessage>, ModelError> {
    Ok(Some(match kind {
        MessageKind::System(text) => ChatMessage::system(text),
        MessageKind::User(text) => ChatMessage::user(text),
        MessageKind::UserParts(parts) => ChatMessage::user(content(Content::Parts(parts))?),
        MessageKind::Assistant(text) => ChatMessage::assistant(text),
        MessageKind::AssistantParts(parts) => {
            ChatMessage::assistant(content(Content::Parts(parts))?)
        }
        MessageKind::ToolCalls {
            content: said,
            calls,
        } => {
            let mut content = content(said)?;
            for call in calls {
                content.push(Part::ToolCall(tool_call(call)));
            }
            ChatMessage::assistant(content)
        }
        // Not messages: they have already changed the history.
        MessageKind::Remove | MessageKind::RemoveAll => return Ok(None),
        other => {
            let role = Message::from(other).role();
            return Err(unsupported(&format!("a message of the role `{role}`")));
        }
    }))
}

fn content(content: Content) -> Result<MessageContent, ModelError> {
    let mut parts = Vec::new();
    match content {
        Content::Text(text) if text.is_empty() => {}
        Content::Text(text) => parts.push(Part::Text(text)),
        Content::Parts(all) => {
            for part in all {
                match part {
                    ContentPart::Text { text } => parts.push(Part::Text(text)),
                    ContentPart::Image(media) => parts.push(binary(media, "image/png")?),
                    ContentPart::Audio(media) => parts.push(binary(media, "audio/wav")?),
                    ContentPart::File(media) => parts.push(binary(media, "application/pdf")?),
                    ContentPart::Reasoning {
                        reasoning,
                        signature,
                    } => {
                        // In this order, as genai returns them.
                        parts.extend(signature.map(Part::ThoughtSignature));
                        if !reasoning.is_empty() {
                            parts.push(Part::ReasoningContent(reasoning));
                        }
                    }
                    _ => return Err(unsupported("a content part of that kind")),
                }
            }
        }
    }
    Ok(MessageContent::from_parts(parts))
}

fn binary(media: Media, usual: &str) -> Result<Part, ModelError> {
    match media {
        Media::Url { url, mime_type } => {
            let mime_type = mime_type.unwrap_or_else(|| usual.to_owned());
            Ok(Part::from_binary_url(mime_type, url, None))
        }
        Media::Base64 { base64, mime_type } => {
            Ok(Part::from_binary_base64(mime_type, base64, None))
        }
        _ => Err(unsupported("media of that kind")),
    }
}

/// Converts a call. Arguments that are not a JSON object are quoted inside one, because providers
/// refuse anything else.
fn tool_call(call: ToolCall) -> Call {
    let arguments = match call.arguments {
        arguments @ Value::Object(_) => arguments,
        Value::Null => json!({}),
        Value::String(text) => json!({"invalid_arguments": text}),
        other => json!({"invalid_arguments": other.to_string()}),
    };
    Call {
        call_id: call.id,
        fn_name: call.name,
        fn_arguments: arguments,
        thought_signatures: None,
    }
}

fn tool_result(result: ToolResult) -> Result<ToolResponse, ModelError> {
    let text_only = |part: &ContentPart| matches!(part, ContentPart::Text { .. });
    if !result.content.parts().iter().all(text_only) {
        return Err(unsupported(
            "a tool's answer that is not text; put pictures and files into a message of the user",
        ));
    }
    let response = ToolResponse::new(result.call_id, result.content.text());
    Ok(match result.name {
        Some(name) => response.with_fn_name(name),
        None => response,
    })
}

fn unsupported(what: &str) -> ModelError {
    let text = format!("cannot be sent: {what}");
    ModelError::new(ModelErrorKind::InvalidRequest, text)
}
