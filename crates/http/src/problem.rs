//! Errors as responses.

use langgraph::error::AgentError;
use serde_json::{Value, json};

use crate::NotResumable;
use crate::frame::error_body;

/// An error as an HTTP response: a status, and a JSON body.
///
/// `?` makes it of an [`AgentError`], with the status of its kind. The body has the fields of the
/// `error` frames of [`sse`](crate::sse). With the feature `axum` it is a response.
///
/// # Examples
///
/// ```
/// use langgraph::error::AgentError;
/// use langgraph_http::Problem;
///
/// let problem = Problem::from(AgentError::Cancelled);
/// assert_eq!(problem.status(), 499);
/// assert_eq!(
///     problem.body().to_string(),
///     r#"{"code":"cancelled","message":"the run was cancelled","retry":false}"#
/// );
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    status: u16,
    body: Value,
}

impl Problem {
    /// A problem of the service itself.
    pub fn new(status: u16, code: &str, message: impl Into<String>) -> Self {
        let message = message.into();
        Self {
            status,
            body: json!({"code": code, "message": message, "retry": false}),
        }
    }

    /// The same with another status.
    #[must_use]
    pub fn with_status(mut self, status: u16) -> Self {
        self.status = status;
        self
    }

    /// The HTTP status.
    pub fn status(&self) -> u16 {
        self.status
    }

    /// The body of the response.
    pub fn body(&self) -> &Value {
        &self.body
    }
}

impl From<AgentError> for Problem {
    fn from(error: AgentError) -> Self {
        Self {
            status: error.kind().http_status(),
            body: error_body(&error),
        }
    }
}

impl From<NotResumable> for Problem {
    fn from(error: NotResumable) -> Self {
        Self::new(error.http_status(), error.code(), error.to_string())
    }
}
