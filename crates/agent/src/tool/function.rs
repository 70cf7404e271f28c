//! Functions and closures as tools, without a macro.

use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::sync::Arc;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::{
    IntoToolOutput, Tool, ToolContext, ToolDefinition, ToolError, ToolOutput, ToolRun, arguments,
    check_as, schema_of,
};

/// A function or closure as a tool.
///
/// It takes its arguments as one struct (or none at all). An `async fn` may take a [`ToolContext`]
/// after them. The struct's type gives the JSON schema and parses what the model sent; errors of
/// parsing go back to the model.
///
/// # Examples
///
/// ```
/// use langgraph_agent::{FnTool, Json, Tool};
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Add {
///     a: i64,
///     b: i64,
/// }
///
/// let add = FnTool::new("add", "Adds two numbers.", |Add { a, b }: Add| async move { a + b });
/// let now = FnTool::new("now", "The time.", || async { "12:00" });
///
/// assert_eq!(add.name(), "add");
/// assert_eq!(add.definition().parameters["required"], serde_json::json!(["a", "b"]));
/// # let _ = now;
/// ```
#[derive(Clone)]
pub struct FnTool {
    definition: ToolDefinition,
    function: Arc<dyn Erased>,
    returns_directly: bool,
}

impl FnTool {
    /// Creates a tool with a name and a purpose.
    pub fn new<K>(
        name: impl Into<String>,
        description: impl Into<String>,
        function: impl ToolFunction<K>,
    ) -> Self {
        let (schema, function) = function.erase();
        Self {
            definition: ToolDefinition::new(name, description, schema),
            function,
            returns_directly: false,
        }
    }

    /// Uses the tool's answer as the agent's answer: the model is not called again.
    #[must_use]
    pub fn return_directly(mut self) -> Self {
        self.returns_directly = true;
        self
    }

    /// Shows the model this schema instead of the schema of the argument's type, to describe what
    /// types cannot.
    #[must_use]
    pub fn with_schema(mut self, schema: Value) -> Self {
        self.definition.parameters = schema;
        self
    }
}

#[async_trait]
impl Tool for FnTool {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    async fn call(&self, arguments: Value, cx: &ToolContext<'_>) -> Result<ToolOutput, ToolError> {
        self.function.call(arguments, cx).await
    }

    fn check(&self, arguments: &Value) -> Result<(), String> {
        self.function.check(arguments)
    }

    fn returns_directly(&self) -> bool {
        self.returns_directly
    }
}

impl fmt::Debug for FnTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FnTool")
            .field("definition", &self.definition)
            .finish_non_exhaustive()
    }
}

/// A function with its argument's type erased.
#[doc(hidden)]
pub trait Erased: Send + Sync {
    fn call<'a>(&'a self, arguments: Value, cx: &'a ToolContext<'a>) -> ToolRun<'a>;
    fn check(&self, arguments: &Value) -> Result<(), String>;
}

/// What [`FnTool::new`] takes: `Fn() -> impl Future`, `Fn(T) -> impl Future`, and
/// `async fn(T, &ToolContext<'_>)`. `K` only separates these forms and is always inferred.
#[diagnostic::on_unimplemented(
    message = "this function cannot be a tool",
    label = "not a function of a tool",
    note = "a tool is an async function over one struct that implements `serde::Deserialize` and `schemars::JsonSchema`, with a `&ToolContext<'_>` after it if it is an `async fn`"
)]
pub trait ToolFunction<K> {
    /// Returns the schema of the arguments, and the erased function.
    #[doc(hidden)]
    fn erase(self) -> (Value, Arc<dyn Erased>);
}

struct Shaped<F, K>(F, PhantomData<fn() -> K>);

#[doc(hidden)]
#[derive(Debug)]
pub enum Nullary {}

#[doc(hidden)]
#[derive(Debug)]
pub struct Unary<T>(PhantomData<fn(T)>);

#[doc(hidden)]
#[derive(Debug)]
pub struct Contextual<T>(PhantomData<fn(T)>);

