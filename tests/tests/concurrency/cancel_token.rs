//! Cancelling and dropping a run stops its nodes, one or several.

use langgraph::prelude::*;
use langgraph::run::CancelToken;
use langgraph_tests::fixtures::alive::{Alive, holders, ms};
use langgraph_tests::fixtures::time_limit::ends;

#[tokio::test]
async fn b17_a_token_stops_the_nodes_that_run() {
    // One runs inline, several as tasks of their own.
    for count in [1, 3] {
        let (alive, token) = (Alive::default(), CancelToken::new());
        let graph = holders(&alive, count, None);
        let run = tokio::spawn(graph.run(0).cancel(token.clone()).into_future());
        alive.reach(count).await;
        token.cancel();
        let error = run.await.unwrap().unwrap_err();
        assert!(matches!(error, AgentError::Cancelled), "{error}");
        alive.reach(0).await;
        assert_eq!(alive.ever(), count);
    }
}

#[tokio::test]
async fn b17_a_token_that_is_cancelled_already_lets_nothing_start() {
    let (alive, token) = (Alive::default(), CancelToken::new());
    token.cancel();
    let error = holders(&alive, 1, Some(ms(1)))
        .run(0)
        .cancel(token)
        .await
        .unwrap_err();
    assert!(matches!(error, AgentError::Cancelled), "{error}");
    assert_eq!(alive.ever(), 0);
}

#[tokio::test]
async fn b17_dropping_the_run_drops_the_nodes_that_run() {
    for count in [1, 3] {
        let alive = Alive::default();
        let run = tokio::spawn(holders(&alive, count, None).run(0).into_future());
        alive.reach(count).await;
        run.abort();
        alive.reach(0).await;
        assert!(run.await.unwrap_err().is_cancelled());
    }
}

#[tokio::test]
async fn b17_dropping_the_run_reaches_the_nodes_of_a_graph_inside() {
    for count in [1, 3] {
        let alive = Alive::default();
        let mut graph = StateGraph::<i64>::new();
        graph
            .add_node("inner", holders(&alive, count, None))
            .add_sequence(&["inner"]);
        let graph = graph.compile().unwrap();
        let run = tokio::spawn(graph.run(0).into_future());
        alive.reach(count).await;
        run.abort();
        alive.reach(0).await;
    }
}

#[test]
fn b17_a_token_stops_a_loop_between_its_nodes() {
    ends(|| async {
        let token = CancelToken::new();
        let seen = token.clone();
        let mut graph = StateGraph::<i64>::new();
        graph.add_node("a", move |n: &i64| {
            if *n == 5_000 {
                seen.cancel();
            }
            n + 1
        });
        graph.add_edge(START, "a").add_edge("a", "a");
        let run = graph
            .compile()
            .unwrap()
            .run(0)
            .limit(usize::MAX)
            .cancel(token);
        assert!(matches!(run.await, Err(AgentError::Cancelled)));
    });
}
