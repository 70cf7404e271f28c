//! A research agent: it plans, hands questions to sub-agents that work in parallel, and writes a report from
//! the files that they leave. Run it with `cargo run --example research_agent`.

use langgraph::message::ToolCall;
use langgraph_agent::{FnTool, MessagesStateUpdate, ScriptedModel, Turn};
use langgraph_deep::{DeepAgent, FILES, StateFiles, deep_agent};
use langgraph_examples::show;
use langgraph_middleware::TODOS;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize, JsonSchema)]
struct Search {
    /// What to look for.
    query: String,
}

/// What the tool finds, in the place of a search engine.
fn found(query: &str) -> &'static str {
    match query {
        "caffeine of green tea" => "A cup of green tea has 20 to 45 mg of caffeine.",
        "caffeine of coffee" => "A cup of coffee has 80 to 120 mg of caffeine.",
        _ => "Nothing was found.",
    }
}

fn call(id: &str, name: &str, arguments: Value) -> ToolCall {
    ToolCall::new(id, name, arguments)
}

/// A sub-agent that searches once, keeps what it finds in a file, and names the file.
fn searcher(drink: &str) -> DeepAgent {
    let query = format!("caffeine of {drink}");
    let path = format!("/notes/{}.md", drink.replace(' ', "-"));
    let note = json!({"path": path, "content": found(&query)});
    let model = ScriptedModel::new([
        Turn::tool_calls([call("s", "search", json!({"query": query}))]),
        Turn::tool_calls([call("w", "write_file", note)]),
        Turn::text(format!("What I found is in {path}.")),
    ]);
    let search = FnTool::new(
        "search",
        "Searches the web.",
        |Search { query }: Search| async move { found(&query) },
    );
    deep_agent(model).tools((search,)).skills(["/skills"])
}

/// A script in the place of a model.
fn model() -> ScriptedModel {
    let plan = |status: &str| {
        let todos = json!({"todos": [
            {"content": "search for both drinks", "status": status},
            {"content": "write the report", "status": status},
        ]});
        call("plan", "write_todos", todos)
    };
    let task = |id, agent| {
        let description = "How much caffeine does a cup have? Keep it in a file.";
        call(
            id,
            "task",
            json!({"agent": agent, "description": description}),
        )
    };
    let report = json!({
        "path": "/report.md",
        "content": "Coffee has about three times the caffeine of green tea.",
    });
    ScriptedModel::new([
        Turn::tool_calls([plan("pending")]),
        Turn::tool_calls([task("t1", "tea-searcher"), task("t2", "coffee-searcher")]),
        Turn::tool_calls([call(
            "g",
            "grep",
            json!({"pattern": "mg", "path": "/notes"}),
        )]),
        Turn::tool_calls([call("r", "write_file", report), plan("completed")]),
        Turn::text("The report is in /report.md."),
    ])
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let agent = deep_agent(model())
        .name("research_agent")
        .prompt("You write short reports from what others find.")
        .no_general_purpose()
        .subagent(
            "tea-searcher",
            "Knows where to look for tea.",
            searcher("green tea"),
        )
        .subagent(
            "coffee-searcher",
            "Knows where to look for coffee.",
            searcher("coffee"),
        )
        .compile()?;
    if show::graph(agent.topology()) {
        return Ok(());
    }
    let skill =
        "---\nname: cite\ndescription: How to name a source.\n---\n\nName the page and the day.\n";
    let files = StateFiles::update([("/skills/cite/SKILL.md", skill)]);
    let question = MessagesStateUpdate::user("Tea or coffee?").middleware(files);
    let state = agent.invoke(question).await?;
    for message in &state.messages {
        for call in message.tool_calls() {
            println!("-> {} {}", call.name, call.arguments_text());
        }
        if !message.text().is_empty() {
            println!("{}: {}", message.role(), message.text());
        }
    }
    for todo in TODOS.read(&state.middleware)? {
        println!("{:?}: {}", todo.status, todo.content);
    }
    for (path, text) in FILES.read(&state.middleware)? {
        println!("{path}: {} bytes", text.len());
    }
    Ok(())
}
