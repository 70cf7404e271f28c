//! Crons: runs that start by the clock.

use std::time::SystemTime;

use axum::Json;
use axum::http::StatusCode;
use axum::response::Response;
use langgraph::environment;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::address::Path;
use super::query::{Body, one_of, writable};
use super::search::{Search, counted, found};
use crate::crons::{new, schedule};
use crate::error::{ApiError, ApiResult};
use crate::guard::Access;
use crate::ids::{thread_id, uuid};
use crate::rows::{Cron, CronOrder, CronsOf, Listing, merge};
use crate::runs::RunRequest;
use crate::threads;

/// What a cron has for itself. The rest of its request is the request for its runs.
const OWN: [&str; 4] = ["end_time", "enabled", "timezone", "on_run_completed"];

fn wrong(name: &str, is: &str) -> ApiError {
    ApiError::invalid(format!("{name} is {is}"))
}

/// Writes what a request says of a cron itself.
fn write_own(cron: &mut Cron, given: &Map<String, Value>) -> ApiResult<()> {
    let text = |name: &str, value: &Value| match value {
        Value::Null => Ok(None),
        Value::String(text) => Ok(Some(text.clone())),
        _ => Err(wrong(name, "a text")),
    };
    for (name, value) in given {
        match (&**name, value) {
            ("end_time", _) => cron.end_time = text(name, value)?,
            ("timezone", _) => cron.timezone = text(name, value)?,
            ("on_run_completed", _) => cron.on_run_completed = text(name, value)?,
            ("schedule", _) => cron.schedule = text(name, value)?.unwrap_or_default(),
            ("enabled", Value::Null) => cron.enabled = true,
            ("enabled", Value::Bool(enabled)) => cron.enabled = *enabled,
            ("enabled", _) => return Err(wrong(name, "true or false")),
            ("metadata", _) => merge(&mut cron.metadata, value),
            _ => {}
        }
    }
    let on_run_completed = cron.on_run_completed.as_deref();
    one_of("on_run_completed", on_run_completed, &["delete", "keep"])
}

/// Writes what a request says of the runs of a cron.
fn write_payload(cron: &mut Cron, given: Map<String, Value>) -> ApiResult<()> {
    for (name, value) in given {
        match (&*name, value) {
            (name, _) if OWN.contains(&name) => {}
            // As those of the cron.
            ("metadata", value @ Value::Object(_)) => merge(&mut cron.payload["metadata"], &value),
            ("metadata", Value::Null) => {}
            ("metadata", _) => return Err(wrong(&name, "an object")),
            (name, value) => cron.payload[name] = value,
        }
    }
    let object = |name: &str, value: &Value| match value {
        Value::Null => Ok(Map::new()),
        Value::Object(fields) => Ok(fields.clone()),
        _ => Err(wrong(name, "an object")),
    };
    let mut config = object("config", &cron.payload["config"])?;
    let configurable = config.remove("configurable").unwrap_or_default();
    let mut configurable = object("config.configurable", &configurable)?;
    configurable.insert("cron_id".to_owned(), (&*cron.cron_id).into());
    config.insert("configurable".to_owned(), configurable.into());
    cron.payload["config"] = config.into();
    cron.payload["assistant_id"] = (&*cron.assistant_id).into();
    Ok(())
}

/// Writes what a request of that time says into a cron, and checks all of it.
async fn apply(
    app: &Access,
    cron: &mut Cron,
    given: Map<String, Value>,
    now: SystemTime,
) -> ApiResult<()> {
    write_own(cron, &given)?;
    write_payload(cron, given)?;
    writable(&cron.json())?;
    let request: RunRequest = serde_json::from_value(cron.payload.clone())?;
    if request.run_id.is_some() {
        return Err(ApiError::invalid(
            "run_id is the id of one run: each run of a cron has its own",
        ));
    }
    request.plan(app, cron.thread_id.as_deref()).await?;
    schedule(cron, now)
}

async fn made(
    app: &Access,
    thread: Option<String>,
    given: Map<String, Value>,
) -> ApiResult<Json<Value>> {
    if given
        .get("schedule")
        .is_none_or(|schedule| !schedule.is_string())
    {
        return Err(ApiError::invalid("schedule is missing"));
    }
    let assistant = given.get("assistant_id").and_then(Value::as_str);
    let assistant = app.assistant(assistant.unwrap_or_default()).await?;
    let id = langgraph_core::new_id().to_string();
    let stateless = thread.is_none();
    let now = environment::now();
    let mut cron = new(id, app, thread, assistant.assistant_id, now);
    if stateless {
        cron.on_run_completed = Some("delete".to_owned());
        cron.thread_metadata = app.filters.threads.as_metadata();
    }
    let mut given = given;
    given.remove("assistant_id");
    apply(app, &mut cron, given, now).await?;
    merge(&mut cron.metadata, &app.filters.crons.as_metadata());
    let limit = app.limits.crons;
    if !app.rows.create_cron(&cron, limit).await? {
        return Err(ApiError::too_many(format!(
            "there are {limit} crons already, which is the limit"
        )));
    }
    app.runs.clock.notify_one();
    Ok(Json(cron.json()))
}

