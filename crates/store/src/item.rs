//! The items of a store.

use std::time::{SystemTime, UNIX_EPOCH};

use serde::de::DeserializeOwned;
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::{Namespace, StoreError};

/// A value with its namespace, its key and its times.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Item {
    /// Its namespace.
    pub namespace: Namespace,
    /// Its key in the namespace.
    pub key: String,
    /// The value.
    pub value: Value,
    /// When the key first got a value. Serialized as milliseconds since 1970.
    #[serde(serialize_with = "milliseconds")]
    pub created_at: SystemTime,
    /// When the current value was stored. Serialized as milliseconds since 1970.
    #[serde(serialize_with = "milliseconds")]
    pub updated_at: SystemTime,
    /// The similarity to the query of the search, as the cosine of the angle between them: 1 is the
    /// same, 0 is unrelated. `None` if the search had no query.
    pub score: Option<f32>,
}

impl Item {
    /// Creates an item without a score.
    pub fn new(
        namespace: Namespace,
        key: String,
        value: Value,
        created_at: SystemTime,
        updated_at: SystemTime,
    ) -> Self {
        Self {
            namespace,
            key,
            value,
            created_at,
            updated_at,
            score: None,
        }
    }

    /// Reads the value as a `T`.
    ///
    /// # Errors
    ///
    /// [`StoreError::Decode`], which says what is missing or wrong.
    pub fn value_as<T: DeserializeOwned>(&self) -> Result<T, StoreError> {
        T::deserialize(&self.value).map_err(|source| StoreError::Decode {
            namespace: self.namespace.clone(),
            key: self.key.clone(),
            wanted: std::any::type_name::<T>(),
            source,
        })
    }
}

fn milliseconds<Z: Serializer>(time: &SystemTime, serializer: Z) -> Result<Z::Ok, Z::Error> {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    serializer.serialize_u64(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}
