//! Why a value was not read from what was offered.

use std::fmt;

/// The error of a reader that was offered a value.
#[derive(Clone, Copy, Debug)]
pub struct Refused {
    /// The field that the value has under two of its names.
    pub(super) duplicate: Option<&'static str>,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the value is refused")
    }
}

impl std::error::Error for Refused {}

impl serde::de::Error for Refused {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self { duplicate: None }
    }

    fn duplicate_field(field: &'static str) -> Self {
        Self {
            duplicate: Some(field),
        }
    }
}
