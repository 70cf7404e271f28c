//! Runs that start by the clock.

use std::str::FromStr;
use std::sync::Arc;
use std::time::SystemTime;

use chrono::{DateTime, Utc};
use chrono_tz::Tz;
use croner::Cron as Pattern;
use langgraph::environment;
use serde_json::{Value, json};

use crate::app::App;
use crate::error::{ApiError, ApiResult};
use crate::guard::{Access, User};
use crate::queue::RequestKey;
use crate::rows::Cron;
use crate::runs::{Accepted, OnCompletion, RunRequest, Standing, accept, accept_at};
use crate::threads::is_paused;
use crate::wire::time::iso;

/// Returns when a schedule comes next after a time; `None` if it never does.
pub(crate) fn next(
    schedule: &str,
    timezone: Option<&str>,
    after: DateTime<Utc>,
) -> ApiResult<Option<DateTime<Utc>>> {
    let pattern = Pattern::from_str(schedule).map_err(|error| {
        ApiError::invalid(format!("Invalid cron schedule '{schedule}': {error}"))
    })?;
    let zone = match timezone {
        None => Tz::UTC,
        Some(name) => name
            .parse()
            .map_err(|_| ApiError::invalid(format!("Invalid timezone '{name}'")))?,
    };
    let found = pattern.find_next_occurrence(&after.with_timezone(&zone), false);
    Ok(found.ok().map(|time| time.with_timezone(&Utc)))
}

/// Writes when a cron fires next, after that time.
pub(crate) fn schedule(cron: &mut Cron, after: SystemTime) -> ApiResult<()> {
    let end = cron.end_time.as_deref().map(time).transpose()?;
    let next = next(&cron.schedule, cron.timezone.as_deref(), after.into())?;
    let next = next.filter(|next| end.is_none_or(|end| *next <= end) && cron.enabled);
    cron.due = next.map(|next| next.timestamp_millis());
    cron.next_run_date = next.map(|next| iso(next.into()));
    Ok(())
}

/// Reads a time; without a zone it is UTC.
pub(crate) fn time(text: &str) -> ApiResult<DateTime<Utc>> {
    let parsed = DateTime::parse_from_rfc3339(text)
        .or_else(|_| DateTime::parse_from_rfc3339(&format!("{text}Z")));
    let parsed = parsed.map_err(|_| ApiError::invalid(format!("Invalid time '{text}'")))?;
    Ok(parsed.with_timezone(&Utc))
}

/// Starts a run for each cron whose time has come, once, whichever processes look at the same time. A time that
/// passed while no process was there is made up for once.
pub(crate) async fn fire(app: &Arc<App>) -> ApiResult<()> {
    for cron in app.rows.due_crons().await? {
        // The run comes first: a process that is lost here leaves the cron due.
        let run = match start(app, &cron).await {
            Ok(run) => run,
            Err(error) if error.may_work_later() => return Err(error),
            Err(error) => {
                tracing::error!(?error, cron = cron.cron_id, "a cron cannot start its run");
                cron.run.clone()
            }
        };
        fired(app, cron, run).await?;
    }
    Ok(())
}

/// Notes the newest run of a cron, and when it fires next. A client that has changed the cron meanwhile has said when.
async fn fired(app: &App, mut cron: Cron, run: Option<String>) -> ApiResult<()> {
    let (due, newest) = (cron.due, cron.run.clone());
    loop {
        cron.run.clone_from(&run);
        if cron.due == due && schedule(&mut cron, environment::now()).is_err() {
            (cron.due, cron.next_run_date) = (None, None);
        }
        if app.rows.write_cron(&mut cron).await? {
            return Ok(());
        }
        match app.rows.cron(&cron.cron_id).await? {
            Some(now) if now.run == newest => cron = now,
            // Another process has fired it too, or it is gone.
            _ => return Ok(()),
        }
    }
}

/// Starts a run of a cron, as its owner, and returns the newest run of the cron. While the run before it waits or runs,
/// it leaves one out: runs that take longer than the time between them do not pile up. So it does while its thread waits.
async fn start(app: &Arc<App>, cron: &Cron) -> ApiResult<Option<String>> {
    if let Some(run) = &cron.run
        && app
            .rows
            .run_of_id(run)
            .await?
            .is_some_and(|run| run.is_open())
    {
        tracing::info!(cron = cron.cron_id, "the run before has not ended");
        return Ok(cron.run.clone());
    }
    let user = app.authenticate.is_some().then(|| {
        let named = || User::new(&*cron.user_id).owner(&*cron.owner);
        cron.user.clone().unwrap_or_else(named)
    });
    let access = Access::of(app, user).marking_threads(&cron.thread_metadata);
    let mut request: RunRequest = serde_json::from_value(cron.payload.clone())?;
    request.on_completion = match cron.on_run_completed.as_deref() {
        Some("keep") => Some(OnCompletion::Keep),
        _ => None,
    };
    // Another process may have started it.
    request.request_key = Some(RequestKey {
        name: format!("cron {} at {}", cron.cron_id, cron.due.unwrap_or_default()),
        digest: String::new(),
    });
    let accepted = match cron.thread_id.as_deref() {
        Some(thread) => start_on(&access, thread, request).await?,
        None => Some(accept(&access, None, request).await?),
    };
    if accepted.is_none() {
        tracing::info!(cron = cron.cron_id, "the thread has paused");
    }
    let run = accepted.map(|accepted| accepted.row.run_id);
    Ok(run.or_else(|| cron.run.clone()))
}

/// Starts a run of a cron on its thread. Returns `None` if it would end a pause there, a sleep or a question, and its
/// strategy is not one that stops other runs.
async fn start_on(app: &Access, thread: &str, request: RunRequest) -> ApiResult<Option<Accepted>> {
    let strategy = request.multitask_strategy.unwrap_or_default();
    let gives_way = strategy.stops().is_none() && request.begins_anew()?;
    loop {
        let standing = Standing::of(app, thread).await?;
        if gives_way && standing.thread.as_ref().is_some_and(is_paused) {
            return Ok(None);
        }
        let accepted = accept_at(app, &standing, request.clone()).await?;
        if accepted.is_some() {
            return Ok(accepted);
        }
    }
}

/// Returns a cron that is created now.
pub(crate) fn new(
    id: String,
    app: &Access,
    thread: Option<String>,
    assistant: String,
    now: SystemTime,
) -> Cron {
    let now = iso(now);
    Cron {
        cron_id: id,
        assistant_id: assistant,
        thread_id: thread,
        user_id: app.user().map_or("", User::identity).to_owned(),
        end_time: None,
        schedule: String::new(),
        timezone: None,
        payload: json!({}),
        next_run_date: None,
        metadata: json!({}),
        on_run_completed: None,
        enabled: true,
        created_at: now.clone(),
        updated_at: now,
        user: app.user().cloned(),
        thread_metadata: Value::Null,
        owner: app.owner().to_owned(),
        due: None,
        run: None,
        before: String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schedule_follows_its_timezone() {
        let after = time("2026-03-01T12:00:00Z").unwrap();
        let at = |zone| {
            next("0 9 * * *", zone, after)
                .unwrap()
                .unwrap()
                .to_rfc3339()
        };
        assert_eq!(at(None), "2026-03-02T09:00:00+00:00");
        assert_eq!(at(Some("America/New_York")), "2026-03-01T14:00:00+00:00");
        assert!(next("0 9 * *", None, after).is_err());
        assert!(next("0 9 * * *", Some("Mars"), after).is_err());
        assert!(next("0 0 31 2 *", None, after).is_ok_and(|never| never.is_none()));
    }
}
