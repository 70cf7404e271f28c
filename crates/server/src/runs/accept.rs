//! Accepts runs.

use std::sync::Arc;

use serde_json::{Value, json};

use super::attach::attach;
use super::new_run::NewRun;
use super::request::{IfNotExists, RunRequest};
use super::submit::submit;
use crate::error::{ApiError, ApiResult};
use crate::guard::Access;
use crate::ids::{thread_id, uuid};
use crate::rows::{Assistant, Run, Thread, merge};
use crate::stream::{Feed, FeedReader};
use crate::threads::{expiring, make, sees};

/// A run that was accepted.
pub(crate) struct Accepted {
    pub(crate) feed: Arc<Feed>,
    /// Reads its events from the first one on.
    pub(crate) events: FeedReader,
    pub(crate) row: Run,
    pub(crate) cancel_on_disconnect: bool,
    /// True if the client has named no thread.
    pub(crate) stateless: bool,
}

/// Accepts a run: on a thread, or on one that lives as long as the run. A request that was accepted
/// before is the same run.
pub(crate) async fn accept(
    app: &Access,
    thread: Option<&str>,
    request: RunRequest,
) -> ApiResult<Accepted> {
    let thread = thread.map(thread_id).transpose()?;
    start(app, check(app, thread, request).await?).await
}

/// Accepts runs without threads, if none of them is refused.
pub(crate) async fn accept_all(
    app: &Access,
    requests: Vec<RunRequest>,
) -> ApiResult<Vec<Accepted>> {
    let mut checked = Vec::with_capacity(requests.len());
    for request in requests {
        checked.push(check(app, None, request).await?);
    }
    let mut accepted = Vec::with_capacity(checked.len());
    for one in checked {
        accepted.push(start(app, one).await?);
    }
    Ok(accepted)
}

/// A request that was checked.
enum Checked {
    /// It was accepted before.
    Known {
        row: Box<Run>,
        stateless: bool,
    },
    New(Box<NewRequest>),
}

/// A request for a run that is new.
struct NewRequest {
    new: NewRun,
    assistant: Assistant,
    /// The thread that the client has named.
    thread: Option<String>,
    /// The thread is created if there is none.
    create: bool,
    /// The request, if it may come again.
    again: Option<RunRequest>,
}

/// Checks a request, before anything is done for it.
async fn check(app: &Access, thread: Option<String>, request: RunRequest) -> ApiResult<Checked> {
    if app.runs.is_draining() {
        return Err(ApiError::unavailable());
    }
    if let Some(row) = known(app, thread.as_deref(), &request).await? {
        return Ok(Checked::Known {
            row: Box::new(row),
            stateless: thread.is_none(),
        });
    }
    let create = request.if_not_exists == Some(IfNotExists::Create);
    let again =
        (request.request_key.is_some() || request.run_id.is_some()).then(|| request.clone());
    let (new, assistant) = request.plan(app, thread.as_deref()).await?;
    Ok(Checked::New(Box::new(NewRequest {
        new,
        assistant,
        thread,
        create,
        again,
    })))
}

/// Puts the run of a request in the queue.
async fn start(app: &Access, checked: Checked) -> ApiResult<Accepted> {
    let NewRequest {
        mut new,
        assistant,
        thread,
        create,
        again,
    } = match checked {
        Checked::Known { row, stateless } => return follow(app, *row, stateless).await,
        Checked::New(new) => *new,
    };
    let stateless = thread.is_none();
    if stateless {
        new.thread = Some(new_thread(app, &new, &assistant));
    } else {
        prepare_thread(app, &new, &assistant, create).await?;
    }
    // The reader is there before the first event.
    let stores = app.stores_events(&new.row);
    let feed = app.runs.feeds.of(&new.row.run_id, stores, None);
    let events = FeedReader::new(&app.rows, Arc::clone(&feed), 0);
    if !submit(app, &new).await? {
        // The same request was faster.
        let row = match &again {
            Some(request) => known(app, thread.as_deref(), request).await?,
            None => None,
        };
        let row = row.ok_or_else(|| taken(&new.row.run_id))?;
        return follow(app, row, stateless).await;
    }
    feed.see();
    Ok(Accepted {
        feed,
        events,
        cancel_on_disconnect: new.cancel_on_disconnect,
        row: new.row,
        stateless,
    })
}

/// Returns the accepted run of a request that comes again.
async fn follow(app: &Access, row: Run, stateless: bool) -> ApiResult<Accepted> {
    let feed = attach(app, &row).await?;
    let first = if feed.is_stored {
        0
    } else {
        feed.next_number()
    };
    Ok(Accepted {
        events: FeedReader::new(&app.rows, Arc::clone(&feed), first),
        feed,
        cancel_on_disconnect: false,
        row,
        stateless,
    })
}

