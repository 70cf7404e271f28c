//! Asks who sends a request, and whether its sender may do that, for every route.

use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::actions::{RequestedAction, requested};
use super::said::{deletes_threads, value};
use super::{Action, Caller, Filter, Filters, Refusal, Resource, User};
use crate::app::App;
use crate::error::ApiError;

/// Files and answers that are the same for everyone. All other paths need a user, also those that
/// do not exist.
fn is_open(path: &str) -> bool {
    matches!(path, "/ok" | "/ready" | "/docs" | "/openapi.json")
}

fn refused(refusal: Refusal) -> ApiError {
    match refusal {
        Refusal::Unauthorized => ApiError::unauthorized(),
        Refusal::Forbidden => ApiError::forbidden("Forbidden"),
    }
}

/// Lets a request of a user through.
pub(crate) async fn authenticate(
    State(app): State<Arc<App>>,
    request: Request,
    next: Next,
) -> Response {
    let Some(hook) = &app.authenticate else {
        return next.run(request).await;
    };
    if is_open(request.uri().path()) {
        return next.run(request).await;
    }
    let (mut parts, body) = request.into_parts();
    match hook.authenticate(Caller::of(&parts)).await {
        Ok(user) => {
            parts.extensions.insert(Arc::new(user));
            next.run(Request::from_parts(parts, body)).await
        }
        Err(refusal) => refused(refusal).into_response(),
    }
}

/// Lets a request through that its user may send. It comes after [`authenticate`].
pub(crate) async fn authorize(
    State(app): State<Arc<App>>,
    request: Request,
    next: Next,
) -> Response {
    if app.authorize.is_none() {
        return next.run(request).await;
    }
    let user = request.extensions().get::<Arc<User>>().cloned();
    let asked = requested(request.method().as_str(), request.uri().path());
    let (Some(user), Some(asked)) = (user, asked) else {
        return next.run(request).await;
    };
    match filtered(&app, &user, asked, request).await {
        Ok(request) => next.run(request).await,
        Err(error) => error.into_response(),
    }
}

/// Asks the hook, and gives the request its filters.
async fn filtered(
    app: &App,
    user: &User,
    asked: RequestedAction,
    request: Request,
) -> Result<Request, ApiError> {
    let Some(hook) = &app.authorize else {
        return Ok(request);
    };
    let (mut parts, body) = request.into_parts();
    let bytes = to_bytes(body, app.limits.body).await;
    let bytes = bytes.map_err(|_| ApiError::too_large("the body is too large"))?;
    let value = value(&asked, &mut parts, &bytes).await?;
    let asked = asked.called(&value);
    let ask = async |resource, name| {
        let action = Action {
            resource,
            name,
            user,
            value: &value,
        };
        hook.authorize(action).await.map_err(refused)
    };
    let mut filters = Filters::default();
    let filter = ask(asked.resource, asked.name).await?;
    match asked.resource {
        Resource::Assistants => filters.assistants = filter,
        Resource::Threads => filters.threads = filter,
        Resource::Crons => filters.crons = filter,
        Resource::Store if !filter.is_all() => {
            tracing::warn!("items of the store have no metadata: a filter shows none of them");
            return Err(refused(Refusal::Forbidden));
        }
        Resource::Store => {}
    }
    if deletes_threads(&asked, &parts)? {
        filters.threads = ask(Resource::Threads, "delete").await?;
    }
    if asked.copies {
        filters.read = ask(Resource::Threads, "read").await?;
    }
    if asked.shows_existing(&value) {
        // Who may not read creates what does not exist.
        let read = ask(asked.resource, "read").await;
        filters.read = read.unwrap_or_else(|_| Filter::nothing());
    }
    if asked.is_cron() {
        filters.threads = ask(Resource::Threads, "create_run").await?;
    }
    if asked.reads_assistant() {
        filters.assistants = ask(Resource::Assistants, "read").await?;
    }
    parts.extensions.insert(Arc::new(filters));
    Ok(Request::from_parts(parts, Body::from(bytes)))
}
