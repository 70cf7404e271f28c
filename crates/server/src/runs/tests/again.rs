//! Requests that come again.

use super::live::slow;
use super::*;
use crate::guard::Access;
use crate::queue::Pushed;
use crate::rows::Submitted;
use crate::runs::RunRequest;
use crate::runs::new_run::ThreadOfRun;

#[tokio::test]
async fn a_request_that_comes_again_stops_the_runs_that_its_first_attempt_did_not() {
    let serving = slow().start().await.unwrap();
    let (app, client) = (&serving.app, Client::of(&serving).await);
    client.post("/threads", &json!({"thread_id": ONE})).await;
    let runs = format!("/threads/{ONE}/runs");
    let first = json!({"assistant_id": "slow", "input": 1});
    let first = client.post(&runs, &first).await;
    let first = format!("{runs}/{}", first["run_id"].as_str().unwrap());

    let body = json!({
        "assistant_id": "slow", "input": 2, "run_id": OTHER, "multitask_strategy": "interrupt",
    });
    // Its process is lost when the run is in the queue, and the other one is not stopped.
    let request: RunRequest = serde_json::from_value(body.clone()).unwrap();
    let (new, _) = request
        .plan(&Access::of(app, None), Some(ONE))
        .await
        .unwrap();
    let thread = ThreadOfRun::Unchanged;
    let submission = new.submission(&thread, &app.limits, None).unwrap();
    let submitted = app.rows.submit(submission).await.unwrap();
    assert_eq!(submitted, Submitted::Pushed(Pushed::Queued));

    assert_eq!(client.post(&runs, &body).await["run_id"], OTHER);
    let join = format!("{first}/join");
    let stopped = tokio::time::timeout(Duration::from_secs(10), client.get(&join));
    stopped.await.expect("the first run goes on");
    assert_eq!(client.get(&first).await["status"], "interrupted");
}
