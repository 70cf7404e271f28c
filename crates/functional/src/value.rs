//! The arguments and the result of a task, written as JSON only where something reads or stores them.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use serde::de::{Deserialize, Deserializer};
use serde::ser::{Error as _, Serialize, Serializer};
use serde_json::{Error, Value};

use crate::stored::Stored;

/// The arguments or the result of a task, in its [state](crate::TaskState).
///
/// On a thread it is JSON. In a run without a thread it is the value itself, which is written as JSON when an event
/// is read, and when the entrypoint has a retry policy: another run that nothing observes writes none.
#[derive(Clone)]
pub struct TaskValue(Form);

#[derive(Clone)]
enum Form {
    Json(Arc<Value>),
    Given(Arc<dyn Given>),
}

/// A value that can be written as JSON.
pub(crate) trait Given: Any + Send + Sync {
    /// Writes the value as JSON.
    fn to_value(&self) -> Result<Value, Error>;
}

struct GivenOutput<T>(T);

impl<T: Stored> Given for GivenOutput<T> {
    fn to_value(&self) -> Result<Value, Error> {
        self.0.to_value()
    }
}

impl TaskValue {
    /// Returns the value as JSON.
    ///
    /// # Errors
    ///
    /// If JSON cannot express it: a map whose keys are no texts.
    pub fn to_value(&self) -> Result<Value, Error> {
        match &self.0 {
            Form::Json(value) => Ok(Value::clone(value)),
            Form::Given(given) => given.to_value(),
        }
    }

    /// Creates a value that is written as JSON when something reads it.
    pub(crate) fn given(value: impl Given) -> Self {
        Self(Form::Given(Arc::new(value)))
    }

    /// Returns the value as it was given, if it was, and is of this type.
    pub(crate) fn as_given<T: Given>(&self) -> Option<&T> {
        let Form::Given(given) = &self.0 else {
            return None;
        };
        let given: &dyn Any = &**given;
        given.downcast_ref()
    }

    /// Creates the result of a task; `None` if it is stored as nothing.
    pub(crate) fn of_output<T: Stored>(output: T, is_stored: bool) -> Result<Option<Self>, Error> {
        if output.is_nothing() {
            return Ok(None);
        }
        if is_stored {
            // Its own code may write it as nothing.
            let value = output.to_value()?;
            return Ok((!value.is_null()).then(|| value.into()));
        }
        Ok(Some(Self::given(GivenOutput(output))))
    }

    /// Returns the result of a task.
    pub(crate) fn into_output<T: Stored>(self) -> Result<T, Error> {
        let given = match self.0 {
            Form::Json(value) => return T::from_value(Arc::unwrap_or_clone(value)),
            Form::Given(given) => given,
        };
        let any: Arc<dyn Any + Send + Sync> = Arc::clone(&given) as _;
        let Ok(typed) = any.downcast::<GivenOutput<T>>() else {
            return T::from_value(given.to_value()?);
        };
        drop(given);
        match Arc::try_unwrap(typed) {
            Ok(typed) => Ok(typed.0),
            // A cache or the reader of an event has it too.
            Err(shared) => T::from_value(shared.to_value()?),
        }
    }
}

impl From<Value> for TaskValue {
    fn from(value: Value) -> Self {
        Self(Form::Json(Arc::new(value)))
    }
}

impl Default for TaskValue {
    fn default() -> Self {
        Value::Null.into()
    }
}

impl PartialEq for TaskValue {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Form::Json(own), Form::Json(other)) => own == other,
            _ => {
                matches!((self.to_value(), other.to_value()), (Ok(own), Ok(other)) if own == other)
            }
        }
    }
}

impl fmt::Debug for TaskValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// As JSON.
impl fmt::Display for TaskValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.to_value() {
            Ok(value) => value.fmt(f),
            Err(error) => write!(f, "<{error}>"),
        }
    }
}

impl Serialize for TaskValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Form::Json(value) => value.serialize(serializer),
            Form::Given(given) => {
                let value = given.to_value().map_err(S::Error::custom)?;
                value.serialize(serializer)
            }
        }
    }
}

impl<'de> Deserialize<'de> for TaskValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Value::deserialize(deserializer).map(Self::from)
    }
}
