//! What a request says to the nodes of its run.

use serde_json::Value;

use crate::User;

/// What the client of a run sends beside the input: a resource of every run of a server.
///
/// # Examples
///
/// ```
/// use langgraph::prelude::*;
/// use langgraph_server::RunContext;
///
/// fn greet(name: &String, cx: &Context) -> Result<String, NodeError> {
///     let context = cx.resource::<RunContext>()?;
///     let greeting = context.configurable["greeting"].as_str().unwrap_or("Hello");
///     Ok(format!("{greeting}, {name}"))
/// }
/// # let _ = greet;
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct RunContext {
    /// The `context` of the request, over that of the assistant.
    pub context: Value,
    /// The `config.configurable` of the request, over that of the assistant.
    pub configurable: Value,
    /// Who asked for the run; `None` without [authentication](crate::Server::authenticate).
    pub user: Option<User>,
}
