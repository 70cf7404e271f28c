//! Errors of reducers.

/// Why a reducer refused an update.
#[derive(thiserror::Error)]
#[error("field `{field}`: {reason}")]
pub struct ReducerError {
    field: String,
    reason: String,
}

impl ReducerError {
    /// Creates an error with that reason. The state adds the field.
    pub fn new(reason: impl Into<String>) -> Self {
        Self {
            field: String::new(),
            reason: reason.into(),
        }
    }

    /// Sets the field that refused the update.
    #[must_use]
    pub fn in_field(mut self, field: &str) -> Self {
        field.clone_into(&mut self.field);
        self
    }

    /// Returns the field that refused the update.
    pub fn field(&self) -> &str {
        &self.field
    }

    /// Returns the reason.
    pub fn reason(&self) -> &str {
        &self.reason
    }
}

crate::debug_is_message!(ReducerError);
