//! Searches: what the bodies of all of them share.

use axum::response::Response;
use serde::Deserialize;
use serde_json::Value;

use super::query::{page, sort};
use crate::rows::contains;

/// The body of a search, with what only one kind of resource has.
#[derive(Deserialize)]
pub(super) struct Search<T> {
    metadata: Option<Value>,
    #[serde(default = "ten")]
    pub(super) limit: usize,
    #[serde(default)]
    pub(super) offset: usize,
    pub(super) sort_by: Option<String>,
    sort_order: Option<String>,
    pub(super) select: Option<Vec<String>>,
    #[serde(flatten)]
    pub(super) of: T,
}

pub(super) fn ten() -> usize {
    10
}

impl<T> Search<T> {
    /// Returns true if the metadata of a resource holds those that are searched for.
    pub(super) fn fits(&self, metadata: &Value) -> bool {
        let wanted = self.metadata.as_ref();
        wanted.is_none_or(|part| contains(metadata, part))
    }

    /// Returns true if the search asks for some metadata.
    pub(super) fn has_metadata(&self) -> bool {
        match &self.metadata {
            None | Some(Value::Null) => false,
            Some(Value::Object(entries)) => !entries.is_empty(),
            Some(_) => true,
        }
    }

    pub(super) fn is_ascending(&self) -> bool {
        self.sort_order.as_deref() == Some("asc")
    }

    /// Returns the page that is asked for, the newest first unless the search says otherwise.
    pub(super) fn page(&self, mut found: Vec<Value>) -> Response {
        let by = self.sort_by.as_deref().unwrap_or("created_at");
        sort(&mut found, by, self.is_ascending());
        page(found, self.limit, self.offset, self.select.as_deref())
    }
}
