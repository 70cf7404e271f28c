//! Resources that a node always asks for: a run without one is refused at its start.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use langgraph::checkpoint::MemorySaver;
use langgraph::error::{AgentError, MissingResource};
use langgraph::node::{NeededResource, Node, NodeRun};
use langgraph::prelude::*;

use crate::list::{List, ListUpdate};

trait Clock: Send + Sync {
    fn hour(&self) -> u8;
}

struct Noon;

impl Clock for Noon {
    fn hour(&self) -> u8 {
        12
    }
}

/// Counts how often the first node has run.
#[derive(Default)]
struct Runs(AtomicU32);

#[node]
async fn first(_: &List, cx: &Context) -> ListUpdate {
    if let Ok(runs) = cx.resource::<Runs>() {
        runs.0.fetch_add(1, Ordering::Relaxed);
    }
    ListUpdate::default()
}

#[node]
async fn read_clock(_: &List, cx: &Context) -> Result<ListUpdate, NodeError> {
    let hour = cx.resource::<dyn Clock>()?.hour();
    Ok(ListUpdate::default().log(vec![format!("{hour} h")]))
}

fn refused(error: &AgentError) -> String {
    let source = error.node_error().unwrap();
    assert!(source.is::<MissingResource>(), "{error}");
    error.to_string()
}

#[tokio::test]
async fn a_value_that_is_no_trait_object_is_found_before_any_node_runs() {
    let saver = Arc::new(MemorySaver::new());
    let runs = Arc::new(Runs::default());
    let graph = graph! { START => first => read_clock => END };
    let graph = graph.compile().unwrap().checkpointer(saver);
    let graph = graph.resource(Arc::clone(&runs)).resource(Arc::new(Noon));

    let error = graph.run(List::default()).thread("t").await.unwrap_err();
    let text = refused(&error);
    let start = "node `read_clock` cannot run: no resource of type `dyn ";
    assert!(text.starts_with(start), "{text}");
    let turbofish = "Clock>(Arc::new(value))`, with this turbofish";
    assert!(text.contains(turbofish), "{text}");
    assert!(text.ends_with("::Noon)"), "{text}");
    assert_eq!(runs.0.load(Ordering::Relaxed), 0);
    assert!(graph.thread("t").history().await.unwrap().is_empty());

    let run = graph.run(List::default()).thread("t");
    let run = run.resource::<dyn Clock>(Arc::new(Noon));
    assert_eq!(run.await.unwrap().finished().unwrap().log, ["12 h"]);
    assert_eq!(runs.0.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn a_node_of_a_subgraph_is_named_by_its_path() {
    let inner = graph! { START => read_clock => END }.compile().unwrap();
    let given = inner.clone().resource::<dyn Clock>(Arc::new(Noon));
    let graph = graph! { START => first => inner => END }.compile().unwrap();
    let error = graph.invoke(List::default()).await.unwrap_err();
    let text = refused(&error);
    assert!(
        text.starts_with("node `inner/read_clock` cannot run"),
        "{text}"
    );

    let graph = graph! { START => first => given => END }.compile().unwrap();
    let day = graph.invoke(List::default()).await.unwrap();
    assert_eq!(day.log, ["12 h"], "the subgraph has its own");
}

struct Watch {
    name: &'static str,
}

#[node]
impl Watch {
    async fn run(&self, item: String, _: &List, cx: &Context) -> Result<ListUpdate, NodeError> {
        let clock = cx.resource_arc::<dyn Clock>()?;
        let line = format!("{} {item} {}", self.name, clock.hour());
        Ok(ListUpdate::default().log(vec![line]))
    }
}

#[node]
async fn look(item: String, cx: &Context) -> Result<ListUpdate, NodeError> {
    let hour = cx.resource::<dyn Clock>()?.hour();
    Ok(ListUpdate::default().log(vec![format!("{item} {hour}")]))
}

fn items(day: &List) -> Vec<String> {
    day.items.clone()
}

#[tokio::test]
async fn workers_need_resources() {
    let watch = Watch { name: "a" };
    let graphs = [
        (
            "watch",
            graph! { START => for item in items { watch(item) } => END },
        ),
        (
            "look",
            graph! { START => for item in items { look(item) } => END },
        ),
    ];
    for (name, graph) in graphs {
        let graph = graph.compile().unwrap();
        let error = graph.invoke(List::default()).await.unwrap_err();
        assert!(refused(&error).contains(&format!("node `{name}` cannot run")));
        let input = ListUpdate::default().items(vec!["x".to_owned()]);
        let run = graph.run(input).resource::<dyn Clock>(Arc::new(Noon));
        assert_eq!(run.await.unwrap().finished().unwrap().log.len(), 1);
    }
}

struct ByHand;

impl Node<List> for ByHand {
    fn run<'a>(&'a self, _: &'a List, cx: &'a Context) -> NodeRun<'a, List> {
        let hour = cx.resource::<dyn Clock>().map(Clock::hour);
        NodeRun::ready(hour.map(|hour| ListUpdate::default().log(vec![hour.to_string()])))
    }

    fn needs(&self) -> Vec<NeededResource> {
        vec![NeededResource::of::<dyn Clock>()]
    }
}

#[tokio::test]
async fn a_node_by_hand_says_what_it_needs() {
    let by_hand = Arc::new(ByHand);
    let graph = graph! { START => by_hand => END }.compile().unwrap();
    let error = graph.invoke(List::default()).await.unwrap_err();
    assert!(refused(&error).starts_with("node `by_hand` cannot run"));
}

#[node]
async fn maybe(day: &List, cx: &Context) -> Result<ListUpdate, NodeError> {
    if !day.items.is_empty() {
        cx.resource::<dyn Clock>()?;
    }
    let known = cx.resource::<Noon>().is_ok();
    Ok(ListUpdate::default().log(vec![known.to_string()]))
}

#[tokio::test]
async fn what_a_node_asks_for_in_one_branch_only_is_not_needed() {
    let graph = graph! { START => maybe => END }.compile().unwrap();
    assert_eq!(graph.invoke(List::default()).await.unwrap().log, ["false"]);
    let input = ListUpdate::default().items(vec!["x".to_owned()]);
    let error = graph.invoke(input).await.unwrap_err();
    assert!(refused(&error).starts_with("node `maybe` cannot run"));
}

#[tokio::test]
async fn a_node_that_runs_anywhere_has_its_resources_there() {
    let graph = graph! {
        let read_clock = read_clock.anywhere();

        START => first => read_clock => END;
    };
    let runs = Arc::new(Runs::default());
    let graph = graph.compile().unwrap().resource(Arc::clone(&runs));
    let error = graph.invoke(List::default()).await.unwrap_err();
    assert!(refused(&error).starts_with("node `read_clock` cannot run"));
    assert_eq!(
        runs.0.load(Ordering::Relaxed),
        1,
        "it is found where it runs"
    );
}
