//! Answers of the wrong form: the caller gets an error, and the interrupt stays open.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use langgraph::checkpoint::{Durability, MemorySaver};
use langgraph::prelude::*;

use langgraph_tests::fixtures::trail::{Trail, TrailUpdate, visiting, wire};

fn ask(_: &Trail, cx: &Context) -> Result<TrailUpdate, NodeError> {
    let number: usize = cx.interrupt("number", "how many?")?;
    Ok(TrailUpdate::default().visits(vec![format!("{}: {number}", cx.node())]))
}

fn kept(graph: &StateGraph<Trail>) -> CompiledStateGraph<Trail> {
    let graph = graph.compile().unwrap();
    graph.checkpointer(Arc::new(MemorySaver::new()))
}

/// Gives a bad answer and then a good one, and returns the state at the end.
async fn answered(graph: &CompiledStateGraph<Trail>, path: &str, durability: Durability) -> Trail {
    let outcome = graph.run(()).thread("t").durability(durability).await;
    let asked = outcome.unwrap().interrupts().to_vec();
    assert_eq!(asked.len(), 1);
    for again in 0..2 {
        let error = graph
            .thread("t")
            .answer("many")
            .durability(durability)
            .await;
        let error = error.unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "node `{path}` waits on: the answer to `number` has the wrong form: \
                 invalid type: string \"many\", expected usize"
            ),
            "{again}"
        );
        let refused = error.refused_answer().map(Interrupted::key);
        assert_eq!(refused, Some("number"));
        // The question waits as before, and nothing has happened to the thread.
        let snapshot = graph.thread("t").state().await.unwrap().unwrap();
        assert_eq!(snapshot.interrupts, asked);
        let outcome = graph
            .thread("t")
            .proceed()
            .durability(durability)
            .await
            .unwrap();
        assert_eq!(outcome.interrupts(), asked);
    }
    let outcome = graph
        .thread("t")
        .answer(3)
        .durability(durability)
        .await
        .unwrap();
    outcome.finished().unwrap()
}

const BOTH: [Durability; 2] = [Durability::Sync, Durability::Exit];

#[tokio::test]
async fn a_node_asks_again() {
    for durability in BOTH {
        let mut graph = visiting(&["after"]);
        graph.add_node("ask", ask);
        wire(&mut graph, "^>ask ask>after");
        let state = answered(&kept(&graph), "ask", durability).await;
        assert_eq!(state.visits, ["ask: 3", "after@2"]);
    }
}

#[tokio::test]
async fn what_ran_beside_it_is_kept() {
    for durability in BOTH {
        let runs = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&runs);
        let mut graph = StateGraph::<Trail>::new();
        graph
            .add_node("ask", ask)
            .add_node("beside", move |_: &Trail| {
                counted.fetch_add(1, Ordering::SeqCst);
                TrailUpdate::default().visits(vec!["beside".to_owned()])
            });
        wire(&mut graph, "^>ask ^>beside");
        let state = answered(&kept(&graph), "ask", durability).await;
        assert_eq!(state.visits, ["ask: 3", "beside"]);
        assert_eq!(runs.load(Ordering::SeqCst), 1);
    }
}

#[tokio::test]
async fn a_router_asks_again_without_its_node() {
    for durability in BOTH {
        let mut graph = visiting(&["node", "many"]);
        graph.add_edge(START, "node").add_router(
            "node",
            |_: &Trail, cx: &Context| -> Result<_, NodeError> {
                Ok(vec!["many"; cx.interrupt::<usize>("number", "how many?")?])
            },
        );
        let state = answered(&kept(&graph), "node", durability).await;
        assert_eq!(state.visits, ["node@1", "many@2"]);
    }
}

#[tokio::test]
async fn a_graph_inside_asks_again() {
    for durability in BOTH {
        let mut inner = visiting(&["first"]);
        inner.add_node("ask", ask);
        wire(&mut inner, "^>first first>ask");
        let mut outer = visiting(&["after"]);
        outer.add_node("inside", inner.compile().unwrap());
        wire(&mut outer, "^>inside inside>after");
        let state = answered(&kept(&outer), "inside/ask", durability).await;
        assert_eq!(state.visits, ["first@1", "ask: 3", "after@2"]);
    }
}

#[tokio::test]
async fn a_bad_answer_is_neither_retried_nor_handled() {
    let handled = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&handled);
    let mut graph = StateGraph::<Trail>::new();
    let node = ask
        .retry(3)
        .on_error(move |_: &Trail, _: &langgraph::policy::NodeFailure| {
            counted.fetch_add(1, Ordering::SeqCst);
            TrailUpdate::default()
        });
    graph.add_node("ask", node).add_sequence(&["ask"]);
    let state = answered(&kept(&graph), "ask", Durability::Sync).await;
    assert_eq!(state.visits, ["ask: 3"]);
    assert_eq!(handled.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn of_several_answers_the_good_ones_are_kept() {
    let mut graph = StateGraph::<Trail>::new();
    graph.add_node("a", ask).add_node("b", ask);
    wire(&mut graph, "^>a ^>b");
    let graph = kept(&graph);
    let outcome = graph.run(()).thread("t").await.unwrap();
    let ids: Vec<_> = outcome.interrupts().iter().map(|i| i.id.clone()).collect();
    let answers = [(&ids[0], serde_json::json!(1)), (&ids[1], "two".into())];
    let answers = answers.map(|(id, answer)| (id.clone(), answer));
    let error = graph.thread("t").resume_all(answers).await.unwrap_err();
    assert!(matches!(&error, AgentError::Node { node, .. } if &**node == "b"));
    let outcome = graph.thread("t").answer(2).await.unwrap();
    assert_eq!(outcome.finished().unwrap().visits, ["a: 1", "b: 2"]);
}
