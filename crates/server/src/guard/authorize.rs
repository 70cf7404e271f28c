//! The hook that says what a user may do.

use std::fmt;

use async_trait::async_trait;
use serde_json::Value;

use super::{Filter, Refusal, User};

/// Says what a user may do, action by action, and which resources the user sees.
///
/// The server asks for each request that it has [authenticated](super::Authenticate), before it does
/// anything. Owners are apart without it; it makes differences among the users of an owner.
///
/// | resource | actions |
/// |---|---|
/// | assistants | `create`, `read`, `update`, `delete`, `search` |
/// | threads | `create`, `read`, `update`, `delete`, `search`, `create_run` |
/// | crons | `create`, `read`, `update`, `delete`, `search` |
/// | store | `put`, `get`, `delete`, `search`, `list_namespaces` |
///
/// These are the names of LangGraph's `@auth.on`. To read, follow or cancel a run is to `read` or
/// `update` its thread. A run is a `create_run` of threads and a `read` of assistants: both are asked
/// about, also when a cron is created, whose runs are asked about then and not later. An assistant that is
/// deleted with its threads is a `delete` of both. What exists already, and is the answer to a `create`, is also a
/// `read`; without the right to it, that is hidden. A task of A2A is read and cancelled as its run is. The [`Filter`]
/// counts for the resource of the action.
///
/// # Examples
///
/// Members read, and change only what is theirs; the store is for admins:
///
/// ```
/// use langgraph_server::{Action, Authorize, Filter, Refusal, Resource, Server};
///
/// struct Roles;
///
/// #[langgraph::async_trait]
/// impl Authorize for Roles {
///     async fn authorize(&self, action: Action<'_>) -> Result<Filter, Refusal> {
///         let user = action.user();
///         match (action.resource(), action.name()) {
///             _ if user.has_role("admin") => Ok(Filter::all()),
///             (Resource::Store, _) => Err(Refusal::Forbidden),
///             (_, "read" | "search") => Ok(Filter::all()),
///             _ => Ok(Filter::all().is("made_by", user.identity())),
///         }
///     }
/// }
///
/// let server = Server::new().authorize(Roles);
/// # let _ = server;
/// ```
#[async_trait]
pub trait Authorize: Send + Sync + 'static {
    /// Returns which of the resources the user sees, or refuses the action.
    async fn authorize(&self, action: Action<'_>) -> Result<Filter, Refusal>;
}

/// On what a user acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Resource {
    /// Assistants and their versions, graphs and schemas.
    Assistants,
    /// Threads, their states and their runs.
    Threads,
    /// Crons.
    Crons,
    /// Items of the store.
    Store,
}

/// What a user wants to do.
#[derive(Clone, Copy)]
pub struct Action<'a> {
    pub(super) resource: Resource,
    pub(super) name: &'static str,
    pub(super) user: &'a User,
    pub(super) value: &'a Value,
}

impl<'a> Action<'a> {
    /// Returns on what the user acts.
    pub fn resource(&self) -> Resource {
        self.resource
    }

    /// Returns the name of the action: one of the [table](Authorize).
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Returns who it is.
    pub fn user(&self) -> &'a User {
        self.user
    }

    /// Returns what the request says: its body, or its query if it is a `GET`, and the ids of its address. So there
    /// are `thread_id`, `assistant_id`, `metadata`; and `namespace`, a list of labels. A batch is a list.
    pub fn value(&self) -> &'a Value {
        self.value
    }
}

/// The body is not shown.
impl fmt::Debug for Action<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Action")
            .field("resource", &self.resource)
            .field("name", &self.name)
            .field("user", &self.user.identity())
            .finish_non_exhaustive()
    }
}
