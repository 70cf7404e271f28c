//! Searches: what the bodies of all of them share.

use axum::Json;
use axum::response::Response;
use serde::Deserialize;
use serde_json::Value;

use super::query::{one_of, page_of};
use crate::error::ApiResult;
use crate::guard::Access;
use crate::rows::{Found, Listing, Sorted, contains};

/// The body of a search, with what only one kind of resource has.
#[derive(Deserialize)]
pub(super) struct Search<T> {
    metadata: Option<Value>,
    #[serde(default = "ten")]
    limit: usize,
    #[serde(default)]
    pub(super) offset: usize,
    sort_by: Option<String>,
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

    /// Returns which rows the search lists, in the order that it asks for by its name, or in the usual one.
    pub(super) fn listing<'a, R: Sorted>(
        &self,
        app: &'a Access,
        of: R::Conditions<'a>,
        usual: R::Order,
        orders: &[(&str, R::Order)],
    ) -> ApiResult<Listing<'a, R>> {
        let by = self.sort_by.as_deref();
        let names: Vec<&str> = orders.iter().map(|(name, _)| *name).collect();
        one_of("sort_by", by, &names)?;
        let found = orders.iter().find(|(name, _)| by == Some(*name));
        Ok(Listing {
            owner: app.filter(),
            of,
            by: found.map_or(usual, |(_, order)| *order),
            ascending: self.sort_order.as_deref() == Some("asc"),
            offset: self.offset,
            limit: self.limit,
        })
    }

    /// Returns the page that was found.
    pub(super) fn page<R>(&self, found: &Found<R>, json: impl Fn(&R) -> Value) -> Response {
        let page = found.page.iter().map(json).collect();
        page_of(page, found.total, self.offset, self.select.as_deref())
    }
}

/// Returns the page of a listing: of those rows that `wants` wants, if their documents decide.
pub(super) async fn found<R: Sorted>(
    app: &Access,
    listing: Listing<'_, R>,
    ids: Option<&[String]>,
    wants: Option<impl Fn(&R) -> bool>,
) -> ApiResult<Found<R>> {
    Ok(match wants {
        Some(wants) => app.rows.wanted(listing, ids, wants).await?,
        None => app.rows.listed(&listing).await?,
    })
}

/// As [`found`], for how many there are on all pages.
pub(super) async fn counted<R: Sorted>(
    app: &Access,
    listing: Listing<'_, R>,
    ids: Option<&[String]>,
    wants: Option<impl Fn(&R) -> bool>,
) -> ApiResult<Json<usize>> {
    let Some(wants) = wants else {
        return Ok(Json(app.rows.count(&listing).await?));
    };
    let all = Listing {
        offset: usize::MAX,
        limit: 0,
        ..listing
    };
    Ok(Json(app.rows.wanted(all, ids, wants).await?.total))
}
