//! The runs of a process, when the task of one does not come to its end.

use super::*;

#[tokio::test]
async fn a_run_whose_task_is_dropped_is_no_longer_one_of_the_process() {
    let mut graph = StateGraph::<i64>::new();
    let forever = async |_: &i64| std::future::pending::<i64>().await;
    graph.add_node("slow", forever).add_sequence(&["slow"]);
    let server = Server::new().limits(Limits::default().runs(1));
    let server = server.graph("slow", graph.compile().unwrap());
    let serving = server.start().await.unwrap();
    let app = &serving.app;
    let _slot = app.runs.slots.acquire().await.unwrap();
    let client = Client::of(&serving).await;
    let body = json!({"assistant_id": "slow", "input": 1});
    let run = client.post("/runs", &body).await;
    let run = run["run_id"].as_str().unwrap();
    let term = Duration::from_secs(30);
    let claim = app.rows.claim("another", term, After::START).await;
    let claim = claim.unwrap().unwrap();

    // As when it panics: what it holds is dropped, and no line of it runs any more.
    let task = execute(app, Box::new(claim));
    let cut = tokio::time::timeout(Duration::from_millis(200), task).await;
    assert!(cut.is_err(), "the run has ended");
    assert!(app.runs.live.get(run).is_none(), "its leases are renewed");
    let feed = app.runs.feeds.get(run);
    assert!(feed.is_none_or(|feed| !feed.is_local()));
}
