//! What the clock does to threads: waits that are due, lives that are over, runs that are stopped in time.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use crate::states::{Number, NumberUpdate};
use crate::support::Api;
use langgraph::error::NodeError;
use langgraph::graph::StateGraph;
use langgraph::node::Context;
use langgraph::{State, node};
use langgraph_server::{RunContext, Server};
use langgraph_wait::WaitExt;
use reqwest::Method;
use serde_json::{Value, json};

#[derive(State, Clone, Debug, Default)]
struct Notes {
    /// In milliseconds.
    pause: u64,
    #[reducer(append)]
    notes: Vec<String>,
}

/// How often the node has gone on after its wait.
#[derive(Default)]
struct Woken(AtomicUsize);

#[node]
async fn rest(state: &Notes, cx: &Context) -> Result<NotesUpdate, NodeError> {
    cx.sleep_until(SystemTime::now() + Duration::from_millis(state.pause))?;
    cx.resource::<Woken>()?.0.fetch_add(1, Ordering::SeqCst);
    // Long enough for another process to take it up as well.
    tokio::time::sleep(Duration::from_millis(100)).await;
    let word = cx.resource::<RunContext>()?.configurable["word"].clone();
    Ok(NotesUpdate::default().notes(vec![format!("rested {word}")]))
}

/// Waits for a payment, or until the deadline.
#[node]
async fn bill(state: &Notes, cx: &Context) -> Result<NotesUpdate, NodeError> {
    let deadline = SystemTime::now() + Duration::from_millis(state.pause);
    let note = match cx.wait_for::<u32>("paid", deadline)? {
        Some(cents) => format!("paid {cents}"),
        None => "reminded".to_owned(),
    };
    Ok(NotesUpdate::default().notes(vec![note]))
}

fn graphs(server: Server, woken: &Arc<Woken>) -> Server {
    let mut rests = StateGraph::<Notes>::new();
    rests.add_node("rest", rest).add_sequence(&["rest"]);
    let rests = rests.compile().unwrap().resource(Arc::clone(woken));
    let mut bills = StateGraph::<Notes>::new();
    bills.add_node("bill", bill).add_sequence(&["bill"]);
    server
        .graph("rests", rests)
        .graph("bills", bills.compile().unwrap())
}

async fn pause(api: &Api, graph: &str, pause: u64) -> (String, Value) {
    let thread = api.thread().await;
    let config = json!({"configurable": {"word": "well"}});
    let body = json!({"assistant_id": graph, "input": {"pause": pause}, "config": config});
    let waits = api
        .post(&format!("/threads/{thread}/runs/wait"), body)
        .await;
    assert!(waits["__interrupt__"][0]["value"]["$wait"].is_object());
    (thread, waits)
}

async fn runs(api: &Api, thread: &str) -> usize {
    let runs = api.get(&format!("/threads/{thread}/runs")).await;
    runs.as_array().unwrap().len()
}

#[tokio::test]
async fn m5_a_wait_outlives_the_server_and_is_woken_once() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("threads.db");
    let woken = Arc::new(Woken::default());
    let first = graphs(Server::new().file(&file), &woken);
    let thread = left_waiting(first, 1_000).await;

    // It is due while no server is there.
    tokio::time::sleep(Duration::from_millis(1_100)).await;
    assert_eq!(woken.0.load(Ordering::SeqCst), 0);
    let api = Api::serve(graphs(Server::new().file(&file), &woken)).await;
    // With the configuration of the run that has paused.
    assert_eq!(api.noted(&thread).await, json!(["rested \"well\""]));
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    assert_eq!(woken.0.load(Ordering::SeqCst), 1);
    assert_eq!(runs(&api, &thread).await, 2);
}

/// Has a thread wait on a server that ends, and returns it.
async fn left_waiting(server: Server, pause_for: u64) -> String {
    let first = server.start().await.unwrap();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let router = first.router();
    let serving = tokio::spawn(async move { axum::serve(listener, router).await });
    let (thread, _) = pause(&Api::at(url), "rests", pause_for).await;
    serving.abort();
    first.drain(Duration::from_secs(1)).await;
    thread
}

/// The same graph without what its node needs.
fn without_resource() -> StateGraph<Notes> {
    let mut rests = StateGraph::<Notes>::new();
    rests.add_node("rest", rest).add_sequence(&["rest"]);
    rests
}