impl<F, Fut> Erased for Shaped<F, (Nullary, Fut)>
where
    F: Fn() -> Fut + Send + Sync + 'static,
    Fut: Future<Output: IntoToolOutput> + Send + 'static,
{
    fn call<'a>(&'a self, _: Value, _: &'a ToolContext<'a>) -> ToolRun<'a> {
        let run = (self.0)();
        Box::pin(async move { run.await.into_tool_output() })
    }

    fn check(&self, _: &Value) -> Result<(), String> {
        Ok(())
    }
}

impl<F, Fut> ToolFunction<(Nullary, Fut)> for F
where
    F: Fn() -> Fut + Send + Sync + 'static,
    Fut: Future<Output: IntoToolOutput> + Send + 'static,
{
    fn erase(self) -> (Value, Arc<dyn Erased>) {
        let schema = json!({"type": "object", "properties": Map::new()});
        (
            schema,
            Arc::new(Shaped::<F, (Nullary, Fut)>(self, PhantomData)),
        )
    }
}

impl<F, T, Fut> Erased for Shaped<F, (Unary<T>, Fut)>
where
    F: Fn(T) -> Fut + Send + Sync + 'static,
    T: DeserializeOwned + Send + 'static,
    Fut: Future<Output: IntoToolOutput> + Send + 'static,
{
    fn call<'a>(&'a self, value: Value, _: &'a ToolContext<'a>) -> ToolRun<'a> {
        let run = arguments(value).map(&self.0);
        Box::pin(async move { run?.await.into_tool_output() })
    }

    fn check(&self, value: &Value) -> Result<(), String> {
        check_as::<T>(value)
    }
}

impl<F, T, Fut> ToolFunction<(Unary<T>, Fut)> for F
where
    F: Fn(T) -> Fut + Send + Sync + 'static,
    T: DeserializeOwned + JsonSchema + Send + 'static,
    Fut: Future<Output: IntoToolOutput> + Send + 'static,
{
    fn erase(self) -> (Value, Arc<dyn Erased>) {
        let function = Shaped::<F, (Unary<T>, Fut)>(self, PhantomData);
        (schema_of::<T>(), Arc::new(function))
    }
}

/// Marks an async function whose future borrows the context.
#[doc(hidden)]
pub trait BorrowingTool<'a, T>: Send + Sync + 'static {
    type Output: IntoToolOutput;
    fn start(
        &'a self,
        arguments: T,
        cx: &'a ToolContext<'a>,
    ) -> impl Future<Output = Self::Output> + Send + 'a;
}

impl<'a, T, F, Fut> BorrowingTool<'a, T> for F
where
    F: Fn(T, &'a ToolContext<'a>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output: IntoToolOutput> + Send + 'a,
{
    type Output = Fut::Output;

    fn start(
        &'a self,
        arguments: T,
        cx: &'a ToolContext<'a>,
    ) -> impl Future<Output = Self::Output> + Send + 'a {
        self(arguments, cx)
    }
}

impl<F, T> Erased for Shaped<F, Contextual<T>>
where
    F: for<'x> BorrowingTool<'x, T>,
    T: DeserializeOwned + Send + 'static,
{
    fn call<'a>(&'a self, value: Value, cx: &'a ToolContext<'a>) -> ToolRun<'a> {
        match arguments(value) {
            Ok(arguments) => {
                let run = self.0.start(arguments, cx);
                Box::pin(async move { run.await.into_tool_output() })
            }
            Err(error) => Box::pin(async move { Err(error) }),
        }
    }

    fn check(&self, value: &Value) -> Result<(), String> {
        check_as::<T>(value)
    }
}

impl<F, T> ToolFunction<Contextual<T>> for F
where
    F: for<'x> BorrowingTool<'x, T>,
    T: DeserializeOwned + JsonSchema + Send + 'static,
{
    fn erase(self) -> (Value, Arc<dyn Erased>) {
        let function = Shaped::<F, Contextual<T>>(self, PhantomData);
        (schema_of::<T>(), Arc::new(function))
    }
}
