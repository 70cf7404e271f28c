//! Searches: what the bodies of all of them share.

use axum::Json;
use axum::response::Response;
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use super::query::{invalid_field, one_of, page_of, selected};
use crate::error::ApiResult;
use crate::guard::Access;
use crate::rows::{Found, Listing, Sorted, contains};

/// The body of a search, with what only one kind of resource has.
pub(super) struct Search<T> {
    page: PageOf,
    pub(super) of: T,
}

/// Which page is searched for.
#[derive(Deserialize)]
struct PageOf {
    #[serde(default, deserialize_with = "object")]
    metadata: Option<Value>,
    #[serde(default = "ten", deserialize_with = "limit")]
    limit: usize,
    #[serde(default)]
    offset: usize,
    sort_by: Option<String>,
    sort_order: Option<SortOrder>,
    select: Option<Vec<String>>,
}

/// Unlike `#[serde(flatten)]`, it names the field that is wrong.
impl<'de, T: DeserializeOwned> Deserialize<'de> for Search<T> {
    fn deserialize<D: Deserializer<'de>>(given: D) -> Result<Self, D::Error> {
        let whole = Value::deserialize(given)?;
        Ok(Self {
            page: part(&whole).map_err(D::Error::custom)?,
            of: part(&whole).map_err(D::Error::custom)?,
        })
    }
}

fn part<T: DeserializeOwned>(whole: &Value) -> Result<T, String> {
    serde_path_to_error::deserialize(whole).map_err(invalid_field)
}

#[derive(PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum SortOrder {
    Asc,
    Desc,
}

pub(super) fn ten() -> usize {
    10
}

/// Reads how many entries a page has at most.
pub(super) fn limit<'de, D: Deserializer<'de>>(given: D) -> Result<usize, D::Error> {
    let limit = i64::deserialize(given)?;
    let found = usize::try_from(limit).ok();
    let allowed = found.filter(|limit| (1..=1_000).contains(limit));
    allowed.ok_or_else(|| D::Error::custom(format!("a limit is from 1 to 1000, found {limit}")))
}

/// Reads an object that is a part of what is searched for.
pub(super) fn object<'de, D: Deserializer<'de>>(given: D) -> Result<Option<Value>, D::Error> {
    let object = Option::<Map<String, Value>>::deserialize(given)?;
    Ok(object.map(Value::Object))
}

impl<T> Search<T> {
    /// Returns true if the metadata of a resource holds those that are searched for.
    pub(super) fn fits(&self, metadata: &Value) -> bool {
        let wanted = self.page.metadata.as_ref();
        wanted.is_none_or(|part| contains(metadata, part))
    }

    /// Returns true if the search asks for some metadata.
    pub(super) fn has_metadata(&self) -> bool {
        let entries = self.page.metadata.as_ref().and_then(Value::as_object);
        entries.is_some_and(|entries| !entries.is_empty())
    }

    /// Returns which rows the search lists, in the order that it asks for by its name, or in the usual one. It may select
    /// some of the `fields` of each.
    pub(super) fn listing<'a, R: Sorted>(
        &self,
        app: &'a Access,
        of: R::Conditions<'a>,
        usual: R::Order,
        orders: &[(&str, R::Order)],
        fields: &[&str],
    ) -> ApiResult<Listing<'a, R>> {
        for field in self.page.select.iter().flatten() {
            one_of("select", Some(field), fields)?;
        }
        let by = self.page.sort_by.as_deref();
        let names: Vec<&str> = orders.iter().map(|(name, _)| *name).collect();
        one_of("sort_by", by, &names)?;
        let found = orders.iter().find(|(name, _)| by == Some(*name));
        Ok(Listing {
            owner: app.filter(),
            of,
            by: found.map_or(usual, |(_, order)| *order),
            ascending: self.page.sort_order == Some(SortOrder::Asc),
            offset: self.page.offset,
            limit: self.page.limit,
        })
    }

    /// Returns the page that was found.
    pub(super) fn page<R>(&self, found: &Found<R>, json: impl Fn(&R) -> Value) -> Response {
        self.page_with(found, json, |_| None)
    }

    /// As [`page`](Self::page), with what is extracted of each, besides what is selected.
    pub(super) fn page_with<R>(
        &self,
        found: &Found<R>,
        json: impl Fn(&R) -> Value,
        extracted: impl Fn(&Value) -> Option<Value>,
    ) -> Response {
        let entry = |row: &R| {
            let whole = json(row);
            let extracted = extracted(&whole);
            let mut entry = selected(whole, self.page.select.as_deref());
            if let Some(extracted) = extracted {
                entry["extracted"] = extracted;
            }
            entry
        };
        let page = found.page.iter().map(entry).collect();
        page_of(page, found.total, self.page.offset, None)
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