/// A graph with another state.
fn of_another_state() -> StateGraph<Number> {
    let mut other = StateGraph::<Number>::new();
    other.add_node("rest", |_: &Number| NumberUpdate::default());
    other.add_sequence(&["rest"]);
    other
}

#[tokio::test]
async fn a_thread_that_cannot_be_woken_has_failed_and_is_not_woken_again() {
    let folder = tempfile::tempdir().unwrap();
    let woken = Arc::new(Woken::default());
    for (name, is_readable) in [("missing.db", true), ("other.db", false)] {
        let file = folder.path().join(name);
        let first = graphs(Server::new().file(&file), &woken);
        let thread = left_waiting(first, 500).await;
        let server = Server::new().file(&file);
        let server = if is_readable {
            server.graph("rests", without_resource().compile().unwrap())
        } else {
            server.graph("rests", of_another_state().compile().unwrap())
        };
        let api = Api::serve(server).await;
        tokio::time::sleep(Duration::from_secs(3)).await;
        let row = api.get(&format!("/threads/{thread}")).await;
        assert_eq!(row["status"], "error", "{name}: {row}");
        assert_eq!(runs(&api, &thread).await, 2, "{name}");
        let rows = rusqlite::Connection::open(&file).unwrap();
        let sql = "SELECT wakes FROM served_threads";
        let wakes: Option<i64> = rows.query_row(sql, [], |row| row.get(0)).unwrap();
        assert_eq!(wakes, None, "{name}");
    }
}

#[tokio::test]
async fn m5_a_deadline_passes_an_event_comes_first_and_a_run_that_is_gone_is_made_up_for() {
    let woken = Arc::new(Woken::default());
    let api = Api::serve(graphs(Server::new(), &woken)).await;
    let (late, _) = pause(&api, "bills", 300).await;
    let (paid, waits) = pause(&api, "bills", 600_000).await;
    let (lost, _) = pause(&api, "bills", 300).await;
    let run = api.get(&format!("/threads/{lost}/runs")).await[0]["run_id"].clone();
    let path = format!("/threads/{lost}/runs/{}", run.as_str().unwrap());
    assert_eq!(api.call(Method::DELETE, &path, json!({})).await.0, 204);

    // The event, by its name; a payload that does not fit is refused, and the node waits on.
    let report = |payload: Value| {
        json!({
            "assistant_id": "bills", "command": {"resume": {"paid": {"event": payload}}},
        })
    };
    let path = format!("/threads/{paid}/runs/wait");
    let refused = api.post(&path, report(json!("much"))).await;
    assert!(refused["__error__"]["message"].is_string(), "{refused}");
    let done = api.post(&path, report(json!(42))).await;
    assert_eq!(done["notes"], json!(["paid 42"]), "{done} {waits}");
    assert_eq!(api.noted(&late).await, json!(["reminded"]));
    assert_eq!(api.noted(&lost).await, json!(["reminded"]));
    // What was paid is not reminded of.
    assert_eq!(runs(&api, &paid).await, 3);
}

