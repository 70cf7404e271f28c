//! Every form of node runs in a graph through the one `add_node`.

use std::sync::Arc;

use langgraph::node::{NodeFuture, NodeMeta, NodeRun, OwnedFuture};
use langgraph::prelude::*;
use langgraph::state::PlainUpdate;

#[derive(Debug)]
struct Failed;

impl std::fmt::Display for Failed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("failed")
    }
}

impl std::error::Error for Failed {}

async fn by_ref(n: &i64) -> i64 {
    n + 1
}

async fn by_ref_with_context(n: &i64, cx: &Context) -> Result<i64, Failed> {
    tokio::task::yield_now().await;
    Ok(n + i64::from(cx.attempt()))
}

async fn by_value(n: i64) -> (i64, Next) {
    (n + 1, Next::Continue)
}

async fn by_value_with_context(n: i64, cx: &Context) -> PlainUpdate<i64> {
    assert_eq!(cx.node(), "by_value_with_context");
    PlainUpdate(Some(n + 1))
}

fn sync_by_ref(n: &i64) -> i64 {
    n + 1
}

fn sync_by_ref_with_context(n: &i64, _: &Context) -> Result<PlainUpdate<i64>, NodeError> {
    Ok(PlainUpdate(Some(n + 1)))
}

fn sync_by_value(n: i64) -> i64 {
    n + 1
}

fn sync_by_value_with_context(n: i64, _: &Context) -> Command<i64> {
    Command::update(PlainUpdate(Some(n + 1)))
}

fn nothing(_: &i64) {}

struct Meta;

impl NodeMeta for Meta {
    const NAME: &'static str = "annotated";
}

fn annotated(n: &i64) -> NodeFuture<'_, i64, Result<i64, Failed>, Meta> {
    NodeFuture::new(async move { Ok(n + 1) })
}

fn annotated_with_context<'a>(n: &'a i64, cx: &'a Context) -> NodeFuture<'a, i64, i64, Meta> {
    NodeFuture::new(async move { n + i64::from(cx.attempt()) })
}

fn annotated_by_value(n: i64) -> OwnedFuture<'static, i64, Meta> {
    OwnedFuture::new(async move { n + 1 })
}

fn annotated_by_value_with_context(n: i64, cx: &Context) -> OwnedFuture<'_, i64, Meta> {
    OwnedFuture::new(async move { n + i64::from(cx.attempt()) })
}

struct AddOne;

impl Node<i64> for AddOne {
    fn run<'a>(&'a self, state: &'a i64, _: &'a Context) -> NodeRun<'a, i64> {
        NodeRun::future(async move { state + 1 })
    }
}

struct Incrementer;

impl Agent for Incrementer {
    type State = i64;

    fn name(&self) -> &'static str {
        "incrementer"
    }

    async fn run(&self, state: i64) -> Result<i64, AgentError> {
        Ok(state + 1)
    }
}

#[tokio::test]
async fn a2_every_node_form_runs_in_one_graph() {
    let captured = 1;
    let mut inner = StateGraph::<i64>::new();
    inner.add_node("inner", by_ref).add_sequence(&["inner"]);
    let mut graph = StateGraph::new();
    graph
        .add_node("by_ref", by_ref)
        .add_node("by_ref_with_context", by_ref_with_context)
        .add_node("by_value", by_value)
        .add_node("by_value_with_context", by_value_with_context)
        .add_node("sync_by_ref", sync_by_ref)
        .add_node("sync_by_ref_with_context", sync_by_ref_with_context)
        .add_node("sync_by_value", sync_by_value)
        .add_node("sync_by_value_with_context", sync_by_value_with_context)
        .add_node("nothing", nothing)
        .add_node("annotated", annotated)
        .add_node("annotated_with_context", annotated_with_context.retry(2))
        .add_node("annotated_by_value", annotated_by_value)
        .add_node(
            "annotated_by_value_with_context",
            annotated_by_value_with_context,
        )
        .add_node("node", AddOne)
        .add_node("boxed_node", Box::new(AddOne) as Box<dyn Node<i64>>)
        .add_node("shared_node", Arc::new(AddOne) as Arc<dyn Node<i64>>)
        .add_node("agent", Incrementer)
        .add_node("shared_agent", Arc::new(Incrementer))
        .add_node("closure", move |n: &i64| n + captured)
        .add_node("async_closure", move |n: &i64| {
            let n = *n;
            async move { n + captured }
        })
        .add_node("owning_closure", |n: i64| async move { n + 1 })
        .add_node(
            "configured",
            by_ref.retry(3).timeout(std::time::Duration::from_secs(9)),
        )
        .add_node("subgraph", inner.compile().unwrap());
    let names: Vec<_> = graph
        .topology()
        .nodes
        .iter()
        .map(|node| node.name.clone())
        .collect();
    graph.add_sequence(&names);
    // All but `nothing` add one.
    assert_eq!(graph.compile().unwrap().invoke(0).await.unwrap(), 22);
}

#[tokio::test]
async fn routers_of_every_form() {
    async fn asynchronous(n: &i64) -> &'static str {
        if *n < 10 { "again" } else { END }
    }
    async fn fallible(n: &i64, _: &Context) -> Result<Vec<String>, Failed> {
        if *n < 10 {
            Ok(vec!["again".to_owned()])
        } else {
            Ok(vec![])
        }
    }
    fn sync(n: &i64) -> Option<&'static str> {
        (*n < 10).then_some("again")
    }
    fn sync_fallible(n: &i64, _: &Context) -> Result<&'static str, Failed> {
        if *n < 10 { Ok("again") } else { Err(Failed) }
    }
    let graph = || {
        let mut graph = StateGraph::<i64>::new();
        graph.add_node("again", by_ref).add_edge(START, "again");
        graph
    };
    let run = async |graph: StateGraph<i64>| graph.compile().unwrap().invoke(0).await;
    let mut g = graph();
    g.add_router("again", asynchronous);
    assert_eq!(run(g).await.unwrap(), 10);
    let mut g = graph();
    g.add_router("again", fallible);
    assert_eq!(run(g).await.unwrap(), 10);
    let mut g = graph();
    g.add_router("again", sync);
    assert_eq!(run(g).await.unwrap(), 10);
    let mut g = graph();
    g.add_router("again", |n: &i64| if *n < 10 { "again" } else { END });
    assert_eq!(run(g).await.unwrap(), 10);
    let mut g = graph();
    g.add_router("again", sync_fallible);
    let error = run(g).await.unwrap_err();
    assert!(matches!(&error, AgentError::Node { node, source, .. }
        if &**node == "again" && source.downcast_ref::<Failed>().is_some()));
}

#[tokio::test]
async fn workers_get_their_items() {
    let mut graph = StateGraph::<Plain<String>>::new();
    let exclaim = graph.add_worker("exclaim", |word: String, state: &Plain<String>| {
        let text = format!("{}{word}!", state.0);
        async move { PlainUpdate(Some(text)) }
    });
    graph.add_map(START, |_: &Plain<String>| ["hey".to_owned()], &exclaim);
    assert_eq!(
        graph
            .compile()
            .unwrap()
            .invoke(Plain("oh ".to_owned()))
            .await
            .unwrap()
            .0,
        "oh hey!"
    );
}
