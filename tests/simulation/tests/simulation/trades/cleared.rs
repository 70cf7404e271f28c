//! A thread that is removed with runs that wait, at once or for their time, and with a cron.

use axum::http::{Method, StatusCode};
use serde_json::{Value, json};

use super::removed::stays_removed;
use super::timed;
use crate::customer::{Customer, Stopped};

pub(super) async fn trade(customer: &mut Customer) -> Result<(), Stopped> {
    let world = customer.site.world.clone();
    let timed = customer.order(1, false);
    timed::place(customer, &timed).await?;
    let mut runs = Vec::new();
    for _ in 0..=world.below(3) {
        let order = customer.order(1, false);
        let mut asks = json!({"input": order.input()});
        if world.below(3) == 0 {
            asks["after_seconds"] = json!(world.up_to(3_000).as_secs_f64());
        }
        runs.push(customer.begin(&order.name, &asks).await);
    }
    tokio::time::sleep(world.up_to(600)).await;
    let thread = customer.thread.clone();
    world.record(format!("{thread} is removed with {} runs", runs.len()));
    customer.client.remove(&thread).await;
    stays_removed(customer).await?;
    for run in &runs {
        let read = customer.client.ask(Method::GET, run, None, &Value::Null);
        let (status, row) = read.await;
        if status != StatusCode::NOT_FOUND {
            let text = format!("{run} of a thread that was removed: {status}, {row}");
            return Err(customer.violated(text));
        }
        customer.expects_webhook(run, "");
    }
    world.record(format!("{thread} is opened again"));
    customer.reopen_thread().await;
    is_new(customer, &timed.name).await
}

/// Checks that nothing of before comes to the thread that was opened again.
async fn is_new(customer: &Customer, timed: &str) -> Result<(), Stopped> {
    let id = customer.thread.trim_start_matches("/threads/");
    let search = json!({"thread_id": id});
    let crons = customer
        .client
        .post("/runs/crons/search", None, &search)
        .await;
    if crons != json!([]) {
        return Err(customer.violated(format!("{id} is new, and has {crons}")));
    }
    let runs = timed::runs_of(customer, timed).await;
    if !runs.is_empty() {
        return Err(customer.violated(format!("{id} is new, and {timed} runs there")));
    }
    Ok(())
}
