//! The errors of a call to an agent.

use a2a::{A2AError, error_code};
use langgraph_remote::{ErrorCode, RemoteError};

/// Why the events of a task end before the reply is complete.
pub(crate) enum Broken {
    /// The connection.
    Connection(A2AError),
    /// The agent refuses.
    Refused(A2AError),
}

pub(crate) fn broken(error: A2AError) -> Broken {
    if is_connection(&error) {
        Broken::Connection(error)
    } else {
        Broken::Refused(error)
    }
}

/// The client library reports a broken connection as an internal error, with one of these texts.
fn is_connection(error: &A2AError) -> bool {
    const TEXTS: [&str; 5] = [
        "HTTP request failed",
        "SSE ",
        "failed to",
        "stream ended with",
        "agent card fetch",
    ];
    error.code == error_code::INTERNAL_ERROR
        && TEXTS.iter().any(|text| error.message.starts_with(text))
}

/// Returns the error that a requester gets.
pub(crate) fn failed(error: A2AError) -> RemoteError {
    if is_connection(&error) {
        return RemoteError::connection(error);
    }
    let coded = |word: &str| Some(error.message.split_once(word)?.1.to_owned());
    let (code, message) = if let Some(rest) = coded("overloaded: ") {
        (ErrorCode::Overloaded, rest)
    } else if let Some(rest) = coded("unauthorized: ") {
        ("unauthorized".into(), rest)
    } else {
        let code = match error.code {
            error_code::TASK_NOT_FOUND => "task_not_found".into(),
            error_code::INVALID_PARAMS | error_code::INVALID_REQUEST => ErrorCode::BadRequest,
            error_code::UNSUPPORTED_OPERATION => "unsupported".into(),
            error_code::CONTENT_TYPE_NOT_SUPPORTED => "content_type".into(),
            error_code::VERSION_NOT_SUPPORTED => "version".into(),
            _ => ErrorCode::Failed,
        };
        (code, error.message)
    };
    RemoteError::Refused { code, message }
}
