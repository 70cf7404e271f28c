//! The order in which runs start, and how many an owner may have.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::states::{Text, TextUpdate};
use crate::support::Api;
use langgraph::error::NodeError;
use langgraph::graph::StateGraph;
use langgraph::node::Context;
use langgraph::{State, node};
use langgraph_server::{BearerTokens, Limits, Server, User};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

/// The names of the runs, as they start.
#[derive(Default)]
struct Started(Mutex<Vec<String>>);

impl Started {
    fn names(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

type Order = Arc<Started>;

#[derive(State, Clone, Debug, Default)]
struct Job {
    name: String,
    millis: u64,
}

#[node]
async fn work(job: &Job, cx: &Context) -> Result<JobUpdate, NodeError> {
    let started = cx.resource::<Started>()?;
    started.0.lock().unwrap().push(job.name.clone());
    tokio::time::sleep(Duration::from_millis(job.millis)).await;
    Ok(JobUpdate::default())
}

fn server(order: &Order) -> Server {
    let mut graph = StateGraph::<Job>::new();
    graph.add_node("work", work).add_sequence(&["work"]);
    let graph = graph.compile().unwrap().resource(Arc::clone(order));
    let mut other = StateGraph::<Text>::new();
    other.add_node("noop", |_: &Text| TextUpdate::default());
    other.add_sequence(&["noop"]);
    let tokens = BearerTokens::new()
        .token("token-of-ada", User::new("ada"))
        .token("token-of-ben", User::new("ben"));
    Server::new()
        .graph("work", graph)
        .graph("other", other.compile().unwrap())
        .authenticate(tokens)
}

async fn users(limits: Limits) -> (Api, Api, Order) {
    let order = Order::default();
    let api = Api::serve(server(&order).limits(limits)).await;
    let ben = api.with_token("token-of-ben");
    (api.with_token("token-of-ada"), ben, order)
}

fn job(name: &str, millis: u64) -> Value {
    json!({"assistant_id": "work", "input": {"name": name, "millis": millis}})
}

fn with(mut body: Value, name: &str, value: impl Into<Value>) -> Value {
    body[name] = value.into();
    body
}

async fn started(order: &Order, count: usize) -> Vec<String> {
    for _ in 0..400 {
        let names = order.names();
        if names.len() >= count {
            return names;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    panic!("only {:?} have started", order.names());
}

#[tokio::test]
async fn the_priority_orders_the_waiting_runs_of_a_thread() {
    let (ada, _, order) = users(Limits::default()).await;
    let path = format!("/threads/{}/runs", ada.thread().await);
    ada.post(&path, job("first", 300)).await;
    started(&order, 1).await;
    ada.post(&path, job("low", 1)).await;
    ada.post(&path, with(job("high", 1), "priority", 10)).await;
    assert_eq!(started(&order, 3).await, ["first", "high", "low"]);
}

#[tokio::test]
async fn a_priority_does_not_hold_up_another_owner() {
    let (ada, ben, order) = users(Limits::default().runs(1)).await;
    for number in 0..20 {
        let body = with(job(&format!("ada {number}"), 50), "priority", 1_i64 << 62);
        ada.post("/runs", body).await;
    }
    ben.post("/runs/wait", job("ben", 1)).await;
    let names = order.names();
    let place = names.iter().position(|name| name == "ben").unwrap();
    assert!(place <= 3, "{names:?}");
}

#[tokio::test]
async fn a_concurrency_key_belongs_to_its_owner() {
    let (ada, ben, order) = users(Limits::default()).await;
    let keyed = |name: &str, millis| with(job(name, millis), "concurrency_key", "k");
    ada.post("/runs", keyed("ada", 600_000)).await;
    assert_eq!(started(&order, 1).await, ["ada"]);
    ada.post("/runs", keyed("ada, later", 1)).await;
    ben.post("/runs/wait", keyed("ben", 1)).await;
    assert_eq!(order.names(), ["ada", "ben"]);
}

#[tokio::test]
async fn a_delayed_run_does_not_make_its_thread_busy() {
    let (ada, _, order) = users(Limits::default()).await;
    let thread = ada.thread().await;
    let path = format!("/threads/{thread}/runs");
    let later = ada
        .post(&path, with(job("reminder", 1), "after_seconds", 1.5))
        .await;
    for strategy in ["reject", "interrupt", "rollback"] {
        let body = with(job(strategy, 1), "multitask_strategy", strategy);
        ada.post(&format!("{path}/wait"), body).await;
    }
    let update = json!({"values": {"millis": 1}, "as_node": "work"});
    ada.post(&format!("/threads/{thread}/state"), update).await;
    let row = format!("{path}/{}", later["run_id"].as_str().unwrap());
    assert_eq!(ada.get(&row).await["status"], "pending");
    assert_eq!(
        started(&order, 4).await,
        ["reject", "interrupt", "rollback", "reminder"]
    );
}

#[tokio::test]
async fn a_delayed_run_stops_others_when_its_time_has_come() {
    let (ada, _, order) = users(Limits::default()).await;
    stop_others(&ada, &order).await;
}

#[cfg(feature = "postgres")]
#[tokio::test]
async fn a_delayed_run_in_postgres_stops_others_when_its_time_has_come() {
    let order = Order::default();
    let database = crate::support::postgres().await;
    let api = Api::serve(server(&order).postgres(database)).await;
    stop_others(&api.with_token("token-of-ada"), &order).await;
}

async fn stop_others(ada: &Api, order: &Order) {
    for (strategy, left) in [
        ("interrupt", json!("interrupted")),
        ("rollback", Value::Null),
    ] {
        let path = format!("/threads/{}/runs", ada.thread().await);
        let first = ada.post(&path, job("first", 600_000)).await;
        let later = with(job(strategy, 1), "multitask_strategy", strategy);
        let later = with(later, "after_seconds", 1.5);
        let later = ada.post(&path, later).await;
        let status = async |run: &Value| {
            let row = format!("{path}/{}", run["run_id"].as_str().unwrap());
            ada.get(&row).await["status"].clone()
        };
        tokio::time::sleep(Duration::from_millis(500)).await;
        assert_eq!(status(&first).await, "running", "{strategy}");
        let waiting = ada.post(&path, job("waits", 1)).await;
        let join = format!("{path}/{}/join", later["run_id"].as_str().unwrap());
        assert_eq!(ada.get(&join).await["name"], strategy);
        assert_eq!(status(&first).await, left);
        assert_eq!(status(&waiting).await, left);
    }
    let expected = ["first", "interrupt", "first", "rollback"];
    assert_eq!(order.names(), expected);
}

#[tokio::test]
async fn of_runs_that_interrupt_at_once_the_last_one_goes_on() {
    let (ada, _, _) = users(Limits::default()).await;
    let path = format!("/threads/{}/runs", ada.thread().await);
    ada.post(&path, job("first", 600_000)).await;
    let interrupt = async || {
        let later = with(job("later", 600_000), "multitask_strategy", "interrupt");
        ada.post(&path, later).await
    };
    tokio::join!(interrupt(), interrupt(), interrupt(), interrupt());
    let statuses = async || {
        let runs = ada.get(&path).await;
        let runs = runs.as_array().unwrap().iter();
        let status = runs.map(|run| run["status"].as_str().unwrap().to_owned());
        status.collect::<Vec<_>>()
    };
    let expected = [
        "running",
        "interrupted",
        "interrupted",
        "interrupted",
        "interrupted",
    ];
    for _ in 0..100 {
        if statuses().await == expected {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(statuses().await, expected);
}

#[tokio::test]
async fn a_delay_that_is_over_at_once_stops_others() {
    let (ada, _, order) = users(Limits::default()).await;
    let path = format!("/threads/{}/runs", ada.thread().await);
    ada.post(&path, job("first", 600_000)).await;
    started(&order, 1).await;
    let later = with(job("later", 1), "multitask_strategy", "interrupt");
    let later = with(later, "after_seconds", 1e-9);
    ada.post(&format!("{path}/wait"), later).await;
    assert_eq!(order.names(), ["first", "later"]);
}

#[tokio::test]
async fn a_run_over_another_state_is_refused_and_the_thread_stays_readable() {
    let (ada, _, _) = users(Limits::default()).await;
    let thread = ada.thread().await;
    let path = format!("/threads/{thread}/runs");
    ada.post(&format!("{path}/wait"), job("first", 1)).await;
    let before = ada.get(&format!("/threads/{thread}")).await;
    let other = json!({"assistant_id": "other", "input": {"text": "x"}});
    for route in ["", "/wait", "/stream"] {
        let route = format!("{path}{route}");
        let (status, answer) = ada.call(Method::POST, &route, other.clone()).await;
        assert_eq!(status, 409, "{route}: {answer}");
        let why = answer["detail"].as_str().unwrap();
        assert!(why.contains("'work'") && why.contains("`Text`"), "{why}");
    }
    assert_eq!(ada.get(&format!("/threads/{thread}")).await, before);
    let state = ada.get(&format!("/threads/{thread}/state")).await;
    assert_eq!(state["values"]["name"], "first");
    let runs = ada.get(&path).await;
    assert_eq!(runs.as_array().unwrap().len(), 1);

    // Also while the first run waits.
    let thread = ada.thread().await;
    let path = format!("/threads/{thread}/runs");
    ada.post(&path, with(job("later", 1), "after_seconds", 60))
        .await;
    assert_eq!(ada.call(Method::POST, &path, other).await.0, 409);
}

#[tokio::test]
async fn a_cron_whose_run_takes_longer_than_its_period_does_not_pile_up() {
    let (ada, _, order) = users(Limits::default()).await;
    let cron = with(job("cron", 60_000), "schedule", "* * * * * *");
    ada.post("/runs/crons", cron).await;
    started(&order, 1).await;
    tokio::time::sleep(Duration::from_millis(3_500)).await;
    let (status, _) = ada
        .call(Method::POST, "/runs/cancel", json!({"status": "pending"}))
        .await;
    assert_eq!(status, 404, "runs wait");
    assert_eq!(order.names().len(), 1);
    // It fires again when the run has ended.
    let (status, _) = ada
        .call(Method::POST, "/runs/cancel", json!({"status": "running"}))
        .await;
    assert_eq!(status, 204);
    started(&order, 2).await;
}

#[tokio::test]
async fn limits_of_an_owner_leave_the_others_alone() {
    let limits = Limits::default()
        .runs(1)
        .queued_runs(3)
        .owner_streams(1)
        .crons(2);
    let (ada, ben, order) = users(limits).await;
    ada.post("/runs", job("long", 3_000)).await;
    started(&order, 1).await;
    let status = async |api: &Api, path: &str, body: Value| -> StatusCode {
        api.call(Method::POST, path, body).await.0
    };
    for expected in [200, 200, 200, 429, 429] {
        let body = with(job("delayed", 1), "after_seconds", 60);
        assert_eq!(status(&ada, "/runs", body).await, expected);
    }
    // Nothing is left of those that were refused.
    assert_eq!(status(&ben, "/runs", job("ben", 1)).await, 200);

    let cron = with(job("cron", 1), "schedule", "0 0 1 1 *");
    for expected in [200, 200, 429] {
        assert_eq!(status(&ada, "/runs/crons", cron.clone()).await, expected);
    }
    assert_eq!(status(&ben, "/runs/crons", cron).await, 200);

    let thread = ada.thread().await;
    let events = format!("/threads/{thread}/stream/events");
    let channels = json!({"channels": ["values"]});
    let open = ada.send(Method::POST, &events, channels.clone()).await;
    assert_eq!(open.status(), 200);
    assert_eq!(status(&ada, &events, channels.clone()).await, 429);
    assert_eq!(status(&ada, "/runs/wait", job("wait", 1)).await, 429);
    let parts = json!([{"kind": "data", "data": {"name": "wait", "millis": 1}}]);
    let message = json!({"message": {"messageId": "m", "role": "user", "parts": parts}});
    let tool = json!({"name": "work", "arguments": {"name": "wait", "millis": 1}});
    for (path, method, params) in [
        ("/a2a/work", "message/send", message),
        ("/mcp/", "tools/call", tool),
    ] {
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let answer = ada.post(path, call).await;
        let why = answer["error"]["message"].as_str().unwrap_or_default();
        assert!(why.contains("streams are open"), "{path}: {answer}");
    }
    let thread = ben.thread().await;
    let events = format!("/threads/{thread}/stream/events");
    assert_eq!(
        ben.send(Method::POST, &events, channels).await.status(),
        200
    );
}

async fn threads_at_once(api: &Api) -> usize {
    let requests = (0..40).map(|_| api.call(Method::POST, "/threads", json!({})));
    let answers = futures_util::future::join_all(requests).await;
    answers.iter().filter(|(status, _)| *status == 200).count()
}

#[tokio::test]
async fn threads_that_are_created_at_once_are_counted() {
    let (ada, ben, _) = users(Limits::default().threads(5)).await;
    assert_eq!(threads_at_once(&ada).await, 5);
    assert_eq!(threads_at_once(&ben).await, 5);
}

#[cfg(feature = "postgres")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn threads_that_are_created_at_once_in_postgres_are_counted() {
    let database = crate::support::postgres().await;
    let limits = Limits::default().threads(5);
    let server = server(&Order::default()).limits(limits).postgres(database);
    let ada = Api::serve(server).await.with_token("token-of-ada");
    assert_eq!(threads_at_once(&ada).await, 5);
}

#[tokio::test]
async fn a_request_with_the_same_key_is_one_run() {
    let (ada, ben, order) = users(Limits::default()).await;
    let send = async |api: &Api, path: &str, key: &str, body: &Value| {
        let request = api.request(Method::POST, path).json(body);
        let answer = request.header("idempotency-key", key).send().await.unwrap();
        let status = answer.status().as_u16();
        let text = answer.text().await.unwrap();
        (status, serde_json::from_str(&text).unwrap_or(json!(text)))
    };
    let body = job("once", 300);
    let answers =
        futures_util::future::join_all((0..8).map(|_| send(&ada, "/runs/wait", "key", &body)))
            .await;
    for (status, answer) in answers {
        assert_eq!((status, &answer["name"]), (200, &json!("once")), "{answer}");
    }
    assert_eq!(order.names().len(), 1);
    // Another request may not have the name, and another owner has names of their own.
    let (status, answer) = send(&ada, "/runs/wait", "key", &job("other", 1)).await;
    assert_eq!(status, 422, "{answer}");
    assert_eq!(send(&ben, "/runs/wait", "key", &body).await.0, 200);
    assert_eq!(order.names().len(), 2);

    // A stream begins at the first event, and a run may have an id of its client.
    let thread = ada.thread().await;
    let path = format!("/threads/{thread}/runs/stream");
    let id = uuid::Uuid::new_v4().to_string();
    let body = with(job("streamed", 1), "stream_resumable", true);
    let body = with(body, "run_id", id.clone());
    let first = ada.send(Method::POST, &path, body.clone()).await;
    let first = first.text().await.unwrap();
    assert!(first.contains(&id) && first.contains("streamed"), "{first}");
    let again = ada.send(Method::POST, &path, body.clone()).await;
    assert_eq!(again.text().await.unwrap(), first);
    assert_eq!(order.names().len(), 3);
    let (status, _) = ben.call(Method::POST, "/runs/wait", body).await;
    assert_eq!(status, 409);
}

#[tokio::test]
async fn many_runs_of_a_blocked_thread_cost_the_others_nothing() {
    let limits = Limits::default().queued_runs(100_000);
    let (ada, ben, order) = users(limits).await;
    let path = format!("/threads/{}/runs", ada.thread().await);
    ada.post(&path, job("blocks", 600_000)).await;
    started(&order, 1).await;
    let took = async || {
        let begun = Instant::now();
        for _ in 0..20 {
            ben.post("/runs/wait", job("ben", 0)).await;
        }
        begun.elapsed()
    };
    took().await;
    let alone = took().await;
    for _ in 0..40 {
        let requests = (0..50).map(|_| ada.call(Method::POST, &path, job("waits", 1)));
        for (status, answer) in futures_util::future::join_all(requests).await {
            assert_eq!(status, 200, "{answer}");
        }
    }
    let beside = took().await;
    assert!(
        beside < alone * 3 + Duration::from_millis(200),
        "{alone:?} {beside:?}"
    );
}
