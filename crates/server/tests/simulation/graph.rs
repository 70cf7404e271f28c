//! The graph that is served: steps, a question, and two branches: a payment, and a graph inside.

use std::sync::Arc;
use std::time::Duration;

use langgraph::prelude::*;
use langgraph_server::ServedGraph;
use serde::{Deserialize, Serialize};

use crate::ledger::Ledger;
use crate::world::World;

/// What a thread has done. An input is an order.
#[derive(State, Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Work {
    order: String,
    /// How many steps are left.
    steps: u32,
    asks: bool,
    #[reducer(append)]
    done: Vec<String>,
}

/// What nodes share with the world.
struct Outside {
    world: World,
    ledger: Arc<Ledger>,
}

impl Outside {
    /// Works for a while, and sometimes for longer than a lease lasts.
    async fn work(&self) {
        let time = match self.world.below(100) {
            0 => LEASE + self.world.up_to(2_000),
            _ => self.world.up_to(60),
        };
        if !time.is_zero() {
            tokio::time::sleep(time).await;
        }
    }
}

fn done(what: String) -> WorkUpdate {
    WorkUpdate::default().done(vec![what])
}

#[node]
async fn step(work: &Work, cx: &Context) -> Result<WorkUpdate, NodeError> {
    let outside = cx.resource::<Outside>()?;
    outside.work().await;
    let what = format!("{}/step {}", work.order, work.steps);
    cx.emit(what.clone()).await?;
    outside.work().await;
    Ok(done(what).steps(work.steps.saturating_sub(1)))
}

#[node]
async fn ask(work: &Work, cx: &Context) -> Result<WorkUpdate, NodeError> {
    if !work.asks {
        return Ok(WorkUpdate::default());
    }
    let answer: String = cx.interrupt("may I?", &work.order)?;
    cx.resource::<Outside>()?.work().await;
    Ok(done(format!("{}/answer {answer}", work.order)))
}

#[node]
async fn pay(work: &Work, cx: &Context) -> Result<WorkUpdate, NodeError> {
    let outside = cx.resource::<Outside>()?;
    let order = work.order.clone();
    let paid = async {
        let begun = outside.world.elapsed();
        outside.work().await;
        outside.ledger.pay(&order, begun);
        Ok::<_, NodeError>(order.len())
    };
    cx.once("pay", paid).await?;
    outside.ledger.kept(&order);
    outside.work().await;
    Ok(done(format!("{order}/paid")))
}

#[node]
async fn pack(work: &Work, cx: &Context) -> Result<WorkUpdate, NodeError> {
    cx.resource::<Outside>()?.work().await;
    Ok(done(format!("{}/packed", work.order)))
}

#[node]
async fn label(work: &Work, cx: &Context) -> Result<WorkUpdate, NodeError> {
    cx.resource::<Outside>()?.work().await;
    Ok(done(format!("{}/labelled", work.order)))
}

#[node]
async fn ship(work: &Work) -> WorkUpdate {
    done(format!("{}/shipped", work.order))
}

/// Returns what an order does, in its order.
pub(crate) fn expected(order: &str, steps: u32, answer: Option<&str>) -> Vec<String> {
    let mut all: Vec<String> = (0..steps.max(1))
        .map(|step| format!("{order}/step {}", steps.saturating_sub(step)))
        .collect();
    all.extend(answer.map(|answer| format!("{order}/answer {answer}")));
    all.extend(["paid", "packed", "labelled", "shipped"].map(|what| format!("{order}/{what}")));
    all
}

pub(crate) fn served(world: &World, ledger: &Arc<Ledger>) -> ServedGraph {
    let mut warehouse = graph! {
        type State = Work;
        START => pack => label => END;
    };
    let warehouse = warehouse.set_name("warehouse").compile();
    let warehouse = warehouse.expect("the warehouse is wired");
    let mut graph = graph! {
        type State = Work;
        START => step => if |work: &Work| work.steps > 0 {
            step
        } else {
            ask
        };
        ask => [pay, warehouse] => ship => END;
    };
    let outside = Outside {
        world: world.clone(),
        ledger: Arc::clone(ledger),
    };
    let graph = graph.set_name("work").compile();
    let graph = graph.expect("the graph is wired");
    ServedGraph::from(graph.resource(Arc::new(outside)))
}

/// How long the lease of a server lasts.
pub(crate) const LEASE: Duration = Duration::from_secs(3);
