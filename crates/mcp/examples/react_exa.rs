//! ReAct with a search of the web by Exa's MCP server, when `EXA_API_KEY` or `EXA_URL` is set (build with
//! `--features rustls`; the server at `https://mcp.exa.ai/mcp` also answers without a key, a few times).
//! Otherwise a server at an address of this machine searches the pages of this repository, and answers in
//! the same form.
//! Run it with `cargo run -p langgraph-mcp --example react_exa -- "how is a thread pruned"`.

mod local;

use std::error::Error;

use langgraph::message::Message;
use langgraph_agent::ToolDefinition;
use langgraph_mcp::{Http, McpClient};
use rmcp::model::JsonObject;
use serde_json::{Value, json};

use local::{Answer, LocalTool, Rules, calls};

/// Where Exa's server is.
const HOSTED: &str = "https://mcp.exa.ai/mcp";

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
    let set = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
    let server = match (set("EXA_URL"), set("EXA_API_KEY")) {
        (None, None) => Http::new(local::serve_http(vec![search()]).await?),
        (url, key) => {
            let server = Http::new(url.unwrap_or_else(|| HOSTED.to_owned()));
            // In a header: addresses end up in logs.
            key.into_iter()
                .fold(server, |server, key| server.header("x-api-key", key))
        }
    };
    let client = McpClient::connect(server).await?;
    let model = local::model_or(Rules(reply))?;
    local::react(model, client.tools().await?, question).await
}

/// Searches for the question, and answers with the best that was found.
fn reply(conversation: &[Message], _: &[ToolDefinition]) -> Message {
    let Some(found) = conversation.iter().rev().find_map(Message::tool_result) else {
        let question = conversation.iter().find(|message| message.is_user());
        let question = question.map(Message::text).unwrap_or_default();
        return calls(
            conversation,
            SEARCH,
            json!({"query": question, "numResults": 3}),
        );
    };
    let text = found.content.text();
    if found.is_error() {
        return Message::assistant(format!("The search did not work: {text}"));
    }
    // Exa answers in plain text, one block of lines for each page.
    match (line(&text, "Title: "), line(&text, "URL: ")) {
        (Some(title), Some(url)) => {
            Message::assistant(format!("See \u{201c}{title}\u{201d} in {url}."))
        }
        _ => Message::assistant("Nothing was found."),
    }
}

/// The rest of the first line that begins so.
fn line<'a>(text: &'a str, begins: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.strip_prefix(begins))
}

/// The stand-in's one tool, with the name, the arguments and the answers of Exa's.
fn search() -> LocalTool {
    LocalTool {
        name: SEARCH,
        description: "Search the web for any topic and get clean, ready-to-use content.",
        parameters: json!({
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": "Natural language search query."},
                "numResults": {
                    "type": "number",
                    "description": "Number of search results to return (default: 10).",
                },
            },
            "required": ["query"],
        }),
        run: find,
    }
}

fn find(arguments: &JsonObject) -> Result<Answer, String> {
    let query = arguments.get("query").and_then(Value::as_str);
    let query = query.ok_or("`query` is missing")?.to_lowercase();
    let words: Vec<_> = query.split(|c: char| !c.is_alphanumeric()).collect();
    let words: Vec<_> = words.into_iter().filter(|word| word.len() > 3).collect();
    let wanted = arguments.get("numResults").and_then(Value::as_u64);
    let mut found: Vec<_> = PAGES
        .iter()
        .flat_map(|page| sections(page, &words))
        .collect();
    // The best first, and among equals as they stand.
    found.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    let results = found.into_iter().map(|(_, section)| section);
    let results: Vec<_> = results
        .take(usize::try_from(wanted.unwrap_or(10)).unwrap_or(usize::MAX))
        .collect();
    Ok(Answer::text(if results.is_empty() {
        "No search results found. Please try a different query.".to_owned()
    } else {
        results.join("\n\n---\n\n")
    }))
}

/// The sections of a page that have some of the words, and how many.
fn sections<'a>(
    &(url, page): &'a (&str, &str),
    words: &'a [&str],
) -> impl Iterator<Item = (usize, String)> + 'a {
    page.split("\n#").filter_map(move |section| {
        let (title, text) = section.split_once('\n')?;
        let title = title.trim_start_matches(['#', ' ']);
        let (heading, body) = (title.to_lowercase(), text.to_lowercase());
        let score = words.iter().map(|word| {
            // What a section is called says more than what it mentions.
            3 * usize::from(heading.contains(word)) + usize::from(body.contains(word))
        });
        let score: usize = score.sum();
        let block = || {
            format!("Title: {title}\nURL: {url}\nPublished: N/A\nAuthor: N/A\nHighlights:\n{text}")
        };
        (score > 0).then(|| (score, block()))
    })
}
