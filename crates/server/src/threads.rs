//! Threads, as the user of a request sees them.

use crate::error::{ApiError, ApiResult};
use crate::guard::Access;
use crate::ids::thread_id;
use crate::rows::Thread;

/// Creates a thread of the user, unless it exists or there are too many. Returns true if it is new.
pub(crate) async fn make(app: &Access, thread: &Thread) -> ApiResult<bool> {
    if let Some(limit) = app.limits.threads
        && app.rows.threads_of(&thread.owner).await? >= limit
        && app.rows.thread(&thread.thread_id).await?.is_none()
    {
        return Err(ApiError::too_many(format!(
            "there are {limit} threads already, which is the limit"
        )));
    }
    Ok(app.rows.create_thread(thread).await?)
}

/// Returns the row of a thread of the user.
pub(crate) async fn find(app: &Access, id: &str) -> ApiResult<Thread> {
    let id = thread_id(id)?;
    let row = app.rows.thread(&id).await?;
    let row = row.filter(|thread| app.sees(&thread.owner));
    row.ok_or_else(|| ApiError::not_found(format!("Thread with ID {id} not found")))
}
