//! An order whose time comes later: a cron with one moment.

use std::time::{Duration, UNIX_EPOCH};

use axum::http::{Method, StatusCode};
use chrono::{DateTime, Utc};
use langgraph::environment::START;
use serde_json::{Value, json};

use crate::customer::{Customer, Stopped};
use crate::order::Order;

pub(super) async fn trade(customer: &mut Customer) -> Result<(), Stopped> {
    let order = customer.order(1, false);
    let name = &order.name;
    let (cron, moment) = place(customer, &order).await?;
    let created = cron["created_at"].as_str().map(str::parse::<DateTime<Utc>>);
    // Its time is a whole second.
    if created.is_none_or(|created| created.is_ok_and(|at| at.timestamp() >= moment.timestamp())) {
        return Ok(());
    }
    let path = started(customer, name).await?;
    let ended = customer.ended(path, name).await;
    customer.ends(&ended, &["success"])?;
    customer.done.extend(order.expected(None));
    let cron = format!(
        "/runs/crons/{}",
        cron["cron_id"].as_str().unwrap_or_default()
    );
    customer
        .client
        .ask(Method::DELETE, &cron, None, &Value::Null)
        .await;
    let runs = runs_of(customer, name).await;
    if runs.len() != 1 {
        return Err(customer.violated(format!("{name} has started {} runs", runs.len())));
    }
    Ok(())
}

/// Places an order for a moment that comes soon. Returns its cron, and the moment.
pub(super) async fn place(
    customer: &Customer,
    order: &Order,
) -> Result<(Value, DateTime<Utc>), Stopped> {
    let world = &customer.site.world;
    let moment = world.elapsed() + Duration::from_secs(2) + world.up_to(4_000);
    let moment = DateTime::<Utc>::from(UNIX_EPOCH + START + moment);
    let name = &order.name;
    world.record(format!("{name} is asked for, for {}", moment.format("%T")));
    let mut body = Customer::request(&json!({"input": order.input()}));
    body["schedule"] = json!(moment.format("%S %M %H %d %m *").to_string());
    Ok((create(customer, &body).await?, moment))
}

/// Creates a cron, and returns it. Such a request has no key: a client that does not know what became of it looks first.
async fn create(customer: &Customer, body: &Value) -> Result<Value, Stopped> {
    let path = format!("{}/runs/crons", customer.thread);
    let thread = customer.thread.trim_start_matches("/threads/");
    let search = json!({"thread_id": thread});
    loop {
        let found = customer.client.post("/runs/crons/search", None, &search);
        let found = found.await;
        let mut found = found.as_array().into_iter().flatten();
        if let Some(cron) = found.find(|cron| cron["schedule"] == body["schedule"]) {
            return Ok(cron.clone());
        }
        let answer = customer.client.try_once(Method::POST, &path, body).await;
        if let Some((status, answer)) = answer
            && status != StatusCode::OK
        {
            return Err(customer.violated(format!("{path} answers {status}: {answer}")));
        }
    }
}

/// Waits until the run of an order is there, and returns its path.
async fn started(customer: &Customer, order: &str) -> Result<String, Stopped> {
    for _ in 0..300 {
        if let Some(run) = runs_of(customer, order).await.first() {
            let run = run["run_id"].as_str().unwrap_or_default();
            return Ok(format!("{}/runs/{run}", customer.thread));
        }
        customer.client.pause().await;
    }
    Err(customer.violated(format!("the time of {order} has come, and it has no run")))
}

/// Returns the runs of an order.
pub(super) async fn runs_of(customer: &Customer, order: &str) -> Vec<Value> {
    let path = format!("{}/runs?limit=100", customer.thread);
    let Value::Array(mut runs) = customer.client.get(&path).await else {
        return Vec::new();
    };
    runs.retain(|run| run["kwargs"]["input"]["order"] == order);
    runs
}
