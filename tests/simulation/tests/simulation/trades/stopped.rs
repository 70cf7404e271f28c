//! Orders of which each stops those before it, at once or when its time has come, while their thread is copied and pruned.

use std::time::Duration;

use axum::http::{Method, StatusCode};
use futures_util::future::join_all;
use serde_json::{Value, json};

use super::is_within;
use crate::customer::{Customer, Ended, Stopped};
use crate::order::Order;

/// The steps of an order that takes longer than [`STOPS`].
const LONG: u32 = 100;

/// How long an order may go on once the one that stops it is acknowledged.
const STOPS: Duration = Duration::from_secs(6);

/// An order that is acknowledged.
struct Placed {
    order: Order,
    path: String,
    /// What becomes of the orders before it; empty for the first one.
    strategy: &'static str,
    /// When it was acknowledged.
    since: Duration,
    /// How long after that it stops them.
    delay: Duration,
    /// How many processes were lost before.
    lost: u32,
}

/// A copy of the thread, and what it has done.
struct Copied {
    path: String,
    done: Vec<String>,
}

pub(super) async fn trade(customer: &mut Customer) -> Result<(), Stopped> {
    let world = customer.site.world.clone();
    let last = 1 + usize::from(world.below(2) == 0);
    let mut orders = Vec::new();
    for number in 0..=last {
        let is_long = number < last && world.below(4) == 0;
        orders.push(customer.order(if is_long { LONG } else { 2 }, false));
    }
    let all = orders.iter().flat_map(|order| order.expected(None));
    let all: Vec<String> = all.collect();
    let carried_out = async {
        let mut placed = Vec::new();
        for (number, order) in orders.into_iter().enumerate() {
            placed.push(place(customer, order, number, last).await);
        }
        let ends = placed
            .iter()
            .map(|placed| customer.ended(placed.path.clone(), &placed.order.name));
        let ended = join_all(ends).await;
        (placed, ended)
    };
    let ((placed, ended), copied) = tokio::join!(carried_out, copy_and_prune(customer, &all));
    for (at, ended) in ended.iter().enumerate() {
        let (_, later) = placed.split_at(at + 1);
        customer.ends(ended, &ways(later))?;
        is_stopped_in_time(customer, ended, later)?;
    }
    is_as_ended(customer, &placed, &ended).await?;
    match copied? {
        Some(copied) => order_on(customer, copied).await,
        None => Ok(()),
    }
}

/// Places an order. All but the first one stop those before.
async fn place(customer: &Customer, order: Order, number: usize, last: usize) -> Placed {
    let world = &customer.site.world;
    let mut asks = json!({"input": order.input()});
    let mut strategy = "";
    if number > 0 {
        strategy = ["interrupt", "rollback"][usize::from(world.below(2) == 0)];
        asks["multitask_strategy"] = json!(strategy);
    }
    let mut delay = Duration::ZERO;
    if number == last && world.below(4) == 0 {
        delay = world.up_to(1_500);
        asks["after_seconds"] = json!(delay.as_secs_f64());
    }
    if number < last {
        customer.site.ledger.cancels(&order.name);
    }
    world.record(format!("{} stops others: {strategy:?}", order.name));
    let path = customer.begin(&order.name, &asks).await;
    let (since, lost) = (world.elapsed(), world.lost());
    // The next one comes later, by the clock of the queue.
    tokio::time::sleep(Duration::from_millis(2) + world.up_to(500)).await;
    Placed {
        order,
        path,
        strategy,
        since,
        delay,
        lost,
    }
}

/// Returns how an order may end that others have stopped.
fn ways(later: &[Placed]) -> Vec<&'static str> {
    let ways = later.iter().map(|placed| match placed.strategy {
        "rollback" => "",
        _ => "interrupted",
    });
    ways.chain(["success"]).collect()
}

/// Checks that an order has not gone on to its end although it was stopped, unless a process was lost since, or the
/// database failed. A process that drains may leave one whose time has come for a minute.
fn is_stopped_in_time(customer: &Customer, ended: &Ended, later: &[Placed]) -> Result<(), Stopped> {
    let world = &customer.site.world;
    let Some(next) = later.first() else {
        return Ok(());
    };
    let is_disturbed = world.lost() > next.lost || world.has_failed_since(next.since);
    let may_wait = !next.delay.is_zero() && !customer.site.ledger.is_calm_since(next.since);
    if ended.status == "success"
        && ended.when > next.since + next.delay + STOPS
        && !is_disturbed
        && !may_wait
    {
        let path = &ended.path;
        return Err(customer.violated(format!("{path} was stopped, and goes on to its end")));
    }
    Ok(())
}

