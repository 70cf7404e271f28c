//! ReAct with a search of the web: Exa's MCP server when `EXA_API_KEY` is set (build with
//! `--features rustls`), and otherwise a server at an address of this machine that searches the pages
//! of this repository.
//! Run it with `cargo run -p langgraph-mcp --example react_exa -- "how is a thread pruned"`.

mod local;

use std::error::Error;

use langgraph::message::Message;
use langgraph_mcp::{Http, McpClient};
use rmcp::model::JsonObject;
use serde_json::{Value, json};

use local::{LocalTool, Rules, calls};

/// The tool, as Exa calls it.
const SEARCH: &str = "web_search_exa";

/// What the stand-in searches.
const PAGES: &[(&str, &str)] = &[
    ("README.md", include_str!("../../../README.md")),
    ("docs/errors.md", include_str!("../../../docs/errors.md")),
    (
        "docs/from-python.md",
        include_str!("../../../docs/from-python.md"),
    ),
    (
        "docs/how-graph-reads.md",
        include_str!("../../../docs/how-graph-reads.md"),
    ),
    (
        "docs/performance.md",
        include_str!("../../../docs/performance.md"),
    ),
    (
        "docs/persistence.md",
        include_str!("../../../docs/persistence.md"),
    ),
];

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let question = std::env::args().nth(1);
    let question = question.unwrap_or_else(|| "how is a thread pruned".to_owned());
    let address = match std::env::var("EXA_API_KEY") {
        Ok(key) if !key.is_empty() => format!("https://mcp.exa.ai/mcp?exaApiKey={key}"),
        _ => local::serve_http(vec![search()]).await?,
    };
    let server = McpClient::connect(Http::new(address)).await?;
    let model = local::model_or(Rules(reply))?;
    local::react(model, server.tools().await?, question).await
}

/// Searches for the question, and answers with the best that was found.
fn reply(conversation: &[Message]) -> Message {
    let Some(found) = conversation.iter().rev().find_map(Message::tool_result) else {
        let question = conversation.iter().find(|message| message.is_user());
        let question = question.map(Message::text).unwrap_or_default();
        return calls(
            conversation,
            SEARCH,
            json!({"query": question, "numResults": 3}),
        );
    };
    let found: Value = serde_json::from_str(&found.content.text()).unwrap_or_default();
    let best = &found["results"][0];
    match (best["title"].as_str(), best["url"].as_str()) {
        (Some(title), Some(url)) => {
            Message::assistant(format!("See \u{201c}{title}\u{201d} in {url}."))
        }
        _ => Message::assistant("Nothing was found."),
    }
}

/// The stand-in's one tool.
fn search() -> LocalTool {
    LocalTool {
        name: SEARCH,
        description: "Searches the web.",
        parameters: json!({
            "type": "object",
            "properties": {"query": {"type": "string"}, "numResults": {"type": "integer"}},
            "required": ["query"],
        }),
        run: find,
    }
}

fn find(arguments: &JsonObject) -> Result<String, String> {
    let query = arguments.get("query").and_then(Value::as_str);
    let query = query.ok_or("`query` is missing")?.to_lowercase();
    let words: Vec<_> = query.split(|c: char| !c.is_alphanumeric()).collect();
    let words: Vec<_> = words.into_iter().filter(|word| word.len() > 3).collect();
    let wanted = arguments
        .get("numResults")
        .and_then(Value::as_u64)
        .unwrap_or(5);
    let mut found: Vec<_> = PAGES
        .iter()
        .flat_map(|page| sections(page, &words))
        .collect();
    // The best first, and among equals as they stand.
    found.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    let results = found.into_iter().map(|(_, section)| section);
    let results: Vec<_> = results
        .take(usize::try_from(wanted).unwrap_or(usize::MAX))
        .collect();
    Ok(json!({"results": results}).to_string())
}

/// The sections of a page that have some of the words, and how many.
fn sections<'a>(
    &(url, page): &'a (&str, &str),
    words: &'a [&str],
) -> impl Iterator<Item = (usize, Value)> + 'a {
    page.split("\n#").filter_map(move |section| {
        let (title, text) = section.split_once('\n')?;
        let title = title.trim_start_matches(['#', ' ']);
        let (heading, body) = (title.to_lowercase(), text.to_lowercase());
        let score = words.iter().map(|word| {
            // What a section is called says more than what it mentions.
            3 * usize::from(heading.contains(word)) + usize::from(body.contains(word))
        });
        let score: usize = score.sum();
        (score > 0).then(|| (score, json!({"title": title, "url": url, "text": text})))
    })
}
