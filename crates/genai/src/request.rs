//! Converts requests to genai's form.

use genai::adapter::AdapterKind;
use genai::chat::{
    CacheControl, ChatMessage, ChatOptions, ChatRequest as Request, ChatResponseFormat,
    ContentPart as Part, JsonSpec, MessageContent, Tool, ToolCall as Call, ToolChoice as Choice,
    ToolResponse,
};
use langgraph::message::{Content, ContentPart, Media, Message, MessageKind, ToolCall, ToolResult};
use langgraph_agent::{ChatRequest, ModelError, ModelErrorKind, ToolChoice};
use serde_json::{Value, json};

use crate::signature::{self, Origin};

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
pub(crate) fn convert(request: ChatRequest, to: AdapterKind) -> Result<Request, ModelError> {
    let mut messages: Vec<ChatMessage> = Vec::with_capacity(request.messages.len());
    let mut results: Vec<ToolResponse> = Vec::new();
    let mut results_mark = None;
    for message in request.messages {
        let mark = cache_mark(message.parts(), to);
        match message.into_fields().kind {
            // Answers to the calls of one message stay together: some providers insist on it.
            MessageKind::Tool(result) => {
                results.push(tool_result(result)?);
                results_mark = mark.or(results_mark);
            }
            kind => {
                if !results.is_empty() {
                    let answers = std::mem::take(&mut results).into();
                    messages.push(marked(answers, results_mark.take()));
                }
                messages.extend(convert_message(kind, to)?.map(|message| marked(message, mark)));
            }
        }
    }
    if !results.is_empty() {
        messages.push(marked(results.into(), results_mark));
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

/// Returns how long Anthropic keeps the prompt up to a message, if a part of it has `cache_control`. Others keep
/// prompts without a mark.
fn cache_mark(parts: &[ContentPart], to: AdapterKind) -> Option<CacheControl> {
    if to != AdapterKind::Anthropic {
        return None;
    }
    parts.iter().rev().find_map(|part| {
        let ContentPart::Text { form, .. } = part else {
            return None;
        };
        let ttl = form.get("cache_control")?.get("ttl");
        Some(match ttl.and_then(Value::as_str) {
            Some("1h") => CacheControl::Ephemeral1h,
            _ => CacheControl::Ephemeral,
        })
    })
}

fn marked(message: ChatMessage, mark: Option<CacheControl>) -> ChatMessage {
    match mark {
        Some(mark) => message.with_options(mark),
        None => message,
    }
}

fn convert_message(kind: MessageKind, to: AdapterKind) -> Result<Option<ChatMessage>, ModelError> {
    Ok(Some(match kind {
        MessageKind::System(text) => ChatMessage::system(text),
        MessageKind::SystemParts(parts) => {
            ChatMessage::system(Content::Parts(parts).text().into_owned())
        }
        MessageKind::User(text) => ChatMessage::user(text),
        MessageKind::UserParts(parts) => ChatMessage::user(content(Content::Parts(parts), to)?),
        MessageKind::Assistant(text) => ChatMessage::assistant(text),
        MessageKind::AssistantParts(parts) => {
            ChatMessage::assistant(content(Content::Parts(parts), to)?)
        }
        MessageKind::ToolCalls {
            content: said,
            calls,
        } => {
            let mut content = content(said, to)?;
            // Gemini wants its signature back on the first call.
            let signature = content.parts().iter().find_map(|part| match part {
                Part::ThoughtSignature(signature) if to == AdapterKind::Gemini => {
                    Some(vec![signature.clone()])
                }
                _ => None,
            });
            for (place, call) in calls.into_iter().enumerate() {
                let mut call = tool_call(call);
                call.thought_signatures = signature.clone().filter(|_| place == 0);
                content.push(Part::ToolCall(call));
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

fn content(content: Content, to: AdapterKind) -> Result<MessageContent, ModelError> {
    let mut parts = Vec::new();
    match content {
        Content::Text(text) if text.is_empty() => {}
        Content::Text(text) => parts.push(Part::Text(text)),
        Content::Parts(all) => {
            for part in all {
                match part {
                    ContentPart::Text { text, .. } => parts.push(Part::Text(text)),
                    ContentPart::Image(media) => parts.push(binary(media, Kind::Image, to)?),
                    ContentPart::Audio(media) => parts.push(binary(media, Kind::Audio, to)?),
                    ContentPart::Video(media) => parts.push(binary(media, Kind::Video, to)?),
                    ContentPart::File(media) => parts.push(binary(media, Kind::File, to)?),
                    // What only other programs understand.
                    ContentPart::Other(_) => {}
                    ContentPart::Reasoning {
                        reasoning,
                        signature,
                        ..
                    } => {
                        let signature = match signature.map(|given| signature::origin(given, to)) {
                            None => None,
                            Some(Origin::Own(signature)) => Some(signature),
                            // What another provider thought is no part of the answer.
                            Some(Origin::Foreign) => continue,
                        };
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

/// The kind of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Image,
    Audio,
    Video,
    File,
}

impl Kind {
    /// The MIME type unless another one is set.
    fn usual(self) -> &'static str {
        match self {
            Self::Image => "image/png",
            Self::Audio => "audio/wav",
            Self::Video => "video/mp4",
            Self::File => "application/pdf",
        }
    }
}

/// Converts a picture, a sound or a file. genai leaves out what it cannot send, so that the model would
/// answer without having seen it: here that is an error.
fn binary(media: Media, kind: Kind, to: AdapterKind) -> Result<Part, ModelError> {
    let what = match (kind, &media) {
        (_, Media::File { .. }) => "a file by its id",
        (Kind::Image, Media::Url { .. }) => "a picture by its address",
        (Kind::Image, _) => "a picture",
        (Kind::Audio, Media::Url { .. }) => "a sound by its address",
        (Kind::Audio, _) => "a sound",
        (Kind::Video, Media::Url { .. }) => "a film by its address",
        (Kind::Video, _) => "a film",
        (Kind::File, Media::Url { .. }) => "a file by its address",
        (Kind::File, _) => "a file",
    };
    let refused = || {
        let provider = to.as_str();
        Err(unsupported(&format!(
            "{what}, to {provider}; send its content as base64, or as text, or ask another model"
        )))
    };
    match media {
        _ if kind == Kind::Video && to != AdapterKind::Gemini => refused(),
        Media::Url { url, mime_type, .. } => {
            let mime_type = mime_type.unwrap_or_else(|| kind.usual().to_owned());
            match (to, kind) {
                (AdapterKind::Anthropic, Kind::Image) => {
                    let source = json!({"type": "url", "url": url});
                    let image = json!({"type": "image", "source": source});
                    Ok(Part::from_custom(image, None))
                }
                (AdapterKind::Ollama, _)
                | (AdapterKind::Anthropic, Kind::Audio)
                | (AdapterKind::OpenAI, Kind::Audio | Kind::File) => refused(),
                _ => Ok(Part::from_binary_url(mime_type, url, None)),
            }
        }
        Media::Base64 {
            base64, mime_type, ..
        } => match (to, kind) {
            (AdapterKind::Ollama, Kind::Audio | Kind::File)
            | (AdapterKind::Anthropic, Kind::Audio) => refused(),
            _ => {
                // A file needs a name at OpenAI.
                let name = (kind == Kind::File).then(|| {
                    let kind = mime_type.rsplit(['/', '+', '.']).next();
                    format!("file.{}", kind.unwrap_or("bin"))
                });
                Ok(Part::from_binary_base64(mime_type, base64, name))
            }
        },
        _ => refused(),
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
