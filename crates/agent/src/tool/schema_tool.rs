//! Tools that are only a schema.

use std::fmt;
use std::marker::PhantomData;

use async_trait::async_trait;
use langgraph::message::ToolCall;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{
    Tool, ToolContext, ToolDefinition, ToolError, ToolOutput, arguments, check_as, schema_of,
};

/// A tool that is only a schema: a model calls it to say something, and a router or a node reads the call.
///
/// Its name is the type's, its description the type's doc comment, its arguments are the fields.
///
/// # Examples
///
/// ```
/// use langgraph::message::ToolCall;
/// use langgraph_agent::prelude::*;
/// use langgraph_agent::{FnTool, ScriptedModel};
/// use schemars::JsonSchema;
/// use serde::Deserialize;
/// use serde_json::json;
///
/// /// Hands the customer over to the desk for hotels.
/// #[derive(Deserialize, JsonSchema)]
/// struct ToHotels {
///     /// Where the customer wants to stay.
///     city: String,
/// }
///
/// let now = FnTool::new("now", "The time.", || async { "12:00" });
/// let model = ScriptedModel::new(["hi"]).bind_tools((now, schema_tool::<ToHotels>()));
///
/// let call = ToolCall::new("1", "ToHotels", json!({"city": "Basel"}));
/// match call.parse::<ToHotels>() {
///     Some(Ok(ToHotels { city })) => assert_eq!(city, "Basel"),
///     Some(Err(error)) => panic!("the model's arguments do not fit: {error}"),
///     None => panic!("a call of another tool"),
/// }
/// # let _ = model;
/// ```
pub struct SchemaTool<T> {
    definition: ToolDefinition,
    of: PhantomData<fn() -> T>,
}

/// Creates a tool that is only the schema of `T`.
pub fn schema_tool<T: JsonSchema + DeserializeOwned + 'static>() -> SchemaTool<T> {
    let mut schema = schema_of::<T>();
    let description = schema
        .as_object_mut()
        .and_then(|schema| schema.remove("description"));
    let description = description.as_ref().and_then(Value::as_str);
    SchemaTool {
        definition: ToolDefinition::new(T::schema_name(), description.unwrap_or_default(), schema),
        of: PhantomData,
    }
}

#[async_trait]
impl<T: DeserializeOwned + 'static> Tool for SchemaTool<T> {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    async fn call(&self, _: Value, _: &ToolContext<'_>) -> Result<ToolOutput, ToolError> {
        Err(ToolError::fatal(OnlySchema(self.definition.name.clone())))
    }

    fn check(&self, arguments: &Value) -> Result<(), String> {
        check_as::<T>(arguments)
    }
}

impl<T> fmt::Debug for SchemaTool<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SchemaTool")
            .field(&self.definition.name)
            .finish()
    }
}

#[derive(thiserror::Error)]
#[error(
    "tool `{0}` is only a schema, so there is nothing to run: route its calls to a node that reads them with \
     `call.parse::<{0}>()`, and leave it out of the `ToolNode`"
)]
struct OnlySchema(String);

/// Reads the call of a tool as the type that declares it.
pub trait ParseCall {
    /// Returns the arguments as a `T`; `None` for a call of another tool.
    ///
    /// # Errors
    ///
    /// A [`ToolError`] for the model, if its arguments do not fit.
    fn parse<T: JsonSchema + DeserializeOwned>(&self) -> Option<Result<T, ToolError>>;
}

impl ParseCall for ToolCall {
    fn parse<T: JsonSchema + DeserializeOwned>(&self) -> Option<Result<T, ToolError>> {
        (self.name == T::schema_name()).then(|| arguments(self.arguments.clone()))
    }
}

langgraph::debug_is_message!(OnlySchema);
