//! The runtime crate under another name.
#![deny(warnings)]

mod vendor {
    pub(crate) use langgraph as graphs;
}

use vendor::graphs::agent::{IntoTool, ToolContext};
use vendor::graphs::tool;

/// Repeats a word.
#[tool(crate = crate::vendor::graphs)]
async fn repeat(
    /// What to repeat.
    word: String,
    #[tool(default = 2)] times: u8,
    _cx: &ToolContext<'_>,
) -> String {
    word.repeat(times.into())
}

fn main() {
    let tool = repeat.into_tool();
    assert_eq!(tool.definition().parameters["required"], langgraph::__private::serde_json::json!(["word"]));
}
