//! Errors in the form of the interface: `{"detail": ...}`.

use crate::queue::QueueError;
use axum::Json;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use langgraph::error::{AgentError, CheckpointError};
use langgraph_store::StoreError;
use serde_json::json;

use crate::rows::RowsError;
use crate::stream::RunError;

/// An error of a request.
#[derive(Debug)]
pub(crate) struct ApiError {
    status: StatusCode,
    detail: String,
    /// The storage failed, which may work later.
    is_storage: bool,
}

pub(crate) type ApiResult<T> = Result<T, ApiError>;

impl ApiError {
    pub(crate) fn status(&self) -> StatusCode {
        self.status
    }

    pub(crate) fn detail(&self) -> &str {
        &self.detail
    }

    pub(crate) fn not_found(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, detail)
    }

    pub(crate) fn no_thread(id: &str) -> Self {
        Self::not_found(format!("Thread with ID {id} not found"))
    }

    pub(crate) fn conflict(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, detail)
    }

    /// The server stops, and has not taken up the request.
    pub(crate) fn unavailable() -> Self {
        Self::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "the server stops; try again",
        )
    }

    /// The server stops while a client waits for a run, which another process carries out.
    pub(crate) fn goes_on() -> Self {
        Self::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "the server stops, and the run goes on: join it",
        )
    }

    pub(crate) fn not_allowed() -> Self {
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "Method Not Allowed")
    }

    /// What is not the client's business is not said.
    pub(crate) fn broken() -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "Internal Server Error")
    }

    pub(crate) fn bad_request(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, detail)
    }

    pub(crate) fn unauthorized() -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "Unauthorized")
    }

    pub(crate) fn forbidden(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, detail)
    }

    pub(crate) fn too_large(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, detail)
    }

    pub(crate) fn too_many(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::TOO_MANY_REQUESTS, detail)
    }

    pub(crate) fn invalid(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, detail)
    }

    fn new(status: StatusCode, detail: impl Into<String>) -> Self {
        Self {
            status,
            detail: detail.into(),
            is_storage: false,
        }
    }

    /// The storage failed. Why is logged, and not sent.
    pub(crate) fn storage(error: &dyn std::error::Error) -> Self {
        tracing::error!(%error, "the storage failed");
        Self {
            is_storage: true,
            ..Self::broken()
        }
    }

    /// Returns true if the storage failed: the same may work later.
    pub(crate) fn is_storage(&self) -> bool {
        self.is_storage
    }

    /// Returns true if the storage failed, or the server stops: the same may work later.
    pub(crate) fn may_work_later(&self) -> bool {
        self.is_storage || self.status == StatusCode::SERVICE_UNAVAILABLE
    }

    /// Returns the other error instead, which says less, unless the same may work later.
    pub(crate) fn hidden_as(self, other: Self) -> Self {
        if self.may_work_later() { self } else { other }
    }

    /// Returns an error of a graph whose code was run. What its nodes say is shown only if the program says so.
    pub(crate) fn of_graph(error: AgentError, shows_errors: bool) -> Self {
        if shows_errors && error.node_error().is_some() {
            Self::invalid(error.to_string())
        } else {
            error.into()
        }
    }

    /// Returns true if a run failed because its storage did.
    pub(crate) fn is_storage_error(error: &AgentError) -> bool {
        matches!(error, AgentError::Checkpoint(CheckpointError::Storage(_)))
    }
}

impl ApiError {
    /// Returns the header that says when to try again, if that makes sense.
    pub(crate) fn retry_after(&self) -> Option<(HeaderName, HeaderValue)> {
        let is_away = self.status == StatusCode::SERVICE_UNAVAILABLE;
        is_away.then(|| (header::RETRY_AFTER, HeaderValue::from_static("1")))
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let body = Json(json!({"detail": self.detail}));
        if self.status == StatusCode::UNAUTHORIZED {
            let scheme = [(header::WWW_AUTHENTICATE, "Bearer")];
            return (self.status, scheme, body).into_response();
        }
        let mut response = (self.status, body).into_response();
        response.headers_mut().extend(self.retry_after());
        response
    }
}

