//! Accepts runs.

use std::sync::Arc;

use serde_json::{Value, json};

use super::attach::attach;
use super::new_run::{NewRun, ThreadOfRun};
use super::removal::finish_removal;
use super::request::{IfNotExists, RunRequest};
use super::standing::Standing;
use super::submit::{stop_before, submit, submit_all};
use crate::error::{ApiError, ApiResult};
use crate::guard::Access;
use crate::ids::{thread_id, uuid};
use crate::queue::Pushed;
use crate::rows::{Assistant, Run, Thread, merge};
use crate::stream::{Feed, FeedReader};
use crate::threads::{expiring, sees};

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
    let checked = check(app, thread, request, None).await?;
    loop {
        if let Some(accepted) = start(app, &checked, None).await? {
            return Ok(accepted);
        }
    }
}

/// As [`accept`], for a request that was decided by how its thread stands. Returns `None` if that has changed since.
pub(crate) async fn accept_at(
    app: &Access,
    standing: &Standing,
    request: RunRequest,
) -> ApiResult<Option<Accepted>> {
    let thread = Some(standing.id().to_owned());
    let checked = check(app, thread, request, Some(standing)).await?;
    start(app, &checked, Some(standing)).await
}

/// Accepts runs without threads, if none of them is refused. One that is named twice is one run.
pub(crate) async fn accept_all(app: &Access, requests: Vec<RunRequest>) -> ApiResult<Vec<Run>> {
    let mut came_again = false;
    loop {
        let mut rows = Vec::with_capacity(requests.len());
        let mut new: Vec<(Arc<NewRun>, ThreadOfRun)> = Vec::new();
        for request in requests.clone() {
            let one = match check(app, None, request, None).await? {
                Checked::Known { row, .. } => {
                    rows.push(*row);
                    continue;
                }
                Checked::New(one) => *one,
            };
            let same = |(other, _): &&(Arc<NewRun>, _)| other.row.run_id == one.new.row.run_id;
            if let Some((same, _)) = new.iter().find(same) {
                rows.push(same.row.clone());
                continue;
            }
            let thread = ThreadOfRun::New {
                row: Box::new(new_thread(app, &one.new, &one.assistant)),
                is_named: false,
            };
            rows.push(one.new.row.clone());
            new.push((one.new, thread));
        }
        let first = new.first().map(|(new, _)| new.row.run_id.clone());
        match first {
            Some(first) if submit_all(app, new).await? == Pushed::Known => {
                // The same request was faster, and is known now.
                if std::mem::replace(&mut came_again, true) {
                    return Err(taken(&first));
                }
            }
            _ => return Ok(rows),
        }
    }
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
    new: Arc<NewRun>,
    assistant: Assistant,
    /// The thread that the client has named.
    thread: Option<String>,
    /// The thread is created if there is none.
    create: bool,
    /// The request, if it may come again.
    again: Option<RunRequest>,
}

/// Checks a request, before anything is done for it.
async fn check(
    app: &Access,
    thread: Option<String>,
    request: RunRequest,
    standing: Option<&Standing>,
) -> ApiResult<Checked> {
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
    let (mut new, assistant) = request.plan(app, thread.as_deref()).await?;
    let expected_doc = standing.and_then(Standing::expected_doc);
    new.expected_doc = expected_doc.map(str::to_owned);
    Ok(Checked::New(Box::new(NewRequest {
        new: Arc::new(new),
        assistant,
        thread,
        create,
        again,
    })))
}

/// Puts the run of a request in the queue. Returns `None` if its thread has changed since it was looked at.
async fn start(
    app: &Access,
    checked: &Checked,
    standing: Option<&Standing>,
) -> ApiResult<Option<Accepted>> {
    let one = match checked {
        Checked::Known { row, stateless } => {
            return follow(app, Run::clone(row), *stateless).await.map(Some);
        }
        Checked::New(one) => one,
    };
    let (new, stateless) = (&one.new, one.thread.is_none());
    // The reader is there before the first event.
    let stores = app.stores_events(&new.row);
    let feed = app.runs.feeds.of(&new.row.run_id, stores, None);
    let events = FeedReader::new(&app.rows, Arc::clone(&feed), 0);
    let thread = if stateless {
        let row = Box::new(new_thread(app, new, &one.assistant));
        let is_named = false;
        ThreadOfRun::New { row, is_named }
    } else {
        thread_of(app, new, &one.assistant, one.create).await?
    };
    if standing.is_some_and(|standing| !standing.allows(&thread)) {
        return Ok(None);
    }
    let pushed = submit(app, new, thread).await?;
    if pushed == Pushed::Changed {
        return Ok(None);
    }
    if pushed == Pushed::Known {
        // The same request was faster.
        let row = match &one.again {
            Some(request) => known(app, one.thread.as_deref(), request).await?,
            None => None,
        };
        let row = row.ok_or_else(|| taken(&new.row.run_id))?;
        return follow(app, row, stateless).await.map(Some);
    }
    feed.see();
    Ok(Some(Accepted {
        feed,
        events,
        cancel_on_disconnect: new.cancel_on_disconnect,
        row: new.row.clone(),
        stateless,
    }))
}

/// Returns the accepted run of a request that comes again: an earlier attempt may have failed, or its process may have
/// been lost, before it had stopped the other runs of the thread.
async fn follow(app: &Access, row: Run, stateless: bool) -> ApiResult<Accepted> {
    stop_before(app, &row).await?;
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

/// Returns what becomes of the thread that a client has named for a run: it is created if it has to be, and its graph is
/// noted there.
async fn thread_of(
    app: &Access,
    new: &NewRun,
    assistant: &Assistant,
    create: bool,
) -> ApiResult<ThreadOfRun> {
    let own = graph_of(assistant);
    let id = &new.row.thread_id;
    let missing = || ApiError::not_found("Thread or assistant not found.");
    let Some(found) = app.rows.thread(id).await? else {
        if !create {
            return Err(missing());
        }
        // One that is being removed is gone before the new one is there.
        if app.rows.removal(id).await?.is_some() {
            finish_removal(app, id).await?;
        }
        let row = Box::new(new_thread(app, new, assistant));
        let is_named = true;
        return Ok(ThreadOfRun::New { row, is_named });
    };
    if !sees(app, &found) {
        return Err(missing());
    }
    belongs(app, &found, assistant).await?;
    let before = found.metadata["graph_id"].clone();
    if before == own["graph_id"] && found.metadata["assistant_id"] == own["assistant_id"] {
        return Ok(ThreadOfRun::Unchanged);
    }
    let note = |thread: &mut Thread| {
        if thread.metadata["graph_id"] == before {
            merge(&mut thread.metadata, &own);
        }
    };
    let noted = app.rows.thread_changed(id, note).await?;
    let noted = noted.ok_or_else(missing)?;
    if noted.thread.metadata["graph_id"] == own["graph_id"] {
        return Ok(ThreadOfRun::Changed(Box::new(noted)));
    }
    Err(ApiError::conflict(
        "another graph has run on the thread meanwhile; try again",
    ))
}

/// Refuses a thread whose states are of another type than those of the graph. Graphs with the same
/// state may share a thread.
pub(crate) async fn belongs(app: &Access, thread: &Thread, assistant: &Assistant) -> ApiResult<()> {
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
