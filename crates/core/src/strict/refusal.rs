//! Why a value is refused.

use std::fmt::{self, Display};

use serde::ser;

/// Why a value is refused, and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    path: String,
    pub(crate) why: String,
}

impl Refusal {
    /// Returns the place of the value: `messages[3].score`; `None` if it is the value itself.
    pub fn path(&self) -> Option<&str> {
        (!self.path.is_empty()).then_some(&*self.path)
    }

    /// Returns what the value is, and what to do about it.
    pub fn reason(&self) -> &str {
        &self.why
    }

    pub(crate) fn new(why: impl Into<String>) -> Self {
        Self {
            path: String::new(),
            why: why.into(),
        }
    }

    /// Adds the field to the path. The path is built on the way out, so an accepted value costs
    /// nothing.
    pub(crate) fn in_field(mut self, name: &str) -> Self {
        let dot = match self.path.chars().next() {
            None | Some('[') => "",
            Some(_) => ".",
        };
        self.path = format!("{name}{dot}{}", self.path);
        self
    }

    pub(crate) fn at_index(self, index: usize) -> Self {
        self.in_field(&format!("[{index}]"))
    }
}

impl Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path() {
            Some(path) => write!(f, "field `{path}`: {}", self.why),
            None => f.write_str(&self.why),
        }
    }
}

impl std::error::Error for Refusal {}

impl ser::Error for Refusal {
    fn custom<T: Display>(message: T) -> Self {
        Self::new(message.to_string())
    }
}

/// The result of a check.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A value that is written as `null`.
    Null,
    Other,
}

pub(crate) type Checked = Result<Shape, Refusal>;