impl From<RowsError> for ApiError {
    fn from(error: RowsError) -> Self {
        Self::storage(&error)
    }
}

impl From<QueueError> for ApiError {
    fn from(error: QueueError) -> Self {
        Self::storage(&error)
    }
}

impl From<CheckpointError> for ApiError {
    fn from(error: CheckpointError) -> Self {
        AgentError::from(error).into()
    }
}

impl From<serde_json::Error> for ApiError {
    fn from(error: serde_json::Error) -> Self {
        Self::invalid(error.to_string())
    }
}

impl From<AgentError> for ApiError {
    fn from(error: AgentError) -> Self {
        match &error {
            AgentError::Checkpoint(
                CheckpointError::UnknownThread(_) | CheckpointError::UnknownCheckpoint { .. },
            ) => Self::not_found(error.to_string()),
            AgentError::Checkpoint(
                CheckpointError::Conflict { .. }
                | CheckpointError::Held { .. }
                | CheckpointError::LeaseLost { .. }
                | CheckpointError::ThreadExists(_)
                | CheckpointError::OtherGraph { .. },
            ) => Self::conflict(error.to_string()),
            AgentError::Checkpoint(CheckpointError::Storage(_) | CheckpointError::Corrupt(_)) => {
                Self::storage(&error)
            }
            _ if error.node_error().is_some() => Self::invalid(hidden(&error)),
            _ => Self::invalid(error.to_string()),
        }
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Storage(_) | StoreError::Embedding(_) | StoreError::BadEmbedding(_) => {
                Self::storage(&error)
            }
            error => Self::invalid(error.to_string()),
        }
    }
}

/// Logs an error of a graph, and returns what clients see of it.
fn hidden(error: &AgentError) -> String {
    tracing::error!(%error, "a graph failed");
    match error.node() {
        Some(node) => format!("node `{node}` failed"),
        None => "the run failed".to_owned(),
    }
}

/// Returns an error of a run as clients see it. What is not their business is logged.
/// The texts of nodes are shown only if the program says so: they may hold a secret.
pub(crate) fn problem(error: &AgentError, shows_errors: bool) -> RunError {
    let message = match error {
        AgentError::StepLimit { .. }
        | AgentError::BoundReached { .. }
        | AgentError::InvalidInput(_)
        | AgentError::InvalidOption(_)
        | AgentError::TimedOut(_)
        | AgentError::Cancelled
        | AgentError::Checkpoint(CheckpointError::NothingToResume { .. }) => error.to_string(),
        error if !shows_errors && !matches!(error, AgentError::Checkpoint(_)) => hidden(error),
        AgentError::Checkpoint(CheckpointError::Storage(_) | CheckpointError::Corrupt(_)) => {
            tracing::error!(%error, "a run failed");
            "the server could not carry out the run".to_owned()
        }
        error => error.to_string(),
    };
    RunError::new(error_name(error), message)
}

/// Returns the name of an error, as a client of LangGraph expects it.
fn error_name(error: &AgentError) -> &'static str {
    match error {
        AgentError::StepLimit { .. } | AgentError::BoundReached { .. } => "GraphRecursionError",
        AgentError::InvalidInput(_) | AgentError::InvalidOption(_) => "ValueError",
        AgentError::InvalidUpdate(_) => "InvalidUpdateError",
        AgentError::TimedOut(_) => "TimeoutError",
        AgentError::Cancelled => "UserInterrupt",
        AgentError::Checkpoint(CheckpointError::NothingToResume { .. }) => "UnknownInterruptError",
        AgentError::Node { .. } | AgentError::Agent { .. } | AgentError::Remote { .. } => {
            "NodeError"
        }
        _ => "RuntimeError",
    }
}
