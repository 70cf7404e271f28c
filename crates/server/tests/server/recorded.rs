//! Exchanges of LangGraph's clients with the reference server, sent to ours: what comes back is the
//! same, except for what `recorded/differences.txt` lists with reasons.

mod graphs;
mod replay;
mod shape;
use crate::support::Api;
use langgraph_server::Server;
use replay::{Exchange, Ids, replay};

const LIST: &str = include_str!("recorded/differences.txt");

/// Returns true if a line fits a pattern, in which `*` is any text.
fn fits(pattern: &str, line: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = line.strip_prefix(parts.next().unwrap_or_default()) else {
        return false;
    };
    let mut last = None;
    for part in parts {
        let Some(at) = rest.find(part) else {
            return false;
        };
        rest = &rest[at + part.len()..];
        last = Some(part);
    }
    rest.is_empty() || last.is_some_and(|last| last.is_empty() || line.ends_with(last))
}

async fn replay_all(name: &str, recorded: &str, server: Server) -> Vec<String> {
    let api = Api::serve(server).await;
    let mut ids = Ids::default();
    let mut found = Vec::new();
    for (number, line) in recorded.lines().enumerate() {
        let exchange: Exchange = serde_json::from_str(line).unwrap();
        for line in replay(&api, &exchange, &mut ids).await {
            found.push(format!("{name} {number} {line}"));
        }
    }
    found
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn l1_recorded_exchanges_have_the_same_answers_here() {
    let (python, js, protocol, one, two) = tokio::join!(
        replay_all(
            "python_sdk",
            include_str!("recorded/python_sdk.jsonl"),
            graphs::first()
        ),
        replay_all(
            "js_sdk",
            include_str!("recorded/js_sdk.jsonl"),
            graphs::first()
        ),
        replay_all(
            "python_protocol",
            include_str!("recorded/python_protocol.jsonl"),
            graphs::first()
        ),
        replay_all("raw_1", include_str!("recorded/raw_1.jsonl"), graphs::raw()),
        replay_all("raw_2", include_str!("recorded/raw_2.jsonl"), graphs::raw()),
    );
    let found = [python, js, protocol, one, two].concat();
    let listed = LIST.lines().map(str::trim);
    let listed: Vec<&str> = listed
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .collect();
    // A `?` marks one that depends on what comes first.
    let always = |pattern: &str| !pattern.starts_with('?');
    let plain = |pattern: &'static str| pattern.trim_start_matches(['?', ' ']);
    let new: Vec<&String> = found
        .iter()
        .filter(|line| !listed.iter().any(|pattern| fits(plain(pattern), line)))
        .collect();
    let gone: Vec<&&str> = listed
        .iter()
        .filter(|pattern| always(pattern) && !found.iter().any(|line| fits(pattern, line)))
        .collect();
    if let Ok(file) = std::env::var("RECORDED_DIFFERENCES") {
        std::fs::write(file, found.join("\n")).unwrap();
    }
    assert!(
        new.is_empty() && gone.is_empty(),
        "{} differences are not listed:\n{new:#?}\nlisted, and no longer there:\n{gone:#?}",
        new.len(),
    );
}
