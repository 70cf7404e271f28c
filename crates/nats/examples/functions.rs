//! An entrypoint whose tasks run in any number of processes, over NATS.
//!
//!     nats-server &
//!     cargo run -p langgraph-nats --example functions -- work    # in several terminals
//!     cargo run -p langgraph-nats --example functions -- run 2000
//!
//! Kill workers while it runs: each item is in the result once, and each effect happened once or is reported as unknown.
//! `NATS_URL` names another server; effects are written down in the file `LEDGER`.

use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use langgraph::checkpoint::MemorySaver;
use langgraph::prelude::*;
use langgraph_agent::{EffectExt as _, OnUnknown, UnknownOutcome};
use langgraph_functional::{EntrypointExt, Tasks, entrypoint, task};
use langgraph_nats::{Nats, Worker};

/// Where effects are written down.
struct Ledger(PathBuf);

/// Writes the item down; returns it, and whether it was written for certain.
#[task(anywhere)]
async fn write_down(item: u32, cx: &Context) -> Result<(u32, bool), NodeError> {
    let ledger = cx.resource::<Ledger>()?;
    let effect = cx.effect("write down").on_unknown(OnUnknown::Fail);
    let written = effect.run(|_| async {
        let mut file = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(&ledger.0)?;
        file.write_all(format!("{item}\n").as_bytes())
    });
    match written.await {
        Ok(()) => Ok((item, true)),
        Err(error) if error.is::<UnknownOutcome>() => Ok((item, false)),
        Err(error) => Err(error),
    }
}

#[entrypoint]
async fn write_all(items: u32, cx: &Context) -> Result<Vec<(u32, bool)>, NodeError> {
    let calls = (0..items).map(|item| write_down(item).on(cx));
    stream::iter(calls).buffered(64).try_collect().await
}

fn tasks() -> Tasks {
    Tasks::new().task(write_down)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let role = arguments.next().unwrap_or_else(|| "run".to_owned());
    let items = arguments.next().map_or(Ok(2_000), |text| text.parse())?;
    let url = std::env::var("NATS_URL").unwrap_or_else(|_| "nats://127.0.0.1:4222".to_owned());
    let ledger = std::env::var("LEDGER").unwrap_or_else(|_| "ledger.txt".to_owned());
    let queue = Nats::connect(&url).await?.queue("functions");
    if role == "work" {
        let graph = tasks().compile()?;
        let graph = graph.resource(Arc::new(Ledger(ledger.into())));
        Worker::new(&graph).slots(4).serve(&queue).await?;
        return Ok(());
    }
    let graph = write_all
        .compile()?
        .resource(Arc::new(tasks().executor(queue)?))
        .checkpointer(Arc::new(MemorySaver::new()));
    let outcome = graph.thread("t").run(write_all(items)).await?;
    let written = outcome.finished()?.output.unwrap_or_default();
    let in_order = written.iter().map(|(item, _)| *item).eq(0..items);
    let unknown = written.iter().filter(|(_, known)| !known).count();
    println!("{items} items, each once and in order: {in_order}; {unknown} unknown");
    Ok(())
}
