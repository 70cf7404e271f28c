//! Runs that are claimed by hand, when they are cut off before their end.

use super::*;
use crate::app::App;
use crate::queue::Claim;
use crate::saver::TERM;

/// A server of a graph that never ends.
pub(super) fn slow() -> Server {
    let mut graph = StateGraph::<i64>::new();
    let forever = async |_: &i64| std::future::pending::<i64>().await;
    graph.add_node("slow", forever).add_sequence(&["slow"]);
    let server = Server::new().limits(Limits::default().runs(1));
    server.graph("slow", graph.compile().unwrap())
}

/// Claims the next run. The test has the only slot of the server, which claims nothing by itself.
async fn claim(app: &App) -> Box<Claim> {
    let term = Duration::from_secs(30);
    let claim = app.rows.claim("another", term, After::START).await;
    Box::new(claim.unwrap().unwrap())
}

#[tokio::test]
async fn l3_a_run_that_is_cancelled_between_its_claim_and_its_start_ends() {
    let serving = slow().start().await.unwrap();
    let app = &serving.app;
    let _slot = app.runs.slots.acquire().await.unwrap();
    let client = Client::of(&serving).await;
    let thread = client.post("/threads", &json!({})).await;
    let thread = thread["thread_id"].as_str().unwrap();
    let body = json!({"assistant_id": "slow", "input": 1});
    let run = client.post(&format!("/threads/{thread}/runs"), &body).await;
    let run = run["run_id"].as_str().unwrap();

    let claim = claim(app).await;
    assert_eq!((claim.run.as_str(), claim.cancel), (run, None));
    let cancel = format!("/threads/{thread}/runs/{run}/cancel");
    client.post(&cancel, &json!({})).await;

    let ended = tokio::time::timeout(Duration::from_secs(5), execute(app, claim)).await;
    assert!(ended.is_ok(), "the run goes on");
    let row = app.rows.run_of_id(run).await.unwrap().unwrap();
    assert_eq!(row.status, "interrupted");
}

#[tokio::test]
async fn a_run_whose_task_is_dropped_is_no_longer_one_of_the_process() {
    let serving = slow().start().await.unwrap();
    let app = &serving.app;
    let _slot = app.runs.slots.acquire().await.unwrap();
    let client = Client::of(&serving).await;
    let body = json!({"assistant_id": "slow", "input": 1});
    let run = client.post("/runs", &body).await;
    let run = run["run_id"].as_str().unwrap();
    let claim = claim(app).await;

    // As when it panics: what it holds is dropped, and no line of it runs any more.
    let task = execute(app, claim);
    let cut = tokio::time::timeout(Duration::from_millis(200), task).await;
    assert!(cut.is_err(), "the run has ended");
    assert!(app.runs.live.get(run).is_none(), "its leases are renewed");
    let feed = app.runs.feeds.get(run);
    assert!(feed.is_none_or(|feed| !feed.is_local()));
}

#[tokio::test]
async fn an_attempt_that_begins_late_takes_no_thread_from_the_next_one() {
    let serving = slow().start().await.unwrap();
    let app = &serving.app;
    let _slot = app.runs.slots.acquire().await.unwrap();
    let client = Client::of(&serving).await;
    let body = json!({"assistant_id": "slow", "input": 1});
    client.post("/runs", &body).await;
    // It stands still until its lease is over, and another process has taken its run and its thread.
    let late = app.rows.claim("late", Duration::ZERO, After::START).await;
    let late = Box::new(late.unwrap().unwrap());
    tokio::time::sleep(Duration::from_millis(20)).await;
    app.rows
        .reap(3, "next", Duration::from_secs(30))
        .await
        .unwrap();
    let next = claim(app).await;
    assert_eq!((&next.run, next.fence), (&late.run, late.fence + 1));
    let (thread, holder) = (&next.thread, next.holder());
    let other = app.saver.lease(thread, &holder, TERM).await.unwrap();
    assert!(other.is_none());

    execute(app, late).await;
    let held = app.saver.lease(thread, "other", TERM).await.unwrap();
    assert_eq!(held.map(|held| held.holder), Some(holder));
}
