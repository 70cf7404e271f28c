//! What a store holds.

use std::time::{SystemTime, UNIX_EPOCH};

use serde::de::DeserializeOwned;
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::{Namespace, StoreError};

/// A value with where it is and since when.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Item {
    /// Where it is.
    pub namespace: Namespace,
    /// Its name there.
    pub key: String,
    /// The value.
    pub value: Value,
    /// When there was first a value under this key. Written as milliseconds since 1970.
    #[serde(serialize_with = "milliseconds")]
    pub created_at: SystemTime,
    /// When the value was put. Written as milliseconds since 1970.
    #[serde(serialize_with = "milliseconds")]
    pub updated_at: SystemTime,
    /// How near it comes to the query of the search, by the cosine of the angle between them: 1 is
    /// the same, 0 has nothing to do with it. None unless the search had a query.
    pub score: Option<f32>,
}

impl Item {
    /// An item without a score.
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

    /// The value as a `T`.
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
