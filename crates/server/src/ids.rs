//! The ids of requests.

use uuid::Uuid;

use crate::error::{ApiError, ApiResult};

/// Returns the id of a thread in its usual form.
pub(crate) fn thread_id(text: &str) -> ApiResult<String> {
    uuid("thread", text)
}

/// Returns the id of such a thing in its usual form.
pub(crate) fn uuid(what: &str, text: &str) -> ApiResult<String> {
    match text.parse::<Uuid>() {
        Ok(id) => Ok(id.to_string()),
        Err(_) => Err(ApiError::invalid(format!(
            "Invalid {what} ID: must be a UUID"
        ))),
    }
}
