//! What clients cannot do or see: a claim by hand, a signal on its way, a process that is lost between two acts.

mod again;
mod live;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use futures_util::FutureExt;
use langgraph::error::CheckpointError;
use langgraph::prelude::*;
use rusqlite::Connection;
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use super::attach::catch_up;
use super::change::free_from;
use super::cleanup::prune_expired;
use super::execute::execute;
use super::{change_state, give_up, prune_thread, remove_thread};
use crate::graph::{Change, NodeUpdate};
use crate::guard::Limits;
use crate::queue::{After, RunQueue};
use crate::rows::{Pruning, Thread};
use crate::server::{Server, Serving};

/// A client of a server in this process.
struct Client {
    http: reqwest::Client,
    address: String,
    server: JoinHandle<()>,
}

impl Drop for Client {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl Client {
    async fn of(serving: &Serving) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let router = serving.router();
        let serve = async move { axum::serve(listener, router).await.unwrap() };
        Self {
            http: reqwest::Client::new(),
            address,
            server: tokio::spawn(serve),
        }
    }

    async fn post(&self, path: &str, body: &Value) -> Value {
        let request = self.http.post(format!("{}{path}", self.address)).json(body);
        let answer = request.send().await.unwrap().error_for_status().unwrap();
        let bytes = answer.bytes().await.unwrap();
        serde_json::from_slice(&bytes).unwrap_or_default()
    }

    async fn get(&self, path: &str) -> Value {
        let answer = self.http.get(format!("{}{path}", self.address)).send();
        answer.await.unwrap().json().await.unwrap()
    }

    async fn thread(&self, id: &str) {
        let body = json!({"thread_id": id, "graph_id": "count"});
        self.post("/threads", &body).await;
    }
}

fn counting() -> Server {
    let mut graph = StateGraph::<i64>::new();
    let count = async |n: &i64| n + 1;
    graph.add_node("count", count).add_sequence(&["count"]);
    Server::new().graph("count", graph.compile().unwrap())
}

const ONE: &str = "6e1dd1a4-54a3-4c53-8c3f-4a2f0d1a7c01";
const OTHER: &str = "6e1dd1a4-54a3-4c53-8c3f-4a2f0d1a7c02";

#[tokio::test]
async fn a_run_wakes_the_streams_of_its_thread_and_none_of_300_others() {
    let serving = counting().start().await.unwrap();
    let client = Client::of(&serving).await;
    let watchers = &serving.app.runs.watchers;
    let mut idle: Vec<_> = (0..300)
        .map(|number| watchers.of(&format!("idle {number}")))
        .collect();
    client.thread(ONE).await;
    let mut own = watchers.of(ONE);
    let run = json!({"assistant_id": "count", "input": 1, "stream_resumable": true});
    client
        .post(&format!("/threads/{ONE}/runs/wait"), &run)
        .await;
    let woken = tokio::time::timeout(Duration::from_secs(10), own.changed());
    woken.await.expect("its stream is not woken");
    let woken = idle
        .iter_mut()
        .filter_map(|watcher| watcher.changed().now_or_never());
    assert_eq!(woken.count(), 0);
}

/// Runs the graph on a thread, and begins to remove it.
async fn begin_removal(serving: &Serving, client: &Client, thread: &str) {
    client.thread(thread).await;
    let run = json!({"assistant_id": "count", "input": 1});
    let path = format!("/threads/{thread}/runs/wait");
    assert_eq!(client.post(&path, &run).await, 2);
    assert!(serving.app.rows.begin_removal(thread).await.unwrap());
}

/// Waits until something is so.
async fn until(what: &str, is_so: impl Fn() -> bool) {
    let waiting = async {
        while !is_so() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let waited = tokio::time::timeout(Duration::from_secs(20), waiting).await;
    assert!(waited.is_ok(), "{what}: not yet");
}

async fn values(client: &Client, thread: &str) -> Value {
    client.get(&format!("/threads/{thread}/state")).await["values"].clone()
}

/// Returns how many threads are marked; with `over`, their process has had its minute.
fn marked(file: &Path, over: bool) -> usize {
    let rows = Connection::open(file).unwrap();
    rows.busy_timeout(Duration::from_secs(10)).unwrap();
    if over {
        let sql = "UPDATE served_threads SET expires = 0 WHERE temporary = 2";
        return rows.execute(sql, []).unwrap();
    }
    let sql = "SELECT count(*) FROM served_threads WHERE temporary = 2";
    let count: i64 = rows.query_row(sql, [], |row| row.get(0)).unwrap();
    usize::try_from(count).unwrap()
}

#[tokio::test]
async fn a_removal_whose_process_was_lost_is_finished_by_the_next_one() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("threads.db");
    let lost = {
        let serving = counting().file(&file).start().await.unwrap();
        let client = Client::of(&serving).await;
        begin_removal(&serving, &client, ONE).await;
        begin_removal(&serving, &client, OTHER).await;
        Arc::downgrade(&serving.app)
    };
    // The process is lost before it deletes what is stored.
    until("the process ends", || lost.upgrade().is_none()).await;
    let serving = counting().file(&file).start().await.unwrap();
    let client = Client::of(&serving).await;
    assert_eq!(client.post("/threads/search", &json!({})).await, json!([]));
    assert_eq!(marked(&file, false), 2);

    // A thread of the same name begins with nothing.
    client.thread(ONE).await;
    assert_eq!(values(&client, ONE).await, json!({}));
    assert_eq!(marked(&file, false), 1);

    // Maintenance removes the other one.
    assert_eq!(marked(&file, true), 1);
    until("the thread is removed", || marked(&file, false) == 0).await;
    client.thread(OTHER).await;
    assert_eq!(values(&client, OTHER).await, json!({}));
}

