//! Payloads: values of the graph's own types.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use super::{Encoded, Formats};
use crate::error::FormatError;

/// A value of the graph's own types: a plain value, or bytes.
///
/// A saver without [formats](super::Checkpointer::formats) receives and returns values; one with
/// formats only sees bytes.
#[derive(Clone)]
#[non_exhaustive]
pub enum Payload {
    /// The value itself.
    Value(PayloadValue),
    /// The value as bytes.
    Bytes(Encoded),
}

/// A value in memory that may be encoded later.
#[derive(Clone)]
pub struct PayloadValue {
    values: Arc<dyn StoredValue>,
    index: usize,
}

/// What a [`Payload`] holds: a value, or one of a list of values.
pub trait StoredValue: Any + Send + Sync {
    /// Encodes the value; of a list, the one at `index`.
    ///
    /// # Errors
    ///
    /// If the value's type, or the format, does not allow it.
    fn encode(&self, index: usize, formats: &Formats) -> Result<Encoded, FormatError>;

    /// The state type of its graph, for errors.
    fn state(&self) -> &'static str;
}

impl PayloadValue {
    /// Holds a value.
    pub fn of(value: impl StoredValue) -> Self {
        Self::at(Arc::new(value), 0)
    }

    /// Holds one of a list of values.
    pub fn at(values: Arc<dyn StoredValue>, index: usize) -> Self {
        Self { values, index }
    }

    fn get<T: 'static>(&self) -> Option<&T> {
        let values: &dyn Any = &*self.values;
        values.downcast_ref()
    }
}

impl Payload {
    /// Holds a value.
    pub fn of(value: impl StoredValue) -> Self {
        PayloadValue::of(value).into()
    }

    /// Returns the value, if it is a `T` in memory.
    pub fn get<T: 'static>(&self) -> Option<&T> {
        match self {
            Self::Value(value) => value.get(),
            Self::Bytes(_) => None,
        }
    }

    /// Returns the list of values, if it is a `T` in memory, and the index of this one.
    pub fn get_at<T: 'static>(&self) -> Option<(&T, usize)> {
        match self {
            Self::Value(value) => Some((value.get()?, value.index)),
            Self::Bytes(_) => None,
        }
    }

    /// Returns the state type of the graph that made the value, for errors.
    pub fn state(&self) -> &'static str {
        match self {
            Self::Value(value) => value.values.state(),
            Self::Bytes(_) => "bytes",
        }
    }

    /// Encodes the payload, unless it is bytes already.
    ///
    /// # Errors
    ///
    /// If the value's type, or the format, does not allow it.
    pub fn encode(self, formats: &Formats) -> Result<Encoded, FormatError> {
        match self {
            Self::Value(value) => value.values.encode(value.index, formats),
            Self::Bytes(encoded) => Ok(encoded),
        }
    }

    /// Returns the size in bytes; `None` for a value in memory.
    pub fn size(&self) -> Option<usize> {
        match self {
            Self::Value(_) => None,
            Self::Bytes(encoded) => Some(encoded.bytes.len()),
        }
    }
}

impl From<PayloadValue> for Payload {
    fn from(value: PayloadValue) -> Self {
        Self::Value(value)
    }
}

impl From<Encoded> for Payload {
    fn from(encoded: Encoded) -> Self {
        Self::Bytes(encoded)
    }
}

impl fmt::Debug for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value(value) => value.fmt(f),
            Self::Bytes(encoded) => {
                write!(
                    f,
                    "Bytes({}, {} bytes)",
                    encoded.format,
                    encoded.bytes.len()
                )
            }
        }
    }
}

impl fmt::Debug for PayloadValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Value({})", self.values.state())
    }
}
