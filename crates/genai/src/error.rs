//! Converts errors of genai.

use std::time::{Duration, SystemTime};

use genai::webc::{Error as Web, StreamTimeout};
use genai::{BoxError, Error};
use langgraph_agent::{ModelError, ModelErrorKind};

/// Converts an error. genai's own text holds the whole request, so it stops here: chats do not
/// belong in logs.
pub(crate) fn from_genai(error: Error) -> ModelError {
    match error {
        Error::WebModelCall { webc_error, .. } | Error::WebAdapterCall { webc_error, .. } => {
            from_web(webc_error)
        }
        Error::WebStream { error, cause, .. } => from_stream(error, &cause),
        Error::HttpError {
            status,
            body,
            headers,
            ..
        } => {
            let header = |name: &str| headers.get(name)?.to_str().ok().map(str::to_owned);
            from_status(status.as_u16(), &body, header)
        }
        Error::ChatResponse { body, .. } => {
            let text = format!("the provider failed in the middle of its answer: {body}");
            of_kind(kind_of_text(&text).unwrap_or(PROVIDER), text)
        }
        Error::StreamParse { serde_error, .. } => of_kind(
            ModelErrorKind::Incomplete,
            format!("a piece of the model's answer is broken: {serde_error}"),
        ),
        Error::ChatResponseGeneration { cause, .. } => of_kind(
            PROVIDER,
            format!("the model's answer cannot be read: {cause}"),
        ),
        error @ (Error::RequiresApiKey { .. }
        | Error::NoAuthResolver { .. }
        | Error::NoAuthData { .. }) => of_kind(ModelErrorKind::Auth, error.to_string()),
        Error::Resolver { resolver_error, .. } => {
            of_kind(ModelErrorKind::Auth, resolver_error.to_string())
        }
        Error::NoChatResponse { .. } => of_kind(PROVIDER, "the provider sent no answer".to_owned()),
        Error::InvalidJsonResponseElement { info } => of_kind(
            PROVIDER,
            format!("the model's answer cannot be read: {info}"),
        ),
        other => of_kind(ModelErrorKind::InvalidRequest, other.to_string()),
    }
}

const PROVIDER: ModelErrorKind = ModelErrorKind::Provider { status: None };

fn of_kind(kind: ModelErrorKind, text: String) -> ModelError {
    ModelError::new(kind, text)
}

fn from_web(error: Web) -> ModelError {
    match error {
        Web::ResponseFailedStatus {
            status,
            body,
            headers,
        } => {
            let header = |name: &str| headers.get(name)?.to_str().ok().map(str::to_owned);
            from_status(status.as_u16(), &body, header)
        }
        Web::Reqwest(error) => from_transport(error),
        Web::ResponseFailedNotJson { content_type, .. } => of_kind(
            PROVIDER,
            format!("the provider answered with `{content_type}`, expected JSON"),
        ),
        Web::ResponseFailedInvalidJson { cause, .. } => of_kind(
            ModelErrorKind::Incomplete,
            format!("the provider's answer is not whole: {cause}"),
        ),
        other @ Web::JsonValueExt(_) => of_kind(PROVIDER, other.to_string()),
    }
}

/// Converts a stream's error, which is boxed and may contain an error of genai.
fn from_stream(error: BoxError, cause: &str) -> ModelError {
    let error = match error.downcast::<Error>() {
        Ok(inner) => return from_genai(*inner),
        Err(error) => error,
    };
    let error = match error.downcast::<Web>() {
        Ok(inner) => return from_web(*inner),
        Err(error) => error,
    };
    let error = match error.downcast::<StreamTimeout>() {
        Ok(timeout) => return of_kind(ModelErrorKind::Timeout, timeout.to_string()),
        Err(error) => error,
    };
    match error.downcast::<reqwest::Error>() {
        Ok(inner) => from_transport(*inner),
        Err(_) => of_kind(
            ModelErrorKind::Transport,
            format!("the model's answer broke off: {cause}"),
        ),
    }
}

pub(crate) fn from_transport(error: reqwest::Error) -> ModelError {
    let kind = if error.is_timeout() {
        ModelErrorKind::Timeout
    } else if error.is_builder() {
        ModelErrorKind::InvalidRequest
    } else {
        ModelErrorKind::Transport
    };
    // Without the address, which can hold a key.
    let error = error.without_url();
    let what = match kind {
        ModelErrorKind::Timeout => "the provider did not answer in time",
        _ if error.is_connect() => "the provider cannot be reached",
        _ => "the connection to the provider broke",
    };
    of_kind(kind, format!("{what}: {}", causes(&error)))
}

/// Returns the causes of an error; the outermost error adds nothing.
fn causes(error: &dyn std::error::Error) -> String {
    let mut causes = Vec::new();
    let mut cause = error.source();
    while let Some(error) = cause {
        causes.push(error.to_string());
        cause = error.source();
    }
    if causes.is_empty() {
        return error.to_string();
    }
    causes.join(": ")
}

pub(crate) fn from_status(
    status: u16,
    body: &str,
    header: impl Fn(&str) -> Option<String>,
) -> ModelError {
    let wait = retry_after(header);
    let kind = match status {
        401 | 403 => ModelErrorKind::Auth,
        408 | 504 => ModelErrorKind::Timeout,
        413 => ModelErrorKind::ContextLength,
        // A retry cannot help when the quota is used up.
        429 if body.contains("insufficient_quota") => ModelErrorKind::Provider {
            status: Some(status),
        },
        429 => ModelErrorKind::RateLimited { retry_after: wait },
        400..500 => kind_of_text(body).unwrap_or(ModelErrorKind::InvalidRequest),
        _ => ModelErrorKind::Provider {
            status: Some(status),
        },
    };
    let said = said(body);
    let error = of_kind(
        kind,
        format!("the provider answered with status {status}: {said}"),
    );
    match wait {
        // Not only rate limits: an overloaded provider also says how long to wait.
        Some(wait) => error.with_retry_after(wait),
        None => error,
    }
}

/// Recognizes the messages of providers about chats that are too long.
fn kind_of_text(text: &str) -> Option<ModelErrorKind> {
    let text = text.to_lowercase();
    let too_long = [
        "context_length_exceeded",
        "maximum context length",
        "prompt is too long",
        "context window",
    ];
    let found = too_long.iter().any(|phrase| text.contains(phrase));
    found.then_some(ModelErrorKind::ContextLength)
}

/// Returns how long the provider asks to wait.
fn retry_after(header: impl Fn(&str) -> Option<String>) -> Option<Duration> {
    let number = |name| header(name)?.trim().parse::<f64>().ok();
    let milliseconds = number("retry-after-ms").map(|milliseconds| milliseconds / 1_000.0);
    if let Some(seconds) = milliseconds.or_else(|| number("retry-after")) {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = httpdate::parse_http_date(header("retry-after")?.trim()).ok()?;
    // A date that has passed is no time to wait.
    Some(date.duration_since(SystemTime::now()).unwrap_or_default())
}

/// Returns the message in a provider's error, or the beginning of its body.
fn said(body: &str) -> String {
    let json: Option<serde_json::Value> = serde_json::from_str(body).ok();
    let message = json.as_ref().and_then(|json| {
        let message = json
            .pointer("/error/message")
            .or_else(|| json.get("message"));
        message.or_else(|| json.get("error"))?.as_str()
    });
    let text = message.unwrap_or(body).trim();
    if text.is_empty() {
        return "it said nothing".to_owned();
    }
    text.chars().take(500).collect()
}