pub(super) async fn create(
    app: Access,
    Body(given): Body<Map<String, Value>>,
) -> ApiResult<Json<Value>> {
    made(&app, None, given).await
}

pub(super) async fn create_on_thread(
    app: Access,
    Path(thread): Path<String>,
    Body(given): Body<Map<String, Value>>,
) -> ApiResult<Json<Value>> {
    let thread = threads::find(&app, &thread).await?.thread_id;
    made(&app, Some(thread), given).await
}

async fn find(app: &Access, id: &str) -> ApiResult<Cron> {
    let id = uuid("cron", id)?;
    let cron = app.rows.cron(&id).await?;
    let cron = cron.filter(|cron| app.sees(&cron.owner) && app.filters.crons.fits(&cron.metadata));
    cron.ok_or_else(|| ApiError::not_found(format!("Cron with ID {id} not found")))
}

pub(super) async fn read(app: Access, Path(id): Path<String>) -> ApiResult<Json<Value>> {
    Ok(Json(find(&app, &id).await?.json()))
}

pub(super) async fn change(
    app: Access,
    Path(id): Path<String>,
    Body(given): Body<Map<String, Value>>,
) -> ApiResult<Json<Value>> {
    let mut given = given;
    given.remove("assistant_id");
    given.remove("thread_id");
    let metadata = given.get("metadata").unwrap_or(&Value::Null);
    loop {
        let mut cron = find(&app, &id).await?;
        if !app.filters.crons.keeps(metadata) {
            return Err(ApiError::forbidden("Forbidden"));
        }
        apply(&app, &mut cron, given.clone(), environment::now()).await?;
        // It may have fired meanwhile, or another request has changed it.
        if app.rows.write_cron(&mut cron).await? {
            app.runs.clock.notify_one();
            return Ok(Json(cron.json()));
        }
    }
}

pub(super) async fn remove(app: Access, Path(id): Path<String>) -> ApiResult<StatusCode> {
    let cron = find(&app, &id).await?;
    app.rows.delete_cron(&cron.cron_id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// What a search for crons has beside the metadata.
#[derive(Deserialize)]
pub(super) struct CronCriteria {
    assistant_id: Option<String>,
    thread_id: Option<String>,
    enabled: Option<bool>,
}

/// The ids of those whose crons are searched.
struct CronsFor {
    assistant: Option<String>,
    thread: Option<String>,
}

impl Search<CronCriteria> {
    /// Returns which crons are found, if their documents decide.
    fn wanted(&self, app: &Access) -> Option<impl Fn(&Cron) -> bool> {
        let enabled = self.of.enabled;
        let filtered = !app.filters.crons.is_all();
        (enabled.is_some() || self.has_metadata() || filtered).then_some(move |cron: &Cron| {
            enabled.is_none_or(|enabled| enabled == cron.enabled)
                && self.fits(&cron.metadata)
                && app.filters.crons.fits(&cron.metadata)
        })
    }

    /// Returns whose crons are searched.
    async fn of(&self, app: &Access) -> ApiResult<CronsFor> {
        let assistant = match &self.of.assistant_id {
            Some(id) => Some(app.assistant(id).await?.assistant_id),
            None => None,
        };
        let thread = self.of.thread_id.as_deref().map(thread_id).transpose()?;
        Ok(CronsFor { assistant, thread })
    }

    fn listed<'a>(
        &'a self,
        app: &'a Access,
        CronsFor { assistant, thread }: &'a CronsFor,
    ) -> ApiResult<Listing<'a, Cron>> {
        let orders = [
            ("created_at", CronOrder::Created),
            ("updated_at", CronOrder::Updated),
            ("cron_id", CronOrder::Id),
            ("assistant_id", CronOrder::Assistant),
            ("thread_id", CronOrder::Thread),
            ("next_run_date", CronOrder::NextRun),
            ("end_time", CronOrder::End),
        ];
        self.listing(
            app,
            CronsOf {
                assistant: assistant.as_deref(),
                thread: thread.as_deref(),
            },
            CronOrder::Created,
            &orders,
            &FIELDS,
        )
    }
}

/// What a search may select of a cron. No cron has a `now`, but the clients' types name it.
const FIELDS: [&str; 15] = [
    "cron_id",
    "assistant_id",
    "thread_id",
    "user_id",
    "end_time",
    "schedule",
    "timezone",
    "payload",
    "next_run_date",
    "now",
    "metadata",
    "on_run_completed",
    "enabled",
    "created_at",
    "updated_at",
];

pub(super) async fn search(
    app: Access,
    Body(search): Body<Search<CronCriteria>>,
) -> ApiResult<Response> {
    let of = search.of(&app).await?;
    let listed = search.listed(&app, &of)?;
    let found = found(&app, listed, None, search.wanted(&app)).await?;
    Ok(search.page(&found, Cron::json))
}

pub(super) async fn count(
    app: Access,
    Body(search): Body<Search<CronCriteria>>,
) -> ApiResult<Json<usize>> {
    let of = search.of(&app).await?;
    let listed = search.listed(&app, &of)?;
    counted(&app, listed, None, search.wanted(&app)).await
}
