//! Version 2 of the streaming protocol, and the stream of a whole thread.

use axum::Json;
use axum::http::HeaderMap;
use axum::response::Response;
use serde::Deserialize;
use serde_json::Value;

use super::address::{Path, Query};
use super::query::Body;
use super::runs::{event_stream, last_event, permit};
use crate::encode::v2::Channels;
use crate::error::{ApiError, ApiResult};
use crate::guard::Access;
use crate::ids::thread_id;
use crate::protocol::{Form, command, streamed};
use crate::threads::{find, sees};

/// Refuses the thread of another owner. One that does not exist may come to be.
pub(super) async fn free(app: &Access, thread: &str) -> ApiResult<String> {
    let id = thread_id(thread)?;
    match app.rows.thread(&id).await? {
        Some(row) if !sees(app, &row) => Err(ApiError::no_thread(&id)),
        _ => Ok(id),
    }
}

pub(super) async fn commands(
    app: Access,
    Path(thread): Path<String>,
    Body(given): Body<crate::protocol::Command>,
) -> ApiResult<Json<Value>> {
    let thread = free(&app, &thread).await?;
    Ok(Json(command(&app, &thread, given).await))
}

pub(super) async fn events(
    app: Access,
    Path(thread): Path<String>,
    Body(channels): Body<Channels>,
) -> ApiResult<Response> {
    let thread = free(&app, &thread).await?;
    let channels = channels.checked()?;
    let since = channels.since.unwrap_or_default();
    let permit = permit(&app)?;
    let body = streamed(&app, thread, Form::Events(channels), since);
    Ok(event_stream(permit, HeaderMap::new(), body))
}

#[derive(Deserialize)]
pub(super) struct ThreadStreamQuery {
    stream_mode: Option<String>,
}

/// The events of all runs of a thread, from now on or behind `Last-Event-ID`.
pub(super) async fn thread_stream(
    app: Access,
    Path(thread): Path<String>,
    Query(query): Query<ThreadStreamQuery>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    let thread = find(&app, &thread).await?.thread_id;
    match query.stream_mode.as_deref() {
        None | Some("run_modes") => {}
        Some(other) => {
            return Err(ApiError::invalid(format!(
                "stream_mode of a thread is run_modes here, found '{other}'"
            )));
        }
    }
    let since = match last_event(&headers)? {
        Some(seen) => seen.number(),
        None => app.rows.last_number(&thread).await?,
    };
    let permit = permit(&app)?;
    let body = streamed(&app, thread, Form::Runs, since);
    Ok(event_stream(permit, HeaderMap::new(), body))
}
