//! A run that resumes a thread and is rolled back leaves the thread as it was before.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use crate::support::Api;
use langgraph::State;
use langgraph::error::NodeError;
use langgraph::graph::{END, START, StateGraph};
use langgraph::node::Context;
use langgraph_server::Server;
use reqwest::Method;
use serde_json::{Value, json};

#[derive(State, Clone, Debug, Default)]
struct Order {
    #[reducer(append)]
    log: Vec<String>,
    #[reducer(|_, newest| newest)]
    slow: bool,
}

fn logged(text: impl Into<String>) -> OrderUpdate {
    OrderUpdate::default().log(vec![text.into()])
}

type Asked = Result<OrderUpdate, NodeError>;

/// Counts the work that is done beside questions.
type Work = Arc<AtomicU32>;

fn works(work: &Work, text: &'static str) -> impl Fn(&Order) -> OrderUpdate + Clone + use<> {
    let work = Arc::clone(work);
    move |_: &Order| {
        work.fetch_add(1, Ordering::Relaxed);
        logged(text)
    }
}

/// A graph of which one task finishes beside one that asks, and one whose subgraph asks. The next may be slow.
fn order(work: &Work) -> StateGraph<Order> {
    let mut gift = StateGraph::<Order>::new();
    gift.add_node("wrap", works(work, "wrapped"))
        .add_node("gift", |_: &Order, cx: &Context| -> Asked {
            Ok(logged(cx.interrupt::<String>("gift", "A gift?")?))
        })
        .add_sequence(&["wrap", "gift"]);
    let mut graph = StateGraph::<Order>::new();
    graph
        .add_node("charge", works(work, "charged"))
        .add_node("ask", |_: &Order, cx: &Context| -> Asked {
            Ok(logged(cx.interrupt::<String>("ship", "Ship?")?))
        })
        .add_node("gift", gift.compile().unwrap())
        .add_node("ship", ship)
        .add_edge(START, "charge")
        .add_edge(START, "ask")
        .add_edge(START, "gift")
        .add_edge(["charge", "ask", "gift"], "ship")
        .add_edge("ship", END);
    graph
}

/// A graph whose only task of a superstep asks twice.
fn twice() -> StateGraph<Order> {
    let mut graph = StateGraph::<Order>::new();
    graph
        .add_node("begin", |_: &Order| logged("begun"))
        .add_node("ask", |_: &Order, cx: &Context| -> Asked {
            let first = cx.interrupt::<String>("first", "First?")?;
            let second = cx.interrupt::<String>("second", "Second?")?;
            Ok(logged(first + &second))
        })
        .add_node("ship", ship)
        .add_sequence(&["begin", "ask", "ship"]);
    graph
}

/// A graph that asks nothing.
fn plain() -> StateGraph<Order> {
    let mut graph = StateGraph::<Order>::new();
    graph
        .add_node("begin", |_: &Order| logged("begun"))
        .add_node("ship", ship)
        .add_sequence(&["begin", "ship"]);
    graph
}

async fn ship(order: &Order, _: &Context) -> OrderUpdate {
    if order.slow {
        tokio::time::sleep(Duration::from_secs(600)).await;
    }
    logged("shipped")
}

async fn api(folder: &tempfile::TempDir, work: &Work) -> Api {
    let server = Server::new().file(folder.path().join("threads.db"));
    let server = server.graph("order", order(work).compile().unwrap());
    let server = server.graph("plain", plain().compile().unwrap());
    Api::serve(server.graph("twice", twice().compile().unwrap())).await
}

/// Returns what clients see of a thread, but for when it was changed.
async fn seen(api: &Api, thread: &str) -> Value {
    let mut row = api.get(&format!("/threads/{thread}")).await;
    for time in ["updated_at", "state_updated_at"] {
        row[time] = Value::Null;
    }
    let state = api.get(&format!("/threads/{thread}/state")).await;
    let path = format!("/threads/{thread}/history");
    let history = api.post(&path, json!({})).await;
    json!({"row": row, "state": state, "history": history})
}

/// Returns the values at the end of a run.
async fn ended(api: &Api, thread: &str, run: Value) -> Value {
    api.post(&format!("/threads/{thread}/runs/wait"), run).await
}

