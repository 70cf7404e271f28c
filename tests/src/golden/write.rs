//! Writing the golden threads.

use std::sync::Arc;

use langgraph::checkpoint::{Checkpointer, Durability, ListOptions, Snapshot};
use langgraph::message::Message;
use langgraph::node::Send;
use langgraph::prelude::*;
use langgraph::thread::{Keep, StateUpdate};

use super::graphs::{Ledger, LedgerUpdate, World, did, job, order, road, walk};
use super::{Fallible, api};

/// Stores the golden threads in a saver.
///
/// # Errors
///
/// If a graph does not do what it should.
pub async fn write(saver: &Arc<dyn Checkpointer>) -> Fallible<()> {
    let world = World::new(12.5);
    let order = order(&world)?.checkpointer(Arc::clone(saver));
    ask(&order).await?;
    go_on(&order, &world).await?;
    change(&order).await?;
    shorten(&order).await?;
    let road = road()?.checkpointer(Arc::clone(saver));
    for thread in ["asking-router", "parent"] {
        road.run(did("in")).thread(thread).await?;
    }
    road.thread("parent").resume("way", "inside").await?;
    let walk = walk()?.checkpointer(Arc::clone(saver));
    for thread in ["long", "long-exit"] {
        for turn in 0..2 {
            let run = walk.run(did(format!("turn {turn}"))).thread(thread);
            match thread {
                "long" => run.await?,
                _ => run.durability(Durability::Exit).await?,
            };
        }
    }
    Ok(())
}

/// Threads that wait for an answer.
async fn ask(order: &CompiledStateGraph<Ledger>) -> Fallible<()> {
    let threads = [
        "asking", "failed", "inside", "entered", "updated", "added", "forked", "cleared", "pruned",
    ];
    for thread in threads {
        start(order, thread).await?;
    }
    let run = order.run(did("in")).thread("exit").metadata("user", "Ada");
    run.durability(Durability::Exit).await?;
    order
        .run(did("in"))
        .thread("before")
        .interrupt_before(["left"])
        .await?;
    order
        .run(did("in"))
        .thread("async")
        .durability(Durability::Async)
        .await?;
    api::resume(order, "asking", "approve", true.into()).await?;
    order.thread("asking").copy("copied").await?;
    Ok(())
}

async fn start(order: &CompiledStateGraph<Ledger>, thread: &str) -> Fallible<()> {
    let run = order.run(did("in")).thread(thread);
    let run = run.metadata("user", "Ada").metadata("tags", vec!["a", "b"]);
    run.await?;
    Ok(())
}

/// Threads that have continued after the interrupts.
async fn go_on(order: &CompiledStateGraph<Ledger>, world: &World) -> Fallible<()> {
    world.set_works(false);
    answer(order, "failed")
        .await
        .err()
        .ok_or("it has not failed")?;
    world.set_works(true);
    answer(order, "inside").await?;
    // Two calls of the graph under `PerThread`.
    for _ in 0..2 {
        start(order, "done").await?;
        answer(order, "done").await?;
        api::resume(order, "done", "place", "there".into()).await?;
    }
    Ok(())
}

async fn answer(order: &CompiledStateGraph<Ledger>, thread: &str) -> Fallible<()> {
    api::resume(order, thread, "approve", true.into()).await?;
    api::resume(order, thread, "name", "Ada".into()).await?;
    Ok(())
}

/// Threads that were changed from outside.
async fn change(order: &CompiledStateGraph<Ledger>) -> Fallible<()> {
    let command = Command::update(did("command")).and_goto([Send::to("work", job("door", 1))]);
    let run = order
        .thread("entered")
        .proceed()
        .command(command.and_goto("right"));
    run.await?;
    let message = Message::user("a change").with_id("m3");
    let first = [
        StateUpdate::new(did("as left")).as_node("left"),
        StateUpdate::new(did("as right")).as_node("right"),
    ];
    let update = LedgerUpdate::default().messages(vec![message]);
    let second = [StateUpdate::new(update).as_node("late")];
    order
        .thread("updated")
        .update_supersteps([Vec::from(first), Vec::from(second)])
        .await?;
    order.thread("added").add_input(did("input")).await?;
    let history = api::history(order, "forked", ListOptions::default()).await?;
    order.thread("forked").at(at(&history, 3)?).fork().await?;
    let older = order.thread("forked").at(at(&history, 2)?);
    older.update(did("other")).as_node("left").await?;
    order.thread("cleared").clear_pending().await?;
    Ok(())
}

fn at(history: &[Snapshot<Ledger>], step: i64) -> Fallible<langgraph::checkpoint::CheckpointId> {
    let found = history.iter().find(|snapshot| snapshot.step == step);
    Ok(found.ok_or("no such checkpoint")?.id)
}

/// Threads that were pruned.
async fn shorten(order: &CompiledStateGraph<Ledger>) -> Fallible<()> {
    order.thread("pruned").prune(Keep::Newest(2)).await?;
    Ok(())
}
