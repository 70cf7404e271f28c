//! The graph that is served: steps, a question, branches, and parcels. A branch is a payment, a graph inside, or an agent.

use std::sync::Arc;
use std::time::Duration;

use langgraph::graph::ConfiguredNode;
use langgraph::policy::RetryPolicy;
use langgraph::prelude::*;
use langgraph_remote::{RemoteNode, Transport};
use langgraph_server::ServedGraph;
use serde::{Deserialize, Serialize};

use crate::agent::APPRAISER;
use crate::outside::Outside;
use crate::relay::ThroughRelay;
use crate::site::Site;
use crate::watched::Watched;
use crate::worker::queue;

/// How long the lease of a server lasts.
pub(crate) const LEASE: Duration = Duration::from_secs(3);

/// What a thread has done. An input is an order.
#[derive(State, Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Work {
    order: String,
    /// How many steps are left.
    steps: u32,
    asks: bool,
    is_appraised: bool,
    /// True if its payment takes long, in each attempt.
    is_slow: bool,
    parcels: u32,
    ballast: String,
    #[reducer(append)]
    done: Vec<String>,
}

fn done(what: String) -> WorkUpdate {
    WorkUpdate::default().done(vec![what])
}

#[node]
async fn step(work: &Work, cx: &Context) -> Result<WorkUpdate, NodeError> {
    let outside = cx.resource::<Outside>()?;
    let _at_work = outside.begins(cx);
    outside.work().await;
    let what = format!("{}/step {}", work.order, work.steps);
    cx.emit(what.clone()).await?;
    // Without more work, the event and the record of the step are stored at once.
    if outside.world.below(2) == 0 {
        outside.work().await;
    }
    Ok(done(what).steps(work.steps.saturating_sub(1)))
}

#[node]
async fn ask(work: &Work, cx: &Context) -> Result<WorkUpdate, NodeError> {
    if !work.asks {
        return Ok(WorkUpdate::default());
    }
    let answer: String = cx.interrupt("may I?", &work.order)?;
    let outside = cx.resource::<Outside>()?;
    let _at_work = outside.begins(cx);
    outside.work().await;
    Ok(done(format!("{}/answer {answer}", work.order)))
}

#[node]
async fn pay(work: &Work, cx: &Context) -> Result<WorkUpdate, NodeError> {
    let outside = cx.resource::<Outside>()?;
    let at_work = outside.begins(cx);
    outside.prepare(&work.order).await;
    let paid = format!("{}/paid", work.order);
    outside.acts(cx, &at_work, &paid, work.is_slow).await?;
    Ok(done(paid))
}

#[node]
async fn pack(work: &Work, cx: &Context) -> Result<WorkUpdate, NodeError> {
    let outside = cx.resource::<Outside>()?;
    let _at_work = outside.begins(cx);
    outside.work().await;
    Ok(done(format!("{}/packed", work.order)))
}

#[node]
async fn label(work: &Work, cx: &Context) -> Result<WorkUpdate, NodeError> {
    let outside = cx.resource::<Outside>()?;
    let _at_work = outside.begins(cx);
    outside.work().await;
    Ok(done(format!("{}/labelled", work.order)))
}

#[node]
async fn ship(work: &Work) -> WorkUpdate {
    done(format!("{}/shipped", work.order))
}

/// The agent is asked until it answers.
fn appraise() -> ConfiguredNode<Work> {
    let patient = RetryPolicy::attempts(1_000)
        .initial_interval(Duration::from_millis(200))
        .max_interval(Duration::from_secs(4));
    let asks = |work: &Work| work.is_appraised.then(|| work.order.clone());
    RemoteNode::by_resource(APPRAISER)
        .bind(asks, done)
        .retry(patient)
}

#[node]
async fn wrap(parcel: u32, work: &Work, cx: &Context) -> Result<WorkUpdate, NodeError> {
    let outside = cx.resource::<Outside>()?;
    let at_work = outside.begins(cx);
    outside.work().await;
    let wrapped = format!("{}/parcel {parcel}", work.order);
    outside.acts(cx, &at_work, &wrapped, false).await?;
    Ok(done(wrapped))
}

enum Parcels {
    All(Vec<u32>),
    None,
}

fn parcels(work: &Work) -> Parcels {
    match work.parcels {
        0 => Parcels::None,
        parcels => Parcels::All((1..=parcels).collect()),
    }
}

/// Returns the graph.
pub(crate) fn work(site: &Site) -> CompiledStateGraph<Work> {
    let mut warehouse = graph! {
        type State = Work;
        START => pack => label => END;
    };
    let warehouse = warehouse.set_name("warehouse").compile();
    let warehouse = warehouse.expect("the warehouse is wired");
    let mut graph = graph! {
        type State = Work;
        let appraise = appraise();
        let wrap = worker(wrap).anywhere();
        START => step => if |work: &Work| work.steps > 0 {
            step
        } else {
            ask
        };
        ask => [pay, warehouse, appraise] => ship => match parcels {
            Parcels::All(all) => for parcel in all { wrap(parcel) } => END,
            Parcels::None => END,
        };
    };
    let graph = graph.set_name("work").compile();
    let graph = graph.expect("the graph is wired");
    graph.resource(Arc::new(Outside::new(site)))
}

/// Returns the graph as a process of a server has it.
pub(crate) fn served(site: &Site, server: &str) -> ServedGraph {
    let mut graph = work(site);
    if site.has_agent {
        let relay: Arc<dyn Transport> = ThroughRelay::open(&site.network.streams, server);
        graph = graph.resource(relay);
    }
    if site.workers > 0 {
        graph = graph.executor(Watched {
            queue: queue(site, server),
            world: site.world.clone(),
        });
    }
    ServedGraph::from(graph)
}