/// Starts a run, and returns it once it has come to the slow node.
async fn run_to_ship(api: &Api, thread: &str, run: Value) -> Value {
    let run = api.post(&format!("/threads/{thread}/runs"), run).await;
    for _ in 0..500 {
        let state = api.get(&format!("/threads/{thread}/state")).await;
        if state["next"] == json!(["ship"]) {
            return run;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the run has not come to the slow node");
}

/// Returns the same answer to all that a thread asks.
fn answers(seen: &Value) -> Value {
    let open = seen["state"]["interrupts"].as_array().unwrap();
    let answer = |one: &Value| (one["id"].as_str().unwrap().to_owned(), json!("yes"));
    Value::Object(open.iter().map(answer).collect())
}

fn resume(graph: &str, seen: &Value, is_slow: bool) -> Value {
    let update = if is_slow {
        json!({"slow": true})
    } else {
        Value::Null
    };
    json!({
        "assistant_id": graph, "command": {"resume": answers(seen), "update": update},
    })
}

async fn roll_back(api: &Api, thread: &str, run: &Value) {
    let run = run["run_id"].as_str().unwrap();
    let cancel = format!("/threads/{thread}/runs/{run}/cancel?wait=1&action=rollback");
    api.call(Method::POST, &cancel, json!({})).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_resume_that_is_rolled_back_leaves_the_interrupts_and_the_finished_tasks() {
    let folder = tempfile::tempdir().unwrap();
    let work = Work::default();
    let api = api(&folder, &work).await;
    let thread = api.thread().await;
    ended(&api, &thread, json!({"assistant_id": "order", "input": {}})).await;
    let before = seen(&api, &thread).await;
    assert_eq!(before["row"]["status"], "interrupted", "{before}");

    let run = run_to_ship(&api, &thread, resume("order", &before, true)).await;
    roll_back(&api, &thread, &run).await;
    assert_eq!(seen(&api, &thread).await, before);

    // The next run may roll it back, too, and needs the checkpoints of before.
    run_to_ship(&api, &thread, resume("order", &before, true)).await;
    let prune = json!({"thread_ids": [thread], "strategy": "keep_latest"});
    let pruned = api.post("/threads/prune", prune).await;
    assert_eq!(pruned["pruned_count"], 0);
    let mut next = resume("order", &before, false);
    next["multitask_strategy"] = json!("rollback");
    let values = ended(&api, &thread, next).await;
    let log = json!(["charged", "yes", "wrapped", "yes", "shipped"]);
    assert_eq!(values["log"], log);
    assert_eq!(work.load(Ordering::Relaxed), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_to_the_second_question_of_a_task_is_rolled_back_alone() {
    let folder = tempfile::tempdir().unwrap();
    let api = api(&folder, &Work::default()).await;
    let thread = api.thread().await;
    ended(&api, &thread, json!({"assistant_id": "twice", "input": {}})).await;
    let first = seen(&api, &thread).await;
    ended(&api, &thread, resume("twice", &first, false)).await;
    let before = seen(&api, &thread).await;
    assert_eq!(before["state"]["interrupts"][0]["value"], "Second?");

    let run = run_to_ship(&api, &thread, resume("twice", &before, true)).await;
    roll_back(&api, &thread, &run).await;
    assert_eq!(seen(&api, &thread).await, before);
    let values = ended(&api, &thread, resume("twice", &before, false)).await;
    assert_eq!(values["log"], json!(["begun", "yesyes", "shipped"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_input_that_is_rolled_back_leaves_no_checkpoint() {
    let folder = tempfile::tempdir().unwrap();
    let api = api(&folder, &Work::default()).await;
    let thread = api.thread().await;
    let input = |is_slow: bool| json!({"assistant_id": "plain", "input": {"slow": is_slow}});
    ended(&api, &thread, input(false)).await;
    let before = seen(&api, &thread).await;
    let run = run_to_ship(&api, &thread, input(true)).await;
    roll_back(&api, &thread, &run).await;
    assert_eq!(seen(&api, &thread).await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_copy_of_a_thread_under_a_run_says_what_its_own_state_is() {
    let folder = tempfile::tempdir().unwrap();
    let api = api(&folder, &Work::default()).await;
    let thread = api.thread().await;
    ended(&api, &thread, json!({"assistant_id": "order", "input": {}})).await;
    let before = seen(&api, &thread).await;
    run_to_ship(&api, &thread, resume("order", &before, true)).await;

    let copy = api
        .post(&format!("/threads/{thread}/copy"), json!({}))
        .await;
    let log = json!(["charged", "yes", "wrapped", "yes"]);
    assert_eq!(copy["values"]["log"], log, "{copy}");
    assert_eq!(copy["interrupts"], json!({}));
    assert_eq!(copy["status"], "interrupted");
}
