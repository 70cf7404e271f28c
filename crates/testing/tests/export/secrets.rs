//! Secrets do not get into the files of an exported thread.

use std::sync::Arc;

use langgraph::checkpoint::MemorySaver;
use langgraph::message::ToolCall;
use langgraph::prelude::*;
use langgraph_agent::{FnTool, MessagesStateUpdate, ScriptedModel, Turn, react_agent};
use langgraph_testing::{ExportedThread, export};
use serde_json::json;

/// Texts with a secret of a known form, and the secret.
const KNOWN: [(&str, &str); 11] = [
    (
        "key sk-proj-abcdefGHIJKL0123456789",
        "abcdefGHIJKL0123456789",
    ),
    ("sk_live_abcdefGHIJKL0123456789", "abcdefGHIJKL0123456789"),
    ("ghp_abcdefGHIJKL0123456789abcd", "abcdefGHIJKL0123456789"),
    (
        "github_pat_abcdefGHIJKL0123456789",
        "abcdefGHIJKL0123456789",
    ),
    ("glpat-abcdefGHIJKL0123", "abcdefGHIJKL0123"),
    ("xoxb-123456789012-abcdef", "123456789012-abcdef"),
    ("AKIAABCDEFGHIJKLMNOP", "ABCDEFGHIJKLMNOP"),
    (
        "eyJhbGciOiJIUzI1.eyJzdWIiOiIxMjM0.SflKxwRJ",
        "eyJzdWIiOiIxMjM0",
    ),
    (
        "Authorization: Bearer abcdefGHIJKL0123456789",
        "abcdefGHIJKL0123456789",
    ),
    ("postgres://ada:swordfish@db.example/x", "swordfish"),
    (
        "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----",
        "MIIEow",
    ),
];

fn desk(model: ScriptedModel) -> CompiledStateGraph<langgraph_agent::MessagesState> {
    let login = FnTool::new("login", "Logs in.", || async { "logged in with hunter2" });
    react_agent(model, (login,))
        .prompt("Help.")
        .compile()
        .unwrap()
}

#[tokio::test]
async fn keys_tokens_passwords_and_named_texts_are_taken_out_and_the_test_still_passes() {
    let said: Vec<_> = KNOWN.iter().map(|(text, _)| *text).collect();
    let said = format!("I am Ada Lovelace. {}", said.join(" and "));
    let call = ToolCall::new("c1", "login", json!({"Api-Key": "hunter2"}));
    let model = ScriptedModel::new([Turn::tool_calls([call]), Turn::text("Hello Ada Lovelace.")]);
    let saver = Arc::new(MemorySaver::new());
    let thread = desk(model).checkpointer(saver.clone()).thread("t");
    let run = thread.run(MessagesStateUpdate::user(said));
    run.metadata("caller", json!({"password": "correct horse"}))
        .await
        .unwrap();

    let graph = desk(ScriptedModel::new(Vec::<Turn>::new()));
    let exported = export(saver, &graph, "t")
        .secret("Ada")
        .secret("Ada Lovelace")
        .await
        .unwrap();
    let files = [&exported.thread, &exported.cassette, &exported.test].map(String::as_str);
    for secret in KNOWN.iter().map(|(_, secret)| *secret).chain([
        "hunter2",
        "correct horse",
        "Ada",
        "Lovelace",
    ]) {
        assert!(
            files.iter().all(|file| !file.contains(secret)),
            "{secret} is in a file"
        );
    }
    assert!(
        exported.thread.contains("ada:[secret]@db.example"),
        "{}",
        exported.thread
    );
    assert!(
        exported.cassette.contains("I am [secret]."),
        "{}",
        exported.cassette
    );

    let thread = ExportedThread::parse(&exported.thread, &exported.cassette)
        .await
        .unwrap();
    let report = thread.replay(&graph).await.unwrap();
    thread.check(&report).unwrap();
}

#[tokio::test]
async fn what_only_looks_like_a_secret_stays() {
    let said =
        "The bearer of this letter, sk-learn, https://example.com/a@b, 12:30@noon, tokens: 7";
    let saver = Arc::new(MemorySaver::new());
    let graph = desk(ScriptedModel::new(["I see."]));
    let thread = graph.checkpointer(saver.clone()).thread("t");
    thread.run(MessagesStateUpdate::user(said)).await.unwrap();
    let graph = desk(ScriptedModel::new(Vec::<Turn>::new()));
    let exported = export(saver, &graph, "t").await.unwrap();
    assert!(exported.thread.contains(said), "{}", exported.thread);
}
