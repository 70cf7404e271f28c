//! Secrets do not get into the files of an exported thread.

use std::collections::BTreeMap;
use std::sync::Arc;

use langgraph::checkpoint::MemorySaver;
use langgraph::message::ToolCall;
use langgraph::prelude::*;
use langgraph_agent::{FnTool, MessagesStateUpdate, ScriptedModel, Turn, react_agent};
use langgraph_testing::{Exported, ExportedThread, Mistake, export};
use serde::{Deserialize, Serialize};
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
        exported.thread.contains("ada:[secret-") && exported.thread.contains("]@db.example"),
        "{}",
        exported.thread
    );
    assert!(
        exported.cassette.contains("I am [secret"),
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

/// Checks that none of these texts is in the files or in their names.
fn assert_without(exported: &Exported, secrets: &[&str]) {
    for (name, content) in exported.files() {
        for secret in secrets {
            assert!(!name.contains(&secret.to_lowercase()), "{secret}: {name}");
            assert!(!content.contains(secret), "{secret}: {content}");
        }
    }
}

/// Runs the test with a graph.
async fn check<S>(exported: &Exported, graph: &CompiledStateGraph<S>) -> Result<(), String>
where
    S: State,
    S::Update: Serialize + serde::de::DeserializeOwned,
{
    let thread = ExportedThread::parse(&exported.thread, &exported.cassette);
    let thread = thread.await.unwrap();
    let report = thread.replay(graph).await.unwrap();
    thread.check(&report).map_err(|error| error.to_string())
}

type Prices = BTreeMap<String, i64>;

#[allow(clippy::needless_pass_by_value)] // the form of a reducer
fn added(mut old: Prices, new: Prices) -> Prices {
    for (buyer, price) in new {
        *old.entry(buyer).or_default() += price;
    }
    old
}

/// What persons have bought, under their names.
#[derive(State, Clone, Debug, Default, Serialize, Deserialize)]
struct Sales {
    buyer: String,
    #[reducer(added)]
    prices: Prices,
    #[reducer(append)]
    bills: Vec<String>,
}

fn sales(percent: i64) -> CompiledStateGraph<Sales> {
    let mut graph = StateGraph::<Sales>::new();
    graph
        .add_node("sell", |sales: &Sales| {
            let price = 10 * (1 + i64::try_from(sales.bills.len()).unwrap());
            let sold = [(sales.buyer.clone(), price), ("all".to_owned(), price)];
            SalesUpdate::default().prices(sold.into_iter().collect())
        })
        .add_node("bill", move |sales: &Sales, cx: &Context| {
            let price = sales.prices[&sales.buyer] * percent / 100;
            let thread = cx.thread_id().unwrap_or_default();
            let bill = format!("{thread}: {} pays {price}", sales.buyer);
            SalesUpdate::default().bills(vec![bill])
        })
        .add_sequence(&["sell", "bill"]);
    graph.compile().unwrap()
}

#[tokio::test]
async fn secrets_are_taken_out_of_keys_and_of_the_threads_id_and_stay_different() {
    let token = "ghp_abcdefGHIJKL0123456789abcd";
    let thread = "sales to Ada Lovelace";
    let saver = Arc::new(MemorySaver::new());
    let graph = sales(100);
    let sold = graph.clone().checkpointer(saver.clone()).thread(thread);
    // The keys come in another order than those of the maps.
    for buyer in [token, "Bob", "Ada Lovelace", "Bob", token] {
        let update = SalesUpdate::default().buyer(buyer.to_owned());
        sold.run(update).await.unwrap();
    }
    let exported = || {
        let exported = export(saver.clone(), &graph, thread);
        exported.secret("Ada Lovelace").secret("Bob").secret("bill")
    };
    let right = exported().await.unwrap();
    assert_without(
        &right,
        &["Ada", "Lovelace", "Bob", "abcdefGHIJKL0123456789"],
    );
    assert_eq!(right.name, "thread_sales_to_secret");
    let json: serde_json::Value = serde_json::from_str(&right.thread).unwrap();
    let prices = json["state"]["prices"].as_object().unwrap();
    let mut of_each: Vec<_> = prices
        .values()
        .filter_map(serde_json::Value::as_i64)
        .collect();
    of_each.sort_unstable();
    assert_eq!(of_each, [30, 60, 60, 150]);

    check(&right, &sales(100)).await.unwrap();
    check(&right, &sales(90)).await.unwrap_err();

    let should = format!("{thread}: {token} pays 9");
    let mistake = Mistake::at(2, "bill").expected("bills", json!([should]));
    let wrong = exported().mistake(mistake).await.unwrap();
    assert_without(
        &wrong,
        &["Ada", "Lovelace", "Bob", "abcdefGHIJKL0123456789"],
    );
    check(&wrong, &sales(100)).await.unwrap_err();
    check(&wrong, &sales(80)).await.unwrap_err();
    check(&wrong, &sales(90)).await.unwrap();
}

#[tokio::test]
async fn what_the_code_puts_into_a_request_is_taken_out_and_still_compared() {
    let graph = |answers: &[&str], prompt: &str| {
        let model = ScriptedModel::new(answers.iter().copied());
        let agent = react_agent(model, ()).prompt(prompt);
        agent.compile().unwrap()
    };
    let saver = Arc::new(MemorySaver::new());
    let prompt = "You help Ada Lovelace.";
    let thread = graph(&["Hello."], prompt);
    let thread = thread.checkpointer(saver.clone()).thread("t");
    thread.run(MessagesStateUpdate::user("Hi!")).await.unwrap();

    let today = graph(&[], prompt);
    let exported = export(saver, &today, "t").secret("Ada Lovelace");
    let exported = exported.await.unwrap();
    assert_without(&exported, &["Ada", "Lovelace"]);
    check(&exported, &today).await.unwrap();
    let changed = check(&exported, &graph(&[], "You help Bob.")).await;
    assert!(changed.unwrap_err().contains("request"));
}
