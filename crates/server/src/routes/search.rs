//! Searches: what the bodies of all of them share.

use axum::response::Response;
use serde::Deserialize;
use serde_json::Value;

use super::query::{one_of, page_of};
use crate::error::ApiResult;
use crate::rows::{Found, contains};

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

    /// Returns the order that the search asks for by its name, or the usual one.
    pub(super) fn sort_by<O: Copy>(&self, usual: O, known: &[(&str, O)]) -> ApiResult<O> {
        let by = self.sort_by.as_deref();
        let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
        one_of("sort_by", by, &names)?;
        let found = known.iter().find(|(name, _)| by == Some(*name));
        Ok(found.map_or(usual, |(_, order)| *order))
    }

    /// Returns the page that was found.
    pub(super) fn page<R>(&self, found: &Found<R>, json: impl Fn(&R) -> Value) -> Response {
        let page = found.page.iter().map(json).collect();
        page_of(page, found.total, self.offset, self.select.as_deref())
    }
}
