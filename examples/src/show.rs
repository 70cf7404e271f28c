//! How the examples show what is going on.

use langgraph::error::AgentError;
use langgraph::graph::Topology;
use langgraph::message::{Message, ToolCall};
use langgraph::run::Run;
use langgraph::stream::StreamMode;
use langgraph_agent::MessagesState;
use serde_json::Value;
use std::error::Error;
use std::process::ExitCode;

/// Results longer than this are cut when they are shown; the model sees them whole.
const MAX_CHARS: usize = 160;

/// What an agent does with a message, one line for each thing.
pub fn steps(message: &Message) -> Vec<String> {
    if let Some(result) = message.tool_result() {
        let name = result.name.as_deref().unwrap_or("tool");
        let verb = if result.is_error() { "failed: " } else { "" };
        return vec![format!(
            "{name} -> {verb}{}",
            shortened(&result.content.text())
        )];
    }
    if message.tool_calls().is_empty() {
        return vec!["answers".to_owned()];
    }
    message.tool_calls().iter().map(call).collect()
}

/// Prints the graph instead of running it, and returns true, if the command line asks for that: as Mermaid
/// with `--graph`, for GraphViz with `--graph dot`.
pub fn graph(graph: &Topology) -> bool {
    let mut arguments = std::env::args().skip_while(|argument| argument != "--graph");
    if arguments.next().is_none() {
        return false;
    }
    let drawing = graph.draw().xray(1);
    match arguments.next().as_deref() {
        Some("dot") => println!("{}", drawing.dot()),
        _ => println!("{}", drawing.mermaid()),
    }
    true
}

/// Prints the messages of a run as they come, and returns its state.
///
/// # Errors
///
/// Those of the run.
pub async fn run(run: Run<MessagesState>) -> Result<MessagesState, AgentError> {
    let mut events = run.stream(StreamMode::Values);
    let mut printed = 0;
    while let Some(event) = events.next().await {
        if let Some(state) = event?.values() {
            printed = messages(state, printed);
        }
    }
    events.finish().await?.finished()
}

/// Prints the messages of a state but for the first ones, which are printed already; returns how many are now.
pub fn messages(state: &MessagesState, printed: usize) -> usize {
    state.messages.iter().skip(printed).for_each(message);
    state.messages.len()
}

/// Prints a message: the tools that it calls, and its text.
fn message(message: &Message) {
    for call in message.tool_calls() {
        println!("-> {} {}", call.name, call.arguments_text());
    }
    let text = message.text();
    if !text.is_empty() {
        println!("{}: {}", message.role(), text.trim_end());
    }
}

/// Reports why a program failed, with all causes, and sets the exit code.
pub fn failure(error: &dyn Error) -> ExitCode {
    eprintln!("error: {error}");
    let mut source = error.source();
    while let Some(cause) = source {
        eprintln!("because: {cause}");
        source = cause.source();
    }
    ExitCode::FAILURE
}

/// `calls calculate(expression: "37 * 21")`.
fn call(call: &ToolCall) -> String {
    let arguments = match &call.arguments {
        Value::Object(arguments) => arguments
            .iter()
            .map(|(name, value)| format!("{name}: {value}"))
            .collect::<Vec<_>>()
            .join(", "),
        _ => call.arguments_text().into_owned(),
    };
    format!("calls {}({arguments})", call.name)
}

fn shortened(text: &str) -> String {
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if flat.chars().count() <= MAX_CHARS {
        return flat;
    }
    let start: String = flat.chars().take(MAX_CHARS).collect();
    format!("{start}...")
}

#[cfg(test)]
mod tests {
    use super::*;
    use langgraph::message::ToolResult;
    use serde_json::json;

    #[test]
    fn shows_calls_results_and_answers() {
        let calls = vec![
            ToolCall::new("1", "calculate", json!({"expression": "37 * 21"})),
            ToolCall::new("2", "get_current_time", json!({})),
        ];
        assert_eq!(
            steps(&Message::assistant_with_tool_calls("", calls)),
            [
                "calls calculate(expression: \"37 * 21\")",
                "calls get_current_time()"
            ]
        );
        assert_eq!(
            steps(&ToolResult::new("1", "777").with_name("calculate").into()),
            ["calculate -> 777"]
        );
        assert_eq!(
            steps(
                &ToolResult::error("1", "no\nsuch file")
                    .with_name("read")
                    .into()
            ),
            ["read -> failed: no such file"]
        );
        assert_eq!(steps(&Message::assistant("done")), ["answers"]);
        let long = steps(&Message::tool("1", "x".repeat(500)));
        assert_eq!(long[0].len(), "tool -> ".len() + MAX_CHARS + 3);
    }
}