#[tokio::test]
async fn a_change_stores_nothing_once_its_thread_is_removed() {
    let serving = counting().start().await.unwrap();
    let (app, client) = (&serving.app, Client::of(&serving).await);
    client.thread(ONE).await;
    let row = app.rows.thread(ONE).await.unwrap().unwrap();
    let change = Change {
        namespace: None,
        at: None,
        updates: vec![NodeUpdate {
            values: json!(7),
            as_node: None,
        }],
    };
    // One that has the thread when the removal begins.
    let holder: Arc<str> = "change/slow".into();
    let term = Duration::from_secs(60);
    assert!(app.saver.lease(ONE, &holder, term).await.unwrap().is_none());
    remove_thread(app, &row).await.unwrap();
    let graph = app.graph("count").unwrap();
    let graph = graph.with_saver(app.saver.held_by(&holder));
    let refused = graph.update(ONE, change.clone()).await.unwrap_err();
    assert!(
        matches!(
            refused,
            AgentError::Checkpoint(CheckpointError::LeaseLost { .. })
        ),
        "{refused}"
    );
    // One that has seen the row, and takes the thread when it is gone.
    let refused = change_state(app, &row, change.clone()).await.unwrap_err();
    assert_eq!(refused.status(), StatusCode::NOT_FOUND);
    client.thread(ONE).await;
    assert_eq!(values(&client, ONE).await, json!({}));

    change_state(app, &row, change).await.unwrap();
    assert_eq!(values(&client, ONE).await, json!(7));
}

#[tokio::test]
async fn a_change_waits_for_the_one_before_it_and_not_for_a_run_that_has_ended() {
    let serving = counting().start().await.unwrap();
    let (app, client) = (&serving.app, Client::of(&serving).await);
    client.thread(ONE).await;
    let path = format!("/threads/{ONE}/state");
    let changes = (0..8).map(async |number| {
        client.post(&path, &json!({"values": number})).await;
    });
    futures_util::future::join_all(changes).await;
    let history = client
        .get(&format!("/threads/{ONE}/history?limit=20"))
        .await;
    assert_eq!(history.as_array().unwrap().len(), 8);
    // Its process was lost before it gave the thread back.
    let term = Duration::from_secs(600);
    let held = app.saver.lease(ONE, "run-7/1", term).await.unwrap();
    assert!(held.is_none());
    client.post(&path, &json!({"values": 8})).await;
    assert_eq!(values(&client, ONE).await, json!(8));
}

#[tokio::test]
async fn a_change_does_not_take_the_thread_of_a_run_that_began_meanwhile() {
    let server = counting().limits(Limits::default().runs(1));
    let serving = server.start().await.unwrap();
    let (app, client) = (&serving.app, Client::of(&serving).await);
    let _slot = app.runs.slots.acquire().await.unwrap();
    client.thread(ONE).await;
    let run = json!({"assistant_id": "count", "input": 1});
    client.post(&format!("/threads/{ONE}/runs"), &run).await;
    let term = Duration::from_secs(600);
    let claim = app.rows.claim("worker", term, After::START).await.unwrap();
    let holder = claim.unwrap().holder();
    assert!(app.saver.lease(ONE, &holder, term).await.unwrap().is_none());

    assert!(!free_from(app, ONE, &holder).await.unwrap());
    let row = app.rows.thread(ONE).await.unwrap().unwrap();
    let change = Change {
        namespace: None,
        at: None,
        updates: vec![NodeUpdate {
            values: json!(7),
            as_node: None,
        }],
    };
    let refused = change_state(app, &row, change).await.unwrap_err();
    assert_eq!(refused.status(), StatusCode::CONFLICT);
    assert!(!prune_thread(app, &row, Pruning::KeepLatest).await.unwrap());
    let other = app.saver.lease(ONE, "another", term).await.unwrap();
    assert_eq!(other.map(|other| other.holder), Some(holder));
}

#[tokio::test]
async fn a_pause_is_not_given_up_once_its_thread_has_gone_on() {
    let serving = counting().start().await.unwrap();
    let client = Client::of(&serving).await;
    client.thread(ONE).await;
    let path = format!("/threads/{ONE}/runs/wait");
    let pausing = json!({"assistant_id": "count", "input": 1, "interrupt_before": ["count"]});
    client.post(&path, &pausing).await;
    let paused = serving.app.rows.thread(ONE).await.unwrap().unwrap();
    let run = paused.left_by.as_deref().unwrap();
    let goes_on = json!({"assistant_id": "count", "input": null});
    assert_eq!(client.post(&path, &goes_on).await, 2);
    let refused = give_up(&serving.app, &paused, run).await.unwrap_err();
    assert_eq!(refused.status(), StatusCode::CONFLICT);
    let run = client.get(&format!("/threads/{ONE}/runs/{run}")).await;
    assert_eq!(run["status"], "success", "{run}");
}