/// Checks that the thread has of each order what its end says.
async fn is_as_ended(
    customer: &mut Customer,
    placed: &[Placed],
    ended: &[Ended],
) -> Result<(), Stopped> {
    let stored = customer.stored().await;
    let mut rest = stored.strip_prefix(&*customer.done).unwrap_or_default();
    let mut is_expected = stored.starts_with(&customer.done);
    for (Placed { order, .. }, ended) in placed.iter().zip(ended) {
        let own = format!("{}/", order.name);
        let count = rest.iter().take_while(|what| what.starts_with(&own));
        let (part, behind) = rest.split_at(count.count());
        is_expected &= match &*ended.status {
            "success" => part == order.expected(None),
            "interrupted" => is_within(part, &order.expected(None)),
            _ => part.is_empty(),
        };
        rest = behind;
    }
    if !is_expected || !rest.is_empty() {
        let statuses: Vec<_> = ended.iter().map(|ended| &*ended.status).collect();
        return Err(customer.violated(format!("orders ended {statuses:?}, and left {stored:?}")));
    }
    customer.done = stored;
    Ok(())
}

/// Copies the thread and prunes it, a few times. Returns one of the copies.
async fn copy_and_prune(customer: &Customer, all: &[String]) -> Result<Option<Copied>, Stopped> {
    let world = &customer.site.world;
    let mut copied = None;
    for _ in 0..world.below(4) {
        tokio::time::sleep(world.up_to(400)).await;
        if world.below(2) == 0 {
            copied = Some(copy(customer, all).await?);
        } else {
            prune(customer).await?;
        }
    }
    Ok(copied)
}

/// Copies the thread: the copy has what the thread has done so far.
async fn copy(customer: &Customer, all: &[String]) -> Result<Copied, Stopped> {
    customer.site.world.record("the thread is copied");
    let copy = format!("{}/copy", customer.thread);
    let copy = customer.client.post(&copy, None, &Value::Null).await;
    let id = copy["thread_id"].as_str().unwrap_or_default();
    let path = format!("/threads/{id}");
    let state = customer.client.get(&format!("{path}/state")).await;
    let done = |of: &Value| -> Vec<String> {
        serde_json::from_value(of["values"]["done"].clone()).unwrap_or_default()
    };
    let stored = done(&state);
    let part = stored.strip_prefix(&*customer.done);
    if !part.is_some_and(|part| is_within(part, all)) {
        return Err(customer.violated(format!("the copy {path} has {stored:?}")));
    }
    let row = customer.client.get(&path).await;
    // That of a thread whose run was given up says what was before the run.
    if row["status"] != "error" && done(&row) != stored {
        let text = format!("the copy {path} has {stored:?}, and its row {row}");
        return Err(customer.violated(text));
    }
    Ok(Copied { path, done: stored })
}

/// Prunes the thread. Nothing is done while a run has it.
async fn prune(customer: &Customer) -> Result<(), Stopped> {
    customer.site.world.record("the thread is pruned");
    let id = customer.thread.trim_start_matches("/threads/");
    let body = json!({"thread_ids": [id], "strategy": "keep_latest"});
    let path = "/threads/prune";
    let (status, text) = customer.client.ask(Method::POST, path, None, &body).await;
    if status != StatusCode::OK {
        return Err(customer.violated(format!("{id} is not pruned: {status}, {text}")));
    }
    Ok(())
}

/// Places an order on a copy, and removes it.
async fn order_on(customer: &mut Customer, copied: Copied) -> Result<(), Stopped> {
    let order = customer.order(1, false);
    let thread = std::mem::replace(&mut customer.thread, copied.path.clone());
    let key = &order.name;
    let ended = customer.run(key, &json!({"input": order.input()})).await;
    let stored = customer.stored().await;
    customer.thread = thread;
    customer.ends(&ended, &["success"])?;
    // What a branch had done is dropped if the other one had not ended.
    let before = stored.strip_suffix(&*order.expected(None));
    if !before.is_some_and(|before| is_within(before, &copied.done)) {
        let Copied { path, done } = copied;
        let text = format!(
            "{path} had {done:?}, and has {stored:?} with {}",
            order.name
        );
        return Err(customer.violated(text));
    }
    customer.client.remove(&copied.path).await;
    Ok(())
}