#[tokio::test]
async fn m5_what_was_answered_or_changed_before_is_not_woken() {
    let woken = Arc::new(Woken::default());
    let api = Api::serve(graphs(Server::new(), &woken)).await;
    let (thread, waits) = pause(&api, "rests", 1_500).await;
    let id = waits["__interrupt__"][0]["id"].as_str().unwrap();
    let path = format!("/threads/{thread}/runs/wait");
    let answer = json!({"assistant_id": "rests", "command": {"resume": {id: "time"}}});
    api.post(&path, answer).await;
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert_eq!(runs(&api, &thread).await, 2);
    assert_eq!(woken.0.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn m5_a_thread_lives_as_long_as_it_is_used() {
    let woken = Arc::new(Woken::default());
    let api = Api::serve(graphs(Server::new(), &woken)).await;
    let second = 1.0 / 60.0;
    let made = |ttl: f64| api.post("/threads", json!({"ttl": {"ttl": ttl}}));
    let (short, used) = (made(second).await, made(2.0 * second).await);
    let path = |thread: &Value| format!("/threads/{}", thread["thread_id"].as_str().unwrap());
    let is_there = async |thread: &Value| {
        let (status, _) = api.call(Method::GET, &path(thread), json!({})).await;
        status == 200
    };
    let begun = std::time::Instant::now();
    while is_there(&short).await || begun.elapsed() < Duration::from_secs(4) {
        let change = json!({"metadata": {"used": true}});
        let (status, _) = api.call(Method::PATCH, &path(&used), change).await;
        assert_eq!(status, 200);
        assert!(begun.elapsed() < Duration::from_secs(20), "it lives on");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    while is_there(&used).await {
        assert!(begun.elapsed() < Duration::from_secs(20), "it lives on");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

/// Starts two servers on one database.
#[cfg(feature = "postgres")]
async fn two(graphs: impl Fn(Server) -> Server) -> [Api; 2] {
    use langgraph_postgres::{Database, Options};

    let url = std::env::var("DATABASE_URL");
    let url = url.expect("needs PostgreSQL: run it with tests/servers.sh");
    let schema = format!("clock_{}", uuid::Uuid::new_v4().simple());
    let serve = async || {
        let options = Options::default().schema(schema.clone()).max_connections(8);
        let database = Database::connect_with(&url, options).await.unwrap();
        Api::serve(graphs(Server::new().postgres(database))).await
    };
    [serve().await, serve().await]
}

/// Starts two servers on one file.
async fn two_on_a_file(graphs: impl Fn(Server) -> Server) -> (tempfile::TempDir, [Api; 2]) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("threads.db");
    let serve = async || Api::serve(graphs(Server::new().file(&file))).await;
    let apis = [serve().await, serve().await];
    (folder, apis)
}

#[cfg(feature = "postgres")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn m5_two_servers_on_one_database_wake_a_thread_once() {
    let woken = Arc::new(Woken::default());
    wake_once(&two(|server| graphs(server, &woken)).await, &woken).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn m5_two_servers_on_one_file_wake_a_thread_once() {
    let woken = Arc::new(Woken::default());
    let (_folder, apis) = two_on_a_file(|server| graphs(server, &woken)).await;
    wake_once(&apis, &woken).await;
}

async fn wake_once(apis: &[Api; 2], woken: &Woken) {
    let mut threads = Vec::new();
    for number in 0..20 {
        threads.push(pause(&apis[number % 2], "rests", 1_000).await.0);
    }
    for (number, thread) in threads.iter().enumerate() {
        let found = apis[number % 2].noted(thread).await;
        assert_eq!(found, json!(["rested \"well\""]));
    }
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    assert_eq!(woken.0.load(Ordering::SeqCst), threads.len());
    for thread in &threads {
        assert_eq!(runs(&apis[0], thread).await, 2);
    }
}

#[cfg(feature = "postgres")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn m5_a_run_that_is_cancelled_elsewhere_as_it_starts_ends_at_once() {
    cancel_elsewhere(&two(slow).await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn m5_a_run_in_a_file_that_is_cancelled_elsewhere_ends_at_once() {
    let (_folder, apis) = two_on_a_file(slow).await;
    cancel_elsewhere(&apis).await;
}

/// A graph that takes a minute.
fn slow(server: Server) -> Server {
    let mut slow = StateGraph::<Notes>::new();
    let forever = async |_: &Notes| {
        tokio::time::sleep(Duration::from_secs(60)).await;
        NotesUpdate::default()
    };
    slow.add_node("slow", forever).add_sequence(&["slow"]);
    server.graph("slow", slow.compile().unwrap())
}

async fn cancel_elsewhere(apis: &[Api; 2]) {
    for number in 0..150 {
        let (one, other) = (&apis[number % 2], &apis[(number + 1) % 2]);
        let thread = one.thread().await;
        let body = json!({"assistant_id": "slow", "input": {}});
        let run = one.post(&format!("/threads/{thread}/runs"), body).await;
        tokio::time::sleep(Duration::from_micros(40 * number as u64)).await;
        let id = run["run_id"].as_str().unwrap();
        let path = format!("/threads/{thread}/runs/{id}/cancel?wait=true");
        let cancelled = other.call(Method::POST, &path, json!({}));
        let cancelled = tokio::time::timeout(Duration::from_secs(3), cancelled).await;
        assert_eq!(cancelled.expect("the run goes on").0, 200);
    }
}
