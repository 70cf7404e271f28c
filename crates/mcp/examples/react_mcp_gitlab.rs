//! ReAct over the issues of a GitLab project. With `GITLAB_TOKEN` it speaks to GitLab's own MCP
//! server (of `GITLAB_URL`, or gitlab.com; build with `--features rustls`); unless that is set, to a
//! stand-in with two tools of the same names over a handful of issues.
//! Run it with `cargo run -p langgraph-mcp --example react_mcp_gitlab -- "Which bugs are open in group/app?"`.

mod local;

use std::error::Error;

use langgraph::message::Message;
use langgraph_mcp::{Http, McpClient};
use rmcp::model::JsonObject;
use serde_json::{Value, json};
use tokio::process::Command;

use local::{LocalTool, Rules, calls};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let question = match std::env::args().nth(1) {
        Some(argument) if argument == "--serve" => return local::serve_stdio(tools()).await,
        Some(question) => question,
        None => "Which bugs are open in group/app?".to_owned(),
    };
    let set = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
    let server = if let Some(token) = set("GITLAB_TOKEN") {
        let gitlab = set("GITLAB_URL").unwrap_or_else(|| "https://gitlab.com".to_owned());
        let address = format!("{}/api/v4/mcp", gitlab.trim_end_matches('/'));
        McpClient::connect(Http::new(address).bearer(token)).await?
    } else {
        let mut itself = Command::new(std::env::current_exe()?);
        itself.arg("--serve");
        McpClient::connect(itself).await?
    };
    let model = local::model_or(Rules(reply))?;
    local::react(model, server.tools().await?, question).await
}

/// What is open, then the oldest of it in full, then the answer.
fn reply(conversation: &[Message]) -> Message {
    let results = conversation.iter().filter_map(Message::tool_result);
    let results: Vec<Value> = results
        .map(|result| serde_json::from_str(&result.content.text()).unwrap_or_default())
        .collect();
    let question = conversation.iter().find(|message| message.is_user());
    let question = question.map(Message::text).unwrap_or_default();
    let project = question.split_whitespace().find(|word| word.contains('/'));
    let project = project
        .unwrap_or("group/app")
        .trim_end_matches(['?', '.', ',']);
    match &*results {
        [] => {
            let label = question.to_lowercase().contains("bug").then_some("bug");
            let arguments = json!({"id": project, "state": "opened", "labels": label});
            calls(conversation, "list_issues", arguments)
        }
        [Value::Array(issues)] if !issues.is_empty() => {
            let oldest = issues.iter().min_by_key(|issue| issue["iid"].as_u64());
            let arguments = json!({"id": project, "issue_iid": oldest.map(|issue| &issue["iid"])});
            calls(conversation, "get_issue", arguments)
        }
        [Value::Array(issues), oldest] => Message::assistant(format!(
            "{} open in {project}; the oldest is #{}, {}: {}",
            issues.len(),
            oldest["iid"],
            text(oldest, "title"),
            text(oldest, "description"),
        )),
        _ => Message::assistant(format!("Nothing is open in {project}.")),
    }
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_default()
}

/// What the stand-in can do.
fn tools() -> Vec<LocalTool> {
    let id = json!({"type": "string", "description": "The project, such as `group/app`."});
    vec![
        LocalTool {
            name: "list_issues",
            description: "Lists the issues of a project.",
            parameters: json!({
                "type": "object",
                "properties": {
                    "id": id,
                    "state": {"enum": ["opened", "closed"]},
                    "labels": {"type": ["string", "null"]},
                },
                "required": ["id"],
            }),
            run: |arguments| {
                let found: Vec<Value> = project(arguments)?
                    .into_iter()
                    .filter(|issue| matches(issue, arguments))
                    .map(|issue| json!({"iid": issue["iid"], "title": issue["title"]}))
                    .collect();
                Ok(Value::Array(found).to_string())
            },
        },
        LocalTool {
            name: "get_issue",
            description: "Shows an issue in full.",
            parameters: json!({
                "type": "object",
                "properties": {"id": id, "issue_iid": {"type": "integer"}},
                "required": ["id", "issue_iid"],
            }),
            run: |arguments| {
                let wanted = &arguments.get("issue_iid").cloned().unwrap_or_default();
                let issues = project(arguments)?;
                let found = issues.into_iter().find(|issue| issue["iid"] == *wanted);
                let issue = found.ok_or_else(|| format!("404 Issue {wanted} Not Found"))?;
                Ok(issue.to_string())
            },
        },
    ]
}

fn matches(issue: &Value, arguments: &JsonObject) -> bool {
    let wanted = |name: &str| arguments.get(name).and_then(Value::as_str);
    let state = wanted("state").is_none_or(|state| issue["state"] == state);
    let label = wanted("labels").is_none_or(|label| issue["labels"] == json!([label]));
    state && label
}

/// The issues of the one project that there is.
fn project(arguments: &JsonObject) -> Result<Vec<Value>, String> {
    match arguments.get("id").and_then(Value::as_str) {
        Some("group/app") => Ok(vec![
            json!({"iid": 3, "state": "opened", "labels": ["bug"], "title": "Crash on start",
                "description": "It ends at once when the folder is empty."}),
            json!({"iid": 5, "state": "opened", "labels": ["idea"], "title": "Dark mode",
                "description": "Easier on the eyes."}),
            json!({"iid": 6, "state": "closed", "labels": ["bug"], "title": "Typo",
                "description": "In the title."}),
            json!({"iid": 8, "state": "opened", "labels": ["bug"], "title": "Slow search",
                "description": "Ten seconds for a word."}),
        ]),
        other => Err(format!("404 Project {} Not Found", other.unwrap_or("?"))),
    }
}
