//! A research agent: it plans, hands questions to sub-agents that work in parallel, and writes a report from
//! the files that they leave. Run it with `cargo run --example research_agent`.

use langgraph::graph::CompiledStateGraph;
use langgraph::message::ToolCall;
use langgraph_agent::{FnTool, MessagesState, MessagesStateUpdate, ModelError, Turn};
use langgraph_deep::{DeepAgent, FILES, StateFiles, deep_agent};
use langgraph_examples::{script, show};
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
fn searcher(drink: &str) -> Result<DeepAgent, ModelError> {
    let query = format!("caffeine of {drink}");
    let path = format!("/notes/{}.md", drink.replace(' ', "-"));
    let model = script::model(move |_| {
        let note = json!({"content": found(&query), "path": path});
        vec![
            Turn::tool_calls([call(
                &format!("search-{query}"),
                "search",
                json!({"query": query}),
            )]),
            Turn::tool_calls([call(&format!("write-{path}"), "write_file", note)]),
            Turn::text(format!("What I found is in {path}.")),
        ]
    })?;
    let search = FnTool::new(
        "search",
        "Searches the web.",
        |Search { query }: Search| async move { found(&query) },
    );
    Ok(deep_agent(model).tools((search,)).skills(["/skills"]))
}

/// A script in the place of a model.
fn turns() -> Vec<Turn> {
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
        "content": "Coffee has about three times the caffeine of green tea.",
        "path": "/report.md",
    });
    vec![
        Turn::tool_calls([plan("pending")]),
        Turn::tool_calls([task("t1", "tea-searcher"), task("t2", "coffee-searcher")]),
        Turn::tool_calls([call(
            "g",
            "grep",
            json!({"path": "/notes", "pattern": "mg"}),
        )]),
        Turn::tool_calls([call("r", "write_file", report), plan("completed")]),
        Turn::text("The report is in /report.md."),
    ]
}

pub(crate) fn agent() -> Result<CompiledStateGraph<MessagesState>, Box<dyn std::error::Error>> {
    Ok(deep_agent(script::model(|_| turns())?)
        .name("research_agent")
        .prompt("You write short reports from what others find.")
        .no_general_purpose()
        .subagent(
            "tea-searcher",
            "Knows where to look for tea.",
            searcher("green tea")?,
        )
        .subagent(
            "coffee-searcher",
            "Knows where to look for coffee.",
            searcher("coffee")?,
        )
        .compile()?)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let agent = agent()?;
    if show::graph(agent.topology()) {
        return Ok(());
    }
    let skill =
        "---\nname: cite\ndescription: How to name a source.\n---\n\nName the page and the day.\n";
    let files = StateFiles::update([("/skills/cite/SKILL.md", skill)]);
    let question = MessagesStateUpdate::user("Tea or coffee?").middleware(files);
    let state = show::run(agent.run(question)).await?;
    for todo in TODOS.read(&state.middleware)? {
        println!("{:?}: {}", todo.status, todo.content);
    }
    for (path, text) in FILES.read(&state.middleware)? {
        println!("{path}: {} bytes", text.len());
    }
    Ok(())
}
