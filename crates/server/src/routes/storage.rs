//! How much storage a thread takes.

use axum::Json;
use langgraph::error::CheckpointError;
use serde_json::{Value, json};

use super::address::Path;
use crate::error::ApiResult;
use crate::guard::Access;
use crate::threads::find;

/// Returns the bytes of a thread's log. States and writes of tasks are parts of its records, so that
/// the sections of the interface for them are empty.
pub(super) async fn read(app: Access, Path(id): Path<String>) -> ApiResult<Json<Value>> {
    let thread = find(&app, &id).await?.thread_id;
    let saver = app.saver.plain();
    let administration = saver.administration_for("the storage of a thread")?;
    let usage = match administration.usage(&thread).await {
        // Nothing has run there.
        Err(CheckpointError::UnknownThread(_)) => langgraph::checkpoint::StorageUsage::default(),
        usage => usage?,
    };
    Ok(Json(json!({
        "thread_id": thread,
        "total_bytes": usage.bytes,
        "checkpoints": {"count": usage.checkpoints, "bytes": usage.bytes},
        "channel_values": {"count": 0, "bytes": 0, "by_channel": {}},
        "pending_writes": {"count": 0, "bytes": 0},
        "logs": usage.logs,
        "records": usage.records,
    })))
}
