//! ReAct over the issues of a GitLab project. With `GITLAB_URL` (such as `https://gitlab.com`) it speaks to
//! GitLab's own MCP server (build with `--features rustls,auth`). That server wants an OAuth access token with
//! the scope `mcp`, which it gives to a program that a person has let in: the example registers itself, prints
//! the address to open in a browser, and waits. `GITLAB_TOKEN` is such a token that you have already. Without
//! the two variables, a stand-in answers over a handful of issues, with the names, the arguments and the form
//! of GitLab's.
//! Run it with `cargo run -p langgraph-mcp --example react_mcp_gitlab -- "Which bugs are open in group/app?"`.

mod local;

use std::error::Error;

use langgraph::message::Message;
use langgraph_agent::ToolDefinition;
use langgraph_mcp::{Http, McpClient};
#[cfg(feature = "auth")]
use langgraph_mcp::{McpError, SignIn};
use rmcp::model::JsonObject;
use serde_json::{Value, json};
use tokio::process::Command;

use local::{Answer, LocalTool, Rules, calls};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let question = match std::env::args().nth(1) {
        Some(argument) if argument == "--serve" => return local::serve_stdio(tools()).await,
        Some(question) => question,
        None => "Which bugs are open in group/app?".to_owned(),
    };
    let set = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
    let (gitlab, token) = (set("GITLAB_URL"), set("GITLAB_TOKEN"));
    let server = if gitlab.is_some() || token.is_some() {
        let gitlab = gitlab.unwrap_or_else(|| "https://gitlab.com".to_owned());
        let address = format!("{}/api/v4/mcp", gitlab.trim_end_matches('/'));
        let signed_in = match token {
            Some(token) => Http::new(address).bearer(token),
            None => sign_in(address).await?,
        };
        McpClient::connect(signed_in).await?
    } else {
        let mut itself = Command::new(std::env::current_exe()?);
        itself.arg("--serve");
        McpClient::connect(itself).await?
    };
    let model = local::model_or(Rules(reply))?;
    local::react(model, server.tools().await?, question).await
}

#[cfg(feature = "auth")]
async fn sign_in(address: String) -> Result<Http, McpError> {
    let sign_in = SignIn::new(address).scope("mcp");
    let open = |address: &str| eprintln!("open this address to let the program in: {address}");
    sign_in.run(open).await
}

#[cfg(not(feature = "auth"))]
#[allow(clippy::unused_async, reason = "with the feature `auth` it waits")]
async fn sign_in(_: String) -> Result<Http, Box<dyn Error>> {
    Err("signing in needs `--features auth`; or set `GITLAB_TOKEN`".into())
}

/// What is open, then the oldest of it in full, then the answer.
fn reply(conversation: &[Message], tools: &[ToolDefinition]) -> Message {
    let results = conversation.iter().filter_map(Message::tool_result);
    let results: Vec<_> = results.collect();
    if let Some(failed) = results.iter().find(|result| result.is_error()) {
        let text = failed.content.text();
        let first = text.lines().next().unwrap_or_default();
        return Message::assistant(format!("GitLab says: {first}"));
    }
    let results = results.iter();
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
            // Servers before GitLab 18.8 have it under its earlier name.
            let names = ["search", "gitlab_search"];
            let offered = |name: &&str| tools.iter().any(|tool| tool.name == **name);
            let Some(name) = names.into_iter().find(offered) else {
                return Message::assistant("This server has no search.");
            };
            let arguments = json!({
                "scope": "issues",
                "search": wanted(&question),
                "project_id": project,
                "state": "opened",
            });
            calls(conversation, name, arguments)
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

/// The word to search for: the last one before the project that is not about issues in general.
fn wanted(question: &str) -> String {
    const GENERAL: &[&str] = &[
        "which", "what", "is", "are", "open", "in", "the", "issues", "about",
    ];
    let words = question
        .split_whitespace()
        .take_while(|word| !word.contains('/'));
    let words = words.map(|word| word.trim_end_matches(['?', ',']).to_lowercase());
    let word = words
        .filter(|word| !GENERAL.contains(&&**word))
        .last()
        .unwrap_or_default();
    // A search for `bugs` would not find a bug.
    word.strip_suffix('s').unwrap_or(&word).to_owned()
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_default()
}

/// What the stand-in can do: two of GitLab's tools. As there, the text of an answer is the JSON of the
/// REST interface, and a list is also given as an object with its items.
fn tools() -> Vec<LocalTool> {
    let of_project =
        "Provide to search within a project. The ID or URL-encoded path of the project";
    vec![
        LocalTool {
            name: "search",
            description: "Search across GitLab with automatic selection of the best available search method.",
            parameters: json!({
                "type": "object",
                "properties": {
                    "scope": {"type": "string"},
                    "search": {"type": "string", "description": "The term to search for"},
                    "project_id": {"type": "string", "description": of_project},
                    "state": {"type": "string"},
                },
                "required": ["scope", "search"],
                "additionalProperties": false,
            }),
            run: |arguments| {
                let found: Vec<Value> = project(arguments, "project_id")?
                    .into_iter()
                    .filter(|issue| matches(issue, arguments))
                    .collect();
                let metadata = json!({"count": found.len(), "has_more": false});
                Ok(Answer {
                    text: json!(found).to_string(),
                    structured: Some(json!({"items": found, "metadata": metadata})),
                })
            },
        },
        LocalTool {
            name: "get_issue",
            description: "Get a single project issue.",
            parameters: json!({
                "type": "object",
                "properties": {
                    "id": {"type": "string", "description": "The ID or URL-encoded path of the project"},
                    "issue_iid": {"type": "integer", "description": "The internal ID of a project issue"},
                },
                "required": ["id", "issue_iid"],
                "additionalProperties": false,
            }),
            run: |arguments| {
                let wanted = &arguments.get("issue_iid").cloned().unwrap_or_default();
                let issues = project(arguments, "id")?;
                let found = issues.into_iter().find(|issue| issue["iid"] == *wanted);
                let issue = found.ok_or("404 Issue Not Found")?;
                Ok(Answer {
                    text: issue.to_string(),
                    structured: Some(issue),
                })
            },
        },
    ]
}

fn matches(issue: &Value, arguments: &JsonObject) -> bool {
    let wanted = |name: &str| arguments.get(name).and_then(Value::as_str);
    let state = wanted("state").is_none_or(|state| issue["state"] == state);
    let term = wanted("search").unwrap_or_default().to_lowercase();
    let found = |field: &str| text(issue, field).to_lowercase().contains(&term);
    state && (found("title") || found("description"))
}

/// The issues of the one project that there is.
fn project(arguments: &JsonObject, named: &str) -> Result<Vec<Value>, String> {
    match arguments.get(named).and_then(Value::as_str) {
        Some("group/app") => Ok(vec![
            json!({"iid": 3, "state": "opened", "labels": ["bug"], "title": "Crash on start",
                "description": "A bug: it ends at once when the folder is empty."}),
            json!({"iid": 5, "state": "opened", "labels": ["idea"], "title": "Dark mode",
                "description": "Easier on the eyes."}),
            json!({"iid": 6, "state": "closed", "labels": ["bug"], "title": "A bug in the title",
                "description": "It says teh."}),
            json!({"iid": 8, "state": "opened", "labels": ["bug"], "title": "Slow search",
                "description": "Ten seconds for a word is a bug."}),
        ]),
        _ => Err("404 Project Not Found".to_owned()),
    }
}
