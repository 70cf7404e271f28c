//! What several routes share: bodies, ids, pages.

use axum::Json;
use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use axum::http::header::HeaderValue;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::error::{ApiError, ApiResult};
use crate::wire::truth::is_true;

/// A JSON body, whatever its content type; an empty one is `{}`.
pub(super) struct Body<T>(pub(super) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Body<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        Ok(Self(parsed(&bytes(request, state).await?)?))
    }
}

pub(super) async fn bytes<S: Send + Sync>(request: Request, state: &S) -> ApiResult<Bytes> {
    let bytes = Bytes::from_request(request, state).await;
    bytes.map_err(|error| match error.status() {
        StatusCode::PAYLOAD_TOO_LARGE => ApiError::too_large("the body is too large"),
        _ => ApiError::invalid(error.body_text()),
    })
}

/// Reads a body.
pub(super) fn parsed<T: DeserializeOwned>(bytes: &[u8]) -> ApiResult<T> {
    let bytes: &[u8] = if bytes.is_empty() { b"{}" } else { bytes };
    let mut json = serde_json::Deserializer::from_slice(bytes);
    let body = serde_path_to_error::deserialize(&mut json);
    let body = body.map_err(|error| ApiError::invalid(invalid_field(error)))?;
    json.end()?;
    Ok(body)
}

/// Says what is wrong, and names the field.
pub(super) fn invalid_field(error: serde_path_to_error::Error<serde_json::Error>) -> String {
    let path = error.path().to_string();
    let error = error.into_inner();
    if path == "." {
        return error.to_string();
    }
    let place = format!(" at line {} column {}", error.line(), error.column());
    let error = error.to_string();
    format!("{path}: {}", error.trim_end_matches(&place))
}

/// Refuses a word that is none of those allowed.
pub(super) fn one_of(name: &str, value: Option<&str>, allowed: &[&str]) -> ApiResult<()> {
    match value {
        Some(value) if !allowed.contains(&value) => Err(ApiError::invalid(format!(
            "{name} is one of {}, found '{value}'",
            allowed.join(", ")
        ))),
        _ => Ok(()),
    }
}

/// Refuses what holds the character NUL: an index has what the document says, and not every database takes that
/// character.
pub(super) fn writable(document: &Value) -> ApiResult<()> {
    if has_nul(document) {
        return Err(ApiError::invalid(
            "a text holds the character NUL, which not every database takes",
        ));
    }
    Ok(())
}

fn has_nul(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\0'),
        Value::Array(items) => items.iter().any(has_nul),
        Value::Object(fields) => fields
            .iter()
            .any(|(name, value)| name.contains('\0') || has_nul(value)),
        _ => false,
    }
}

/// What a request to create something does if it exists.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum IfExists {
    Raise,
    DoNothing,
}

/// Answers a request to create what exists: with it, or with a conflict.
pub(super) fn if_exists(
    policy: Option<IfExists>,
    what: &str,
    id: &str,
    existing: ApiResult<Value>,
) -> ApiResult<Json<Value>> {
    let conflict = || ApiError::conflict(format!("{what} with ID {id} already exists"));
    match policy {
        // It may belong to another owner.
        Some(IfExists::DoNothing) => existing
            .map(Json)
            .map_err(|error| error.hidden_as(conflict())),
        Some(IfExists::Raise) | None => Err(conflict()),
    }
}

/// Returns one page of all that was found.
pub(super) fn page(
    found: Vec<Value>,
    limit: usize,
    offset: usize,
    select: Option<&[String]>,
) -> Response {
    let total = found.len();
    let page = found.into_iter().skip(offset).take(limit).collect();
    page_of(page, total, offset, select)
}

/// Returns a page, with the headers that say how many there are.
pub(super) fn page_of(
    page: Vec<Value>,
    total: usize,
    offset: usize,
    select: Option<&[String]>,
) -> Response {
    let page = page.into_iter().map(|entry| selected(entry, select));
    let page: Vec<Value> = page.collect();
    let next = offset + page.len();
    let mut headers = HeaderMap::new();
    headers.insert("x-pagination-total", HeaderValue::from(total));
    if next < total {
        headers.insert("x-pagination-next", HeaderValue::from(next));
    }
    (headers, Json(page)).into_response()
}

/// The pairs of a query, in which a name may come several times.
#[derive(Default, Deserialize)]
#[serde(transparent)]
pub(super) struct Pairs(Vec<(String, String)>);

impl Pairs {
    /// Returns the values of a name: repeated, or with commas.
    pub(super) fn list(&self, name: &str) -> Option<Vec<String>> {
        let given = self.0.iter().filter(|(key, _)| key == name);
        let values: Vec<String> = given
            .flat_map(|(_, value)| value.split(','))
            .filter(|value| !value.is_empty())
            .map(str::to_owned)
            .collect();
        (!values.is_empty()).then_some(values)
    }

    /// Returns true if the query says so.
    pub(super) fn is_true(&self, name: &str) -> bool {
        self.get(name).is_some_and(is_true)
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str())
    }

    /// Returns a number, or what stands for it.
    pub(super) fn number(&self, name: &str, otherwise: usize) -> ApiResult<usize> {
        let read = |text: &str| {
            text.parse()
                .map_err(|_| ApiError::invalid(format!("{name} is a number, found '{text}'")))
        };
        self.get(name).map_or(Ok(otherwise), read)
    }
}

/// Keeps the named fields of an entry.
pub(super) fn selected(entry: Value, select: Option<&[String]>) -> Value {
    match (entry, select) {
        (Value::Object(fields), Some(select)) => {
            let kept = fields.into_iter().filter(|(name, _)| select.contains(name));
            Value::Object(kept.collect::<Map<_, _>>())
        }
        (entry, _) => entry,
    }
}
