//! What a request may see.

use std::ops::Deref;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use serde_json::Value;
use uuid::Uuid;

use super::{Filter, Filters, User};
use crate::app::App;
use crate::error::{ApiError, ApiResult};
use crate::rows::{Assistant, system_assistant};

/// The server, as the user of a request sees it.
#[derive(Clone)]
pub(crate) struct Access {
    pub(crate) app: Arc<App>,
    user: Option<Arc<User>>,
    /// Which resources the user sees.
    pub(crate) filters: Arc<Filters>,
}

impl Access {
    /// What the server itself does for a user.
    pub(crate) fn of(app: &Arc<App>, user: Option<User>) -> Self {
        Self {
            app: Arc::clone(app),
            user: user.map(Arc::new),
            filters: Arc::default(),
        }
    }

    /// Gives the threads that are created these metadata, by which their user sees them.
    pub(crate) fn marking_threads(mut self, metadata: &Value) -> Self {
        self.filters = Arc::new(Filters {
            threads: Filter::of(metadata),
            ..Filters::default()
        });
        self
    }

    /// What the user may read, for a request that creates something.
    pub(crate) fn reading(&self) -> Self {
        let read = &self.filters.read;
        Self {
            app: Arc::clone(&self.app),
            user: self.user.clone(),
            filters: Arc::new(Filters {
                threads: read.clone(),
                assistants: read.clone(),
                ..Filters::default()
            }),
        }
    }

    /// Returns the owner of what is created: empty without authentication.
    pub(crate) fn owner(&self) -> &str {
        self.user.as_ref().map_or("", |user| user.owned_by())
    }

    /// Returns whose resources are seen; `None`: everyone's.
    pub(crate) fn filter(&self) -> Option<&str> {
        self.user.as_ref().map(|user| user.owned_by())
    }

    /// Returns true if the user sees what belongs to `owner`.
    pub(crate) fn sees(&self, owner: &str) -> bool {
        self.filter().is_none_or(|own| own == owner)
    }

    /// Returns true if the user may use the assistant: it is theirs, or the default one of a graph.
    pub(crate) fn shows(&self, assistant: &Assistant) -> bool {
        self.graphs.contains_key(&assistant.graph_id)
            && (self.sees(&assistant.owner) || assistant.owner.is_empty())
            // The default assistants belong to everyone.
            && (assistant.owner.is_empty() || self.filters.assistants.fits(&assistant.metadata))
    }

    /// Returns the assistant of that id, or of that graph.
    pub(crate) async fn assistant(&self, id: &str) -> ApiResult<Assistant> {
        let id_of_graph = self.graphs.contains_key(id);
        let id_of_graph = id_of_graph.then(|| system_assistant(id).assistant_id);
        let found = match id_of_graph.or_else(|| Some(id.parse::<Uuid>().ok()?.to_string())) {
            Some(id) => self.rows.assistant(&id).await?,
            None => None,
        };
        let found = found.filter(|assistant| self.shows(assistant));
        found.ok_or_else(|| {
            let graphs: Vec<&str> = self.graphs.keys().map(String::as_str).collect();
            ApiError::invalid(format!(
                "Invalid assistant: '{id}'. Must be either:\n- A valid assistant UUID, or\n- One of the registered graphs: {}",
                graphs.join(", ")
            ))
        })
    }

    /// Returns the assistant that goes on with a thread of these metadata: the last one there, or the default one of its
    /// graph if that was deleted.
    pub(crate) async fn assistant_of_thread(&self, metadata: &Value) -> ApiResult<Assistant> {
        let named = |name: &str| metadata[name].as_str().unwrap_or_default();
        match self.assistant(named("assistant_id")).await {
            Err(error) if !error.is_storage() => self.assistant(named("graph_id")).await,
            found => found,
        }
    }

    pub(crate) fn user(&self) -> Option<&User> {
        self.user.as_deref()
    }
}

impl Deref for Access {
    type Target = Arc<App>;

    fn deref(&self) -> &Arc<App> {
        &self.app
    }
}

impl FromRequestParts<Arc<App>> for Access {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, ApiError> {
        let user = parts.extensions.get::<Arc<User>>().cloned();
        // A route that was not asked about shows nothing.
        if user.is_none() && app.authenticate.is_some() {
            return Err(ApiError::unauthorized());
        }
        Ok(Self {
            app: Arc::clone(app),
            user,
            filters: parts
                .extensions
                .get::<Arc<Filters>>()
                .cloned()
                .unwrap_or_default(),
        })
    }
}
