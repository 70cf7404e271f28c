//! How long calls take, and which processes answer them.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use langgraph_restate::Restate;
use serde_json::json;

use super::{Failure, complete, register, server, services, variable};

/// Measures calls, with nothing that works or fails.
pub(super) async fn run(restate: &Restate, calls: usize) -> Result<(), Failure> {
    let _server = server()?;
    let services = services()?;
    register().await?;
    // Everything is compiled, loaded and connected.
    restate
        .thread("orders", "warm")
        .start(order("warm", 2))
        .await?;

    let (mut queries, mut starts, mut answers) = (Vec::new(), Vec::new(), Vec::new());
    for call in 0..calls {
        let name = format!("quick-{call}");
        let thread = restate.thread("orders", &name);
        let since = Instant::now();
        thread.start(order(&name, 1)).await?;
        starts.push(since.elapsed());
        let since = Instant::now();
        thread.state().await?;
        queries.push(since.elapsed());
        let since = Instant::now();
        thread.answer(true).await?;
        answers.push(since.elapsed());
    }
    show("a query", queries);
    show("a start, with two supersteps", starts);
    show(
        "an answer, with a task of a service and its effect, in three supersteps",
        answers,
    );

    let since = Instant::now();
    let mut all = tokio::task::JoinSet::new();
    for call in 0..calls {
        let name = format!("crowd-{call}");
        let thread = restate.thread("orders", &name);
        all.spawn(async move { thread.start(order(&name, 1)).await });
    }
    while let Some(started) = all.join_next().await {
        started??;
    }
    let took = since.elapsed().as_secs_f64();
    println!("{calls} starts at the same time: {took:.2} s");

    let items = calls * 10;
    let thread = restate.thread("orders", "wide");
    thread.start(order("wide", items)).await?;
    let since = Instant::now();
    thread.answer(true).await?;
    let each = since.elapsed() / u32::try_from(items)?;
    println!("a map over {items} items with an effect each: {each:.2?} an item");

    let mut packed: BTreeMap<String, usize> = BTreeMap::new();
    for process in std::fs::read_to_string(variable("PROCESSES")?)?.lines() {
        *packed.entry(process.to_owned()).or_default() += 1;
    }
    let shares: Vec<_> = packed.values().map(ToString::to_string).collect();
    println!(
        "{} processes of the service ran {} tasks: {}",
        services.len(),
        packed.values().sum::<usize>(),
        shares.join(" and ")
    );
    Ok(())
}

fn order(name: &str, items: usize) -> serde_json::Value {
    let items: Vec<_> = (0..items).map(|item| format!("{name}/{item}")).collect();
    complete(json!({"items": items, "work_ms": 0, "patience_ms": 600_000}))
}

fn show(what: &str, mut took: Vec<Duration>) {
    took.sort();
    let at = |share: usize| {
        took.get(took.len() * share / 100)
            .copied()
            .unwrap_or_default()
    };
    println!(
        "{what}: half of the calls within {:.1?}, 99 % within {:.1?}",
        at(50),
        at(99)
    );
}
