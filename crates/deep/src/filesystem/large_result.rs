//! Results of tools that are too large for a chat.

use langgraph::error::NodeError;
use langgraph::message::Content;
use langgraph_agent::{ChatRequest, TokenCount, ToolAnswer, ToolContext, ToolError};

use super::Filesystem;
use super::edit::digest;

/// The number of lines, and of characters in each, that stay in the chat.
const LINES: usize = 10;
const LINE: usize = 200;

const FOLDER: &str = "/large_tool_results";
/// The number of characters of a digest in the name of a file: enough that two texts do not share it.
const DIGEST: usize = 16;

/// Puts the text of a result into a file if it is too large, and if the place for files takes it.
pub(super) async fn moved(
    mut answer: ToolAnswer,
    files: &Filesystem,
    cx: &ToolContext<'_>,
) -> Result<ToolAnswer, NodeError> {
    // What is the answer of the agent, no model reads.
    if cx.returns_directly() && !answer.result.is_error() {
        return Ok(answer);
    }
    let text = answer.result.content.text();
    let message = langgraph::message::Message::user(&*text);
    let tokens = TokenCount::estimate(&ChatRequest::new(vec![message])).tokens;
    if tokens <= files.results_above {
        return Ok(answer);
    }
    let path = path(cx.call_id(), &text);
    match files.files.write(&path, &text, cx.into()).await {
        Err(ToolError::Fatal(error)) => return Err(error),
        Err(_) => return Ok(answer),
        Ok(()) => {}
    }
    let head = text.lines().take(LINES);
    let head = head.map(|line| line.chars().take(LINE).collect::<String>());
    let head: Vec<String> = head.collect();
    let count = text.lines().count();
    answer.result.content = Content::Text(format!(
        "The result has {count} lines, about {tokens} tokens: too large for the chat. It is in the file \
         `{path}`; read parts of it with `read_file`, or search it with `grep`. It begins:\n{}",
        head.join("\n")
    ));
    Ok(answer)
}

/// Returns the path of the file. Another call may have the same id: in another thread over the same files, in a
/// sub-agent that runs in parallel, or from a provider that counts anew. Its file stays, because it has another text.
fn path(id: &str, text: &str) -> String {
    let name = id.replace(|c: char| !c.is_ascii_alphanumeric(), "_");
    let digest = digest(text);
    let digest: String = digest.chars().take(DIGEST).collect();
    format!("{FOLDER}/{name}_{digest}")
}