fn taken(run: &str) -> ApiError {
    ApiError::conflict(format!("Run with ID {run} already exists"))
}

/// Returns the run of a request that was accepted before.
async fn known(app: &Access, thread: Option<&str>, request: &RunRequest) -> ApiResult<Option<Run>> {
    let id = match &request.request_key {
        Some(key) => match app.rows.request(app.owner(), &key.name).await? {
            Some((digest, _)) if digest != key.digest => {
                return Err(ApiError::invalid(format!(
                    "Idempotency-Key '{}' is that of another request",
                    key.name
                )));
            }
            Some((_, run)) => Some(run),
            None => None,
        },
        None => None,
    };
    let is_named = id.is_some();
    let id = match (id, request.run_id.as_deref()) {
        (Some(id), _) => id,
        (None, Some(id)) => uuid("run", id)?,
        (None, None) => return Ok(None),
    };
    let Some(row) = app.rows.run_of_id(&id).await? else {
        if is_named {
            return Err(ApiError::conflict(
                "the run of this Idempotency-Key was removed",
            ));
        }
        return Ok(None);
    };
    let owner = app.rows.thread(&row.thread_id).await?;
    let is_seen = owner.is_some_and(|found| sees(app, &found));
    let same_thread = match thread {
        Some(thread) => thread == row.thread_id,
        None => true,
    };
    if is_seen && same_thread {
        return Ok(Some(row));
    }
    Err(taken(&id))
}

/// Returns what the row of a thread says of the graph that has run there.
fn graph_of(assistant: &Assistant) -> Value {
    json!({"graph_id": assistant.graph_id, "assistant_id": assistant.assistant_id})
}

/// Returns the row of the thread of a run, which is created for it.
fn new_thread(app: &Access, new: &NewRun, assistant: &Assistant) -> Thread {
    let mut metadata = graph_of(assistant);
    merge(&mut metadata, &app.filters.threads.as_metadata());
    let row = Thread::new(new.row.thread_id.clone(), app.owner(), metadata);
    expiring(app, row.temporary(new.row.kwargs.temporary))
}

/// Creates the thread of a run if it has to, and notes its graph there.
async fn prepare_thread(
    app: &Access,
    new: &NewRun,
    assistant: &Assistant,
    create: bool,
) -> ApiResult<()> {
    let own = graph_of(assistant);
    let id = &new.row.thread_id;
    let missing = || ApiError::not_found("Thread or assistant not found.");
    if create {
        make(app, new_thread(app, new, assistant)).await?;
    }
    let found = app.rows.thread(id).await?.filter(|found| sees(app, found));
    let found = found.ok_or_else(missing)?;
    belongs(app, &found, assistant).await?;
    let before = found.metadata["graph_id"].clone();
    if before == own["graph_id"] && found.metadata["assistant_id"] == own["assistant_id"] {
        return Ok(());
    }
    let note = |thread: &mut Thread| {
        if thread.metadata["graph_id"] == before {
            merge(&mut thread.metadata, &own);
        }
    };
    let noted = app.rows.change_thread(id, note).await?;
    let noted = noted.ok_or_else(missing)?;
    if noted.metadata["graph_id"] == own["graph_id"] {
        return Ok(());
    }
    Err(ApiError::conflict(
        "another graph has run on the thread meanwhile; try again",
    ))
}

/// Refuses a thread whose states are of another type than those of the graph. Graphs with the same
/// state may share a thread.
async fn belongs(app: &Access, thread: &Thread, assistant: &Assistant) -> ApiResult<()> {
    let new = assistant.graph_id.as_str();
    let before = match &thread.metadata["graph_id"] {
        Value::String(before) if before == new => return Ok(()),
        Value::String(before) => Some(before.as_str()),
        _ => None,
    };
    let graph = app.graph(new)?;
    let id = &thread.thread_id;
    let refused = |why: String| {
        let owner = before.map_or_else(String::new, |before| {
            format!(" to the graph '{before}', and")
        });
        ApiError::conflict(format!(
            "thread {id} belongs{owner} to another state than that of the graph '{new}': {why}"
        ))
    };
    match graph.head(id).await {
        Ok(Some(_)) => Ok(()),
        Ok(None) => match before.and_then(|before| app.graphs.get(before)) {
            Some(before) if before.state_name() != graph.state_name() => Err(refused(format!(
                "`{}` and `{}`",
                before.state_name(),
                graph.state_name()
            ))),
            _ => Ok(()),
        },
        Err(error) if ApiError::is_storage_error(&error) => Err(error.into()),
        Err(error) => Err(refused(error.to_string())),
    }
}
