//! `#[tool]` functions, whose types describe the tool.

use std::fmt;
use std::future::{Future, IntoFuture};
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{
    IntoToolOutput, Tool, ToolContext, ToolDefinition, ToolError, ToolOutput, ToolRun, arguments,
    check_as, schema_of,
};

/// What `#[tool]` knows about a function, available from the function's type.
pub trait ToolMeta: Sized + Send + Sync + 'static {
    /// The name by which the model calls the tool.
    const NAME: &'static str;
    /// The description for the model: the function's doc comment.
    const DESCRIPTION: &'static str;
    /// Whether the tool's answer is the agent's answer.
    const RETURNS_DIRECTLY: bool = false;

    /// The arguments that the model passes, one field each.
    type Arguments: DeserializeOwned + JsonSchema + Send + 'static;

    /// Calls the function.
    fn call<'a>(arguments: Self::Arguments, cx: &'a ToolContext<'a>) -> ToolRun<'a>;
}

/// What a `#[tool]` function returns.
///
/// Await it to call the function like any other, for example in a unit test.
#[must_use = "a tool does nothing until it is awaited"]
pub struct ToolFuture<'a, O, M> {
    body: Pin<Box<dyn Future<Output = O> + Send + 'a>>,
    meta: PhantomData<fn() -> M>,
}

impl<'a, O, M> ToolFuture<'a, O, M> {
    /// Boxes the body of a tool.
    pub fn new(body: impl Future<Output = O> + Send + 'a) -> Self {
        Self {
            body: Box::pin(body),
            meta: PhantomData,
        }
    }

    /// Converts the call to the runtime's form.
    pub fn into_run(self) -> ToolRun<'a>
    where
        O: IntoToolOutput + 'a,
    {
        let body = self.body;
        Box::pin(async move { body.await.into_tool_output() })
    }
}

impl<O, M> fmt::Debug for ToolFuture<'_, O, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ToolFuture")
    }
}

impl<'a, O, M> IntoFuture for ToolFuture<'a, O, M> {
    type Output = O;
    type IntoFuture = Pin<Box<dyn Future<Output = O> + Send + 'a>>;

    fn into_future(self) -> Self::IntoFuture {
        self.body
    }
}

/// A `#[tool]` function as a value.
struct MetaTool<M> {
    definition: ToolDefinition,
    meta: PhantomData<fn() -> M>,
}

impl<M: ToolMeta> MetaTool<M> {
    fn new() -> Self {
        Self {
            definition: ToolDefinition::new(M::NAME, M::DESCRIPTION, schema_of::<M::Arguments>()),
            meta: PhantomData,
        }
    }
}

#[async_trait]
impl<M: ToolMeta> Tool for MetaTool<M> {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    async fn call(&self, value: Value, cx: &ToolContext<'_>) -> Result<ToolOutput, ToolError> {
        M::call(arguments(value)?, cx).await
    }

    fn check(&self, value: &Value) -> Result<(), String> {
        check_as::<M::Arguments>(value)
    }

    fn returns_directly(&self) -> bool {
        M::RETURNS_DIRECTLY
    }
}

/// A type that converts into a tool: a `#[tool]` function, an [`FnTool`](super::FnTool), any
/// [`Tool`], also boxed or shared. `K` only separates these forms and is always inferred.
#[diagnostic::on_unimplemented(
    message = "this is not a tool",
    label = "not a tool",
    note = "a tool is a function with `#[tool]`, `FnTool::new(name, description, function)`, or a value of a type that implements `Tool`"
)]
pub trait IntoTool<K> {
    /// Converts into a tool.
    fn into_tool(self) -> Arc<dyn Tool>;
}

#[doc(hidden)]
#[derive(Debug)]
pub enum ByTool {}

impl<T: Tool> IntoTool<ByTool> for T {
    fn into_tool(self) -> Arc<dyn Tool> {
        Arc::new(self)
    }
}

/// Marks a `#[tool]` function of these arguments.
#[doc(hidden)]
#[derive(Debug)]
pub struct ByFunction<A, O, M>(PhantomData<A>, PhantomData<O>, PhantomData<M>);

/// Marks one with a [`ToolContext`] after the arguments.
#[doc(hidden)]
#[derive(Debug)]
pub struct ByFunctionCx<A, O, M>(PhantomData<A>, PhantomData<O>, PhantomData<M>);

macro_rules! functions {
    ($(($($argument:ident)*))*) => {$(
        impl<F, $($argument,)* O, M> IntoTool<ByFunction<($($argument,)*), O, M>> for F
        where
            F: Fn($($argument),*) -> ToolFuture<'static, O, M>,
            // Keeps a context from being taken for an argument.
            $($argument: DeserializeOwned,)*
            M: ToolMeta,
        {
            fn into_tool(self) -> Arc<dyn Tool> {
                Arc::new(MetaTool::<M>::new())
            }
        }

        impl<F, $($argument,)* O, M> IntoTool<ByFunctionCx<($($argument,)*), O, M>> for F
        where
            F: for<'x> Fn($($argument,)* &'x ToolContext<'x>) -> ToolFuture<'x, O, M>,
            $($argument: DeserializeOwned,)*
            M: ToolMeta,
        {
            fn into_tool(self) -> Arc<dyn Tool> {
                Arc::new(MetaTool::<M>::new())
            }
        }
    )*};
}

functions!(
    () (A1) (A1 A2) (A1 A2 A3) (A1 A2 A3 A4) (A1 A2 A3 A4 A5) (A1 A2 A3 A4 A5 A6)
    (A1 A2 A3 A4 A5 A6 A7) (A1 A2 A3 A4 A5 A6 A7 A8) (A1 A2 A3 A4 A5 A6 A7 A8 A9)
    (A1 A2 A3 A4 A5 A6 A7 A8 A9 A10) (A1 A2 A3 A4 A5 A6 A7 A8 A9 A10 A11)
    (A1 A2 A3 A4 A5 A6 A7 A8 A9 A10 A11 A12)
);
