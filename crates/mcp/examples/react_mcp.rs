//! ReAct with the tools of an MCP server: a process that this program starts and speaks to over its
//! standard input and output. `MCP_COMMAND` names another server, such as `uvx mcp-server-time`, whose
//! tools the model reads from their schemas; unless it is set, the program starts itself as the server.
//! Run it with `cargo run -p langgraph-mcp --example react_mcp -- "What is 12 squared?"`.

mod local;

use std::error::Error;
use std::path::Path;

use langgraph_examples::file_search::{Filter, find_files};
use langgraph_examples::{calculator, model};
use langgraph_mcp::McpClient;
use rmcp::model::JsonObject;
use serde_json::json;
use tokio::process::Command;

use local::{Answer, LocalTool};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let question = match std::env::args().nth(1) {
        Some(argument) if argument == "--serve" => return local::serve_stdio(tools()).await,
        Some(question) => question,
        None => "What is 12 squared?".to_owned(),
    };
    let server = McpClient::connect(command()?).await?;
    if let Some((name, version)) = server.server_info() {
        eprintln!("server: {name} {version}");
    }
    local::react(model::choose()?.model, server.tools().await?, question).await
}

/// The server to start.
fn command() -> Result<Command, Box<dyn Error>> {
    let other = std::env::var("MCP_COMMAND").unwrap_or_default();
    let mut words = other.split_whitespace();
    let mut command = match words.next() {
        Some(program) => Command::new(program),
        None => Command::new(std::env::current_exe()?),
    };
    if other.trim().is_empty() {
        command.arg("--serve");
    }
    command.args(words);
    Ok(command)
}

/// What the server can do.
fn tools() -> Vec<LocalTool> {
    let text = |description: &str| json!({"type": "string", "description": description});
    vec![
        LocalTool {
            name: "calculate",
            description: "Works out an arithmetic expression exactly.",
            parameters: json!({
                "type": "object",
                "properties": {"expression": text("Numbers, + - * / %, ^ and parentheses.")},
                "required": ["expression"],
            }),
            run: calculate,
        },
        LocalTool {
            name: "find_files",
            description: "Counts and lists the files below a folder.",
            parameters: json!({
                "type": "object",
                "properties": {
                    "folder": text("Where to look; the current folder when it is left out."),
                    "extension": text("Only files with this extension, such as `rs`."),
                },
            }),
            run: count_files,
        },
    ]
}

fn calculate(arguments: &JsonObject) -> Result<Answer, String> {
    let expression = arguments.get("expression").and_then(|text| text.as_str());
    let expression = expression.ok_or("`expression` is missing")?;
    let number = calculator::evaluate(expression).map_err(|error| error.to_string())?;
    Ok(Answer::text(number.to_string()))
}

fn count_files(arguments: &JsonObject) -> Result<Answer, String> {
    let text = |name: &str| arguments.get(name).and_then(|text| text.as_str());
    let filter = text("extension").map_or(Filter::Any, Filter::extension);
    let folder = Path::new(text("folder").unwrap_or("."));
    let files = find_files(folder, &filter).map_err(|error| error.to_string())?;
    let found = json!({"count": files.len(), "files": files});
    Ok(Answer::text(found.to_string()))
}