#[tokio::test]
async fn pruning_removes_nothing_once_a_run_has_the_thread() {
    let serving = counting().start().await.unwrap();
    let (app, client) = (&serving.app, Client::of(&serving).await);
    client.thread(ONE).await;
    let run = json!({"assistant_id": "count", "input": 1});
    let wait = format!("/threads/{ONE}/runs/wait");
    client.post(&wait, &run).await;
    let row = app.rows.thread(ONE).await.unwrap().unwrap();
    // It has the thread, and has seen no run.
    let holder: Arc<str> = "change/prunes".into();
    let term = Duration::from_secs(60);
    assert!(app.saver.lease(ONE, &holder, term).await.unwrap().is_none());
    client.post(&wait, &run).await;
    let history = format!("/threads/{ONE}/history?limit=100");
    let before = client.get(&history).await;

    let graph = app.graph("count").unwrap();
    let graph = graph.with_saver(app.saver.held_by(&holder));
    let refused = graph.prune(ONE).await.unwrap_err();
    assert!(
        matches!(
            refused,
            AgentError::Checkpoint(CheckpointError::LeaseLost { .. })
        ),
        "{refused}"
    );
    assert_eq!(client.get(&history).await, before);
    assert!(prune_thread(app, &row, Pruning::KeepLatest).await.unwrap());
    let left = client.get(&history).await;
    assert_eq!(left.as_array().map(Vec::len), Some(1));
    assert_eq!(left[0]["values"], before[0]["values"]);
    // The thread is given back.
    let held = app.saver.lease(ONE, "another", term).await.unwrap();
    assert!(held.is_none());
}

/// Returns when a thread expires.
fn expiry(file: &Path, thread: &str) -> i64 {
    let rows = Connection::open(file).unwrap();
    rows.busy_timeout(Duration::from_secs(10)).unwrap();
    let sql = "SELECT expires FROM served_threads WHERE id = ?1";
    rows.query_row(sql, [thread], |row| row.get(0)).unwrap()
}

#[tokio::test]
async fn an_expired_thread_that_is_used_before_it_is_pruned_stays() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("threads.db");
    let server = counting().limits(Limits::default().runs(1)).file(&file);
    let serving = server.start().await.unwrap();
    let (app, client) = (&serving.app, Client::of(&serving).await);
    let run = json!({"assistant_id": "count", "input": 1});
    for strategy in ["delete", "keep_latest"] {
        let mut found = Vec::new();
        for id in [ONE, OTHER] {
            let ttl = json!({"ttl": 60, "strategy": strategy});
            let thread = json!({"thread_id": id, "graph_id": "count", "ttl": ttl});
            client.post("/threads", &thread).await;
            for _ in 0..2 {
                client.post(&format!("/threads/{id}/runs/wait"), &run).await;
            }
            let thread = app.rows.thread(id).await.unwrap().unwrap();
            found.push((thread, expiry(&file, id)));
        }
        // Meanwhile a run waits on the first one, and the other one changes.
        let slot = app.runs.slots.acquire().await.unwrap();
        let waits = client.post(&format!("/threads/{ONE}/runs"), &run).await;
        let nothing = |_: &mut Thread| {};
        tokio::time::sleep(Duration::from_millis(2)).await;
        app.rows.change_thread(OTHER, nothing).await.unwrap();
        for (thread, mark) in &found {
            prune_expired(app, thread, *mark).await.unwrap();
            let history = format!("/threads/{}/history?limit=100", thread.thread_id);
            let history = client.get(&history).await;
            assert!(history.as_array().unwrap().len() > 1, "{strategy}");
        }
        let waits = waits["run_id"].as_str().unwrap();
        let waits = app.rows.run_of_id(waits).await.unwrap().unwrap();
        assert_eq!(waits.status, "pending", "{strategy}");
        drop(slot);
        // One that is not used is pruned.
        let (thread, _) = &found[1];
        let mark = expiry(&file, OTHER);
        prune_expired(app, thread, mark).await.unwrap();
        let left = app.rows.thread(OTHER).await.unwrap();
        assert_eq!(left.is_some(), strategy == "keep_latest");
        for (thread, _) in &found {
            remove_thread(app, thread).await.unwrap();
        }
    }
}

#[tokio::test]
async fn the_stream_of_a_run_whose_request_is_on_its_way_stays_open() {
    let serving = counting().start().await.unwrap();
    let app = &serving.app;
    let run = langgraph_core::new_id().to_string();
    let feed = app.runs.feeds.of(&run, true, None);
    catch_up(app, &feed).await.unwrap();
    assert!(feed.is_open() && !feed.has_end());
    // That of one that was there, and is removed, ends.
    feed.see();
    catch_up(app, &feed).await.unwrap();
    assert!(feed.has_result() && feed.has_end());
}
