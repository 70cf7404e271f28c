//! What a request says to the nodes of its run.

use langgraph::error::NodeError;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::User;
use crate::spec::RunSpec;

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

impl RunContext {
    pub(crate) fn of(spec: &RunSpec) -> Self {
        Self {
            context: spec.context.clone(),
            configurable: spec.config.configurable.clone(),
            user: spec.user.clone(),
        }
    }

    /// Reads the context as the type that the graph has [declared](crate::GraphHandle::context). A value of
    /// `configurable` counts where `context` has none.
    ///
    /// # Errors
    ///
    /// If the client has sent something else.
    pub fn read<C: DeserializeOwned>(&self) -> Result<C, NodeError> {
        self.value()
            .map_err(|error| NodeError::msg(format!("the context of the run: {error}")))
    }

    pub(crate) fn value<C: DeserializeOwned>(
        &self,
    ) -> Result<C, serde_path_to_error::Error<serde_json::Error>> {
        let mut fields = Map::new();
        for part in [&self.configurable, &self.context] {
            if let Value::Object(part) = part {
                fields.extend(part.clone());
            }
        }
        serde_path_to_error::deserialize(Value::Object(fields))
    }
}
