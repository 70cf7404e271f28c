//! What `#[tool]` expands to. Not part of the public API: it changes without notice.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

/// What the arguments of a `#[tool]` function derive.
pub use {schemars, serde};

/// What a model can give a tool.
#[diagnostic::on_unimplemented(
    message = "a model cannot give a tool a `{Self}`",
    label = "not an argument of a tool",
    note = "an argument implements `serde::Deserialize` and `schemars::JsonSchema`: derive both"
)]
pub trait ToolArgument: DeserializeOwned + JsonSchema + Send + 'static {}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + JsonSchema + Send + 'static> ToolArgument for T {}

/// Checks that a model can give a `T`.
pub fn argument<T: ToolArgument>() {}
