//! Figures for operators.

use axum::Json;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;

use super::address::Query;
use crate::error::ApiResult;
use crate::guard::Access;
use crate::metrics::Gauges;

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Format {
    #[default]
    Prometheus,
    Json,
}

#[derive(Debug, Deserialize)]
pub(super) struct Wanted {
    #[serde(default)]
    format: Format,
}

pub(super) async fn read(app: Access, Query(wanted): Query<Wanted>) -> ApiResult<Response> {
    let limit = app.limits.streams.min(tokio::sync::Semaphore::MAX_PERMITS);
    let (running, slots) = app.runs.load();
    let now = Gauges {
        queue: app.rows.queue_depth().await?,
        running,
        slots,
        streams: limit.saturating_sub(app.streams.available_permits()),
        pool: app.rows.pool(),
        draining: app.runs.is_draining(),
    };
    Ok(match wanted.format {
        Format::Json => Json(app.metrics.json(&now)).into_response(),
        Format::Prometheus => {
            let kind = [(
                header::CONTENT_TYPE,
                "text/plain; version=0.0.4; charset=utf-8",
            )];
            (kind, app.metrics.text(&now)).into_response()
        }
    })
}
