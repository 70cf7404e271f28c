//! The crate of the agents under another name, in a module.
#![deny(warnings)]

mod vendor {
    pub(crate) use ::agents;
}

use vendor::agents::{IntoTool, ToolContext, tool};

/// Repeats a word.
#[tool(crate = crate::vendor::agents)]
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
    assert_eq!(tool.definition().parameters["required"][0], "word");
}
