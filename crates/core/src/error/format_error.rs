//! Errors of formats.

use std::error::Error;
use std::fmt;

use crate::strict::Refusal;

/// Why a value cannot be encoded or decoded.
pub struct FormatError {
    /// The place in the value: `messages[3].score`.
    path: Option<String>,
    /// The same place, if its names may be secret.
    hidden: Option<String>,
    source: Box<dyn Error + Send + Sync>,
}

impl FormatError {
    /// Creates an error from its source.
    pub fn new(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self {
            path: None,
            hidden: None,
            source: source.into(),
        }
    }

    /// Sets the place in the value.
    #[must_use]
    pub fn at(mut self, path: impl Into<String>) -> Self {
        self.path = Some(path.into());
        self
    }

    /// Replaces the message by `instead`, for a format that keeps values secret. Of the place, only
    /// the field of the state remains.
    #[must_use]
    pub fn hiding_value(self, instead: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self {
            path: None,
            hidden: self.path.or(self.hidden),
            source: instead.into(),
        }
    }

    /// Replaces the place by the part of it that `part` finds. If its names may be secret, only
    /// the first name of the part is shown.
    #[must_use]
    pub fn within(mut self, part: fn(&str) -> Option<&str>) -> Self {
        if let Some(path) = self.path.as_deref().and_then(part) {
            self.path = Some(path.to_owned());
        }
        if let Some(path) = self.hidden.as_deref().and_then(part) {
            // What follows the name may be a key of a map.
            let field = path.split(['.', '[']).next();
            self.path = field.map(str::to_owned);
        }
        self
    }

    /// Returns the place in the value, if known.
    pub fn path(&self) -> Option<&str> {
        self.path.as_deref()
    }
}

impl fmt::Display for FormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.path {
            Some(path) => write!(f, "field `{path}`: {}", self.source),
            None => self.source.fmt(f),
        }
    }
}

impl Error for FormatError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.source)
    }
}

impl From<erased_serde::Error> for FormatError {
    fn from(error: erased_serde::Error) -> Self {
        Self::new(error)
    }
}

impl From<Refusal> for FormatError {
    fn from(refusal: Refusal) -> Self {
        let error = Self::new(refusal.reason());
        match refusal.path() {
            Some(path) => error.at(path),
            None => error,
        }
    }
}

impl From<serde_json::Error> for FormatError {
    fn from(error: serde_json::Error) -> Self {
        Self::new(error)
    }
}

crate::debug_is_message!(FormatError);
