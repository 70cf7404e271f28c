//! Values that tasks take and return.

use langgraph::checkpoint::Json;
use langgraph::graph::KeyInfo;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde::ser::Error as _;
use serde_json::{Error, Value};

/// A value that a task takes or returns: every type of owned data with serde's derives is one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an argument or the result of a task, because these are stored",
    label = "this type cannot be stored",
    note = "derive `Serialize` and `Deserialize` of serde for it; it has to own its data, and to be `Send` and `Sync`"
)]
pub trait Stored: Sized + Send + Sync + 'static {
    /// Writes the value as JSON.
    ///
    /// # Errors
    ///
    /// If JSON cannot express it: NaN, infinities, a `Some` that would be read as `None`, a map whose keys are no texts.
    fn to_value(&self) -> Result<Value, Error>;

    /// Reads the value from JSON.
    ///
    /// # Errors
    ///
    /// If the JSON is of another type.
    fn from_value(value: Value) -> Result<Self, Error>;

    /// Returns true if the value is written as nothing, as `None` and `()` are.
    fn is_nothing(&self) -> bool;

    /// Notes what the JSON of the type is made of.
    #[doc(hidden)]
    fn shaped(key: KeyInfo) -> KeyInfo;
}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned + Send + Sync + 'static> Stored for T {
    fn to_value(&self) -> Result<Value, Error> {
        Json::to_exact_value(self).map_err(Error::custom)
    }

    fn from_value(value: Value) -> Result<Self, Error> {
        serde_json::from_value(value)
    }

    fn shaped(key: KeyInfo) -> KeyInfo {
        key.shaped::<Self>()
    }

    fn is_nothing(&self) -> bool {
        crate::nothing::is_nothing(self)
    }
}

/// The arguments of a task, one after the other.
#[derive(Debug)]
pub struct Arguments(std::vec::IntoIter<Value>);

impl Arguments {
    /// Creates the arguments that a list contains.
    pub fn new(list: Value) -> Self {
        let list = match list {
            Value::Array(list) => list,
            _ => Vec::new(),
        };
        Self(list.into_iter())
    }

    /// Takes the next argument. One that is missing is `null`.
    pub fn take(&mut self) -> Value {
        self.0.next().unwrap_or_default()
    }
}
