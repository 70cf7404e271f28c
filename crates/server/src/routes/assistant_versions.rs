//! The versions of assistants.

use axum::Json;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::Value;

use super::address::Path;
use super::assistants::{find, find_own};
use super::query::{Body, page};
use super::search::{limit, object, ten};
use crate::error::{ApiError, ApiResult};
use crate::guard::Access;
use crate::rows::contains;

#[derive(Deserialize)]
pub(super) struct Versions {
    #[serde(default, deserialize_with = "object")]
    metadata: Option<Value>,
    #[serde(default = "ten", deserialize_with = "limit")]
    limit: usize,
    #[serde(default)]
    offset: usize,
}

pub(super) async fn versions(
    app: Access,
    Path(id): Path<String>,
    Body(search): Body<Versions>,
) -> ApiResult<Response> {
    let assistant = find(&app, &id).await?;
    let versions = app
        .rows
        .versions(&assistant.assistant_id)
        .await?
        .into_iter();
    let part = search.metadata.as_ref();
    let wanted =
        versions.filter(|version| part.is_none_or(|part| contains(&version.metadata, part)));
    let found = wanted.map(|version| version.json()).collect();
    Ok(page(found, search.limit, search.offset, None).into_response())
}

#[derive(Deserialize)]
pub(super) struct Latest {
    version: i64,
}

pub(super) async fn latest(
    app: Access,
    Path(id): Path<String>,
    Body(given): Body<Latest>,
) -> ApiResult<Json<Value>> {
    let assistant = find_own(&app, &id).await?;
    if !app
        .rows
        .set_latest(&assistant.assistant_id, given.version)
        .await?
    {
        return Err(ApiError::not_found(format!(
            "Version {} of assistant {id} not found",
            given.version
        )));
    }
    Ok(Json(find(&app, &assistant.assistant_id).await?.json()))
}
