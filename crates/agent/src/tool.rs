//! Tools: functions that a model can call.

mod context;
mod error;
mod function;
mod meta;
mod output;
mod registry;
mod schema;
mod schema_tool;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use async_trait::async_trait;
use langgraph::graph::{Calls, ToolInfo};
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use context::{MissingState, ToolContext};
pub use error::ToolError;
pub use function::{FnTool, ToolFunction};
pub use meta::{IntoTool, ToolFuture, ToolMeta};
pub use output::{IntoToolOutput, Json, ToolOutput};
pub use registry::{IntoTools, Tools};
pub use schema::schema_of;
pub use schema_tool::{ParseCall, SchemaTool, schema_tool};

pub(super) use output::CommandFor;
use schema::{arguments, check_as};

/// One call of a `#[tool]` function, as a [`ToolMeta`] starts it.
pub type ToolRun<'a> = Pin<Box<dyn Future<Output = Result<ToolOutput, ToolError>> + Send + 'a>>;

/// A function that a model can call.
///
/// Most tools are functions: see `#[tool]`, and [`FnTool`] for closures. Implement the trait for a
/// tool that holds connections, or whose name and schema are only known at run time.
///
/// # Examples
///
/// ```
/// use langgraph_agent::prelude::*;
/// use langgraph_agent::{ToolDefinition, ToolOutput};
/// use serde_json::{Value, json};
///
/// struct Lookup {
///     definition: ToolDefinition,
///     table: Vec<(String, String)>,
/// }
///
/// #[async_trait]
/// impl Tool for Lookup {
///     fn definition(&self) -> &ToolDefinition {
///         &self.definition
///     }
///
///     async fn call(&self, arguments: Value, _: &ToolContext<'_>) -> Result<ToolOutput, ToolError> {
///         let key = arguments["key"].as_str().unwrap_or_default();
///         let found = self.table.iter().find(|(name, _)| name == key);
///         match found {
///             Some((_, value)) => Ok(ToolOutput::text(value)),
///             None => Err(ToolError::model(format!("there is no entry `{key}`"))),
///         }
///     }
/// }
///
/// let lookup = Lookup {
///     definition: ToolDefinition::new("lookup", "Looks up an entry of the glossary.", json!({
///         "type": "object",
///         "properties": {"key": {"type": "string"}},
///         "required": ["key"],
///     })),
///     table: vec![("node".into(), "a step of a graph".into())],
/// };
/// assert_eq!(lookup.name(), "lookup");
/// ```
#[async_trait]
pub trait Tool: Send + Sync + 'static {
    /// Returns the description of the tool for the model.
    fn definition(&self) -> &ToolDefinition;

    /// Calls the tool. `arguments` is what the model sent: a JSON object, which may not follow the
    /// schema.
    async fn call(&self, arguments: Value, cx: &ToolContext<'_>) -> Result<ToolOutput, ToolError>;

    /// Checks arguments without calling the tool: those that a person has edited.
    ///
    /// The default compares them with the schema, at every depth: required properties, types, enumerations and
    /// alternatives.
    ///
    /// # Errors
    ///
    /// What is wrong with them.
    fn check(&self, arguments: &Value) -> Result<(), String> {
        schema::check(&self.definition().parameters, arguments)
    }

    /// Returns the name by which the model calls it.
    fn name(&self) -> &str {
        &self.definition().name
    }

    /// Returns true if the tool's answer is the agent's answer, so that the model is not called
    /// again.
    ///
    /// Ready-made agents end with it. They call the model again if the tool has failed, or if the model has called
    /// others at the same time that do not return directly. In a graph of your own, ask
    /// [`Tools::answered_directly`] after the tools.
    fn returns_directly(&self) -> bool {
        false
    }

    /// Returns the JSON Schema of the custom events that its calls emit, with
    /// [`emit`](langgraph::node::Context::emit). Clients get types for them. The default declares none.
    fn custom_events(&self) -> Option<Value> {
        None
    }

    /// Returns the tools of the agents that it runs. Clients get types for their calls and approvals, too.
    fn inner_tools(&self) -> Vec<ToolInfo> {
        Vec::new()
    }

    /// Returns what a call of the tool calls at worst besides itself: the models and tools of an agent that it
    /// runs, as [`calls_at_worst`](langgraph::graph::Topology::calls_at_worst) of the agent's topology says.
    /// [`Bounds`](langgraph::graph::Bounds) of agents count with it.
    fn inner_calls(&self) -> Calls {
        Calls::default()
    }
}

macro_rules! pointers {
    ($($pointer:ident)*) => {$(
        #[async_trait]
        impl<T: Tool + ?Sized> Tool for $pointer<T> {
            fn definition(&self) -> &ToolDefinition {
                (**self).definition()
            }

            async fn call(
                &self,
                arguments: Value,
                cx: &ToolContext<'_>,
            ) -> Result<ToolOutput, ToolError> {
                (**self).call(arguments, cx).await
            }

            fn check(&self, arguments: &Value) -> Result<(), String> {
                (**self).check(arguments)
            }

            fn returns_directly(&self) -> bool {
                (**self).returns_directly()
            }

            fn custom_events(&self) -> Option<Value> {
                (**self).custom_events()
            }

            fn inner_tools(&self) -> Vec<ToolInfo> {
                (**self).inner_tools()
            }

            fn inner_calls(&self) -> Calls {
                (**self).inner_calls()
            }
        }
    )*};
}

pointers!(Arc Box);

/// The description of a tool for a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolDefinition {
    /// The name by which the model calls it.
    pub name: String,
    /// What it does, and when to use it.
    pub description: String,
    /// The JSON schema of its arguments: an object schema.
    pub parameters: Value,
}

impl ToolDefinition {
    /// Creates a definition with a name, a purpose and a schema; see [`schema_of`].
    pub fn new(name: impl Into<String>, description: impl Into<String>, parameters: Value) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            parameters,
        }
    }
}
