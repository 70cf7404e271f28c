//! What `#[tool]` expands to, and what replays need. Not part of the public API: it changes without notice.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

/// What the generated struct of a `#[tool]` function's arguments derives.
pub use {schemars, serde};

pub use crate::model::answer_as;

/// A type that a model can pass to a tool.
#[diagnostic::on_unimplemented(
    message = "a model cannot give a tool a `{Self}`",
    label = "not an argument of a tool",
    note = "an argument implements `serde::Deserialize` and `schemars::JsonSchema`: derive both"
)]
pub trait ToolArgument: DeserializeOwned + JsonSchema + Send + 'static {}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + JsonSchema + Send + 'static> ToolArgument for T {}

/// Checks at compile time that a model can pass a `T`.
pub fn argument<T: ToolArgument>() {}
