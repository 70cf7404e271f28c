//! Orders as threads on Restate: an order asks for an approval, packs its items in whichever process Restate
//! picks, waits for the payment, and reminds of it.
//!
//!     restate-server &
//!     cargo run -p langgraph-restate --example orders -- serve 9080 &
//!     curl localhost:9070/deployments --json '{"uri": "http://127.0.0.1:9080"}'
//!     curl localhost:8080/orders/anna/start --json '{"items": ["a book", "a pen"]}'
//!     curl localhost:8080/orders/anna/answer --json true
//!     curl localhost:8080/orders/anna/signal --json '{"event": "paid", "payload": 4200}'
//!
//! Kill the program and the server meanwhile. `RESTATE_URL` names another ingress, and
//! `tests/peers/restate.sh` uses the other roles.

mod drills;

use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use langgraph::prelude::*;
use langgraph_agent::{EffectExt as _, OnUnknown, UnknownOutcome};
use langgraph_restate::{Endpoint, Restate};
use langgraph_sqlite::SqliteSaver;
use langgraph_wait::WaitExt as _;

#[derive(State, Clone, Debug, Default)]
struct Order {
    items: Vec<String>,
    /// How long packing an item takes, and how long the payment may take, in milliseconds.
    work_ms: u64,
    patience_ms: u64,
    approved: bool,
    #[reducer(append)]
    packed: Vec<String>,
    #[reducer(append)]
    log: Vec<String>,
}

/// Where effects are written down.
struct Ledger(PathBuf);

#[node]
fn check(order: &Order) -> OrderUpdate {
    OrderUpdate::default().log(vec![format!("{} items", order.items.len())])
}

#[node]
fn approve(_: &Order, cx: &Context) -> Result<OrderUpdate, NodeError> {
    let approved: bool = cx.interrupt("approve", "Is the order all right?")?;
    let log = if approved { "approved" } else { "refused" };
    Ok(OrderUpdate::default()
        .approved(approved)
        .log(vec![log.to_owned()]))
}

#[node]
async fn pack(item: String, order: &Order, cx: &Context) -> Result<OrderUpdate, NodeError> {
    tokio::time::sleep(Duration::from_millis(order.work_ms)).await;
    drills::count_process()?;
    let ledger = cx.resource::<Ledger>()?;
    let effect = cx
        .effect("take it off the shelf")
        .on_unknown(OnUnknown::Fail);
    let taken = effect.run(|_| async {
        let mut file = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(&ledger.0)?;
        file.write_all(format!("{item}\n").as_bytes())
    });
    match taken.await {
        Ok(()) => {}
        // It may be off the shelf: a person has to look.
        Err(error) if error.is::<UnknownOutcome>() => drills::unknown(&item)?,
        Err(error) => return Err(error),
    }
    Ok(OrderUpdate::default().packed(vec![item]))
}

#[node]
fn pay(order: &Order, cx: &Context) -> Result<OrderUpdate, NodeError> {
    let deadline = SystemTime::now() + Duration::from_millis(order.patience_ms);
    let log = match cx.wait_for::<u32>("paid", deadline)? {
        Some(cents) => format!("{cents} cents came in"),
        None => "a reminder went out".to_owned(),
    };
    Ok(OrderUpdate::default().log(vec![log]))
}

fn items(order: &Order) -> Vec<String> {
    if order.approved {
        order.items.clone()
    } else {
        Vec::new()
    }
}

fn graph() -> Result<CompiledStateGraph<Order>, Box<dyn std::error::Error>> {
    let mut graph = graph! {
        type State = Order;
        let pack = worker(pack).anywhere();
        START => check => approve;
        approve => for item in items { pack(item) } => pay => END;
    };
    graph.set_name("orders");
    let ledger = std::env::var("LEDGER").unwrap_or_else(|_| "ledger.txt".to_owned());
    Ok(graph.compile()?.resource(Arc::new(Ledger(ledger.into()))))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let ingress = std::env::var("RESTATE_URL");
    let restate = Restate::at(ingress.as_deref().unwrap_or("http://127.0.0.1:8080"))?;
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match *arguments {
        ["serve", port] => {
            let file = std::env::var("THREADS").unwrap_or_else(|_| "orders.sqlite".to_owned());
            let saver = Arc::new(SqliteSaver::open(file)?);
            let graph = graph()?.executor(restate.tasks()).checkpointer(saver);
            let endpoint = Endpoint::new()
                .slots(8)
                .threads(&graph)
                .tasks(&graph, &restate);
            endpoint.serve_on(drills::listen(port.parse()?)?).await?;
            Ok(())
        }
        ref drill => drills::run(&restate, drill).await,
    }
}
