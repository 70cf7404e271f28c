//! A paused run's outcome says what its thread says.

use langgraph::prelude::*;
use langgraph::run::CancelToken;
use langgraph_tests::fixtures::diary::memory;

#[derive(State, Clone, Debug, Default, PartialEq)]
struct Desk {
    #[reducer(append)]
    log: Vec<String>,
    /// What the tasks of one superstep see.
    #[state(ephemeral)]
    note: Option<String>,
}

fn wrote(line: &str) -> DeskUpdate {
    DeskUpdate::default().log(vec![line.to_owned()])
}

fn ask(_: &Desk, cx: &Context) -> Result<DeskUpdate, NodeError> {
    let answer: String = cx.interrupt("name", "Who?")?;
    Ok(wrote(&answer))
}

/// `begin` writes a note; beside `ask`, `siblings` run.
fn desk(siblings: &[&'static str]) -> CompiledStateGraph<Desk> {
    let mut graph = StateGraph::<Desk>::new();
    graph
        .add_node("begin", |_: &Desk| {
            wrote("begin").note(Some("for one superstep".to_owned()))
        })
        .add_node("ask", ask)
        .add_edge(START, "begin")
        .add_edge("begin", "ask");
    for sibling in siblings {
        let note = (*sibling == "one").then(|| Some("for the next".to_owned()));
        let update = DeskUpdate {
            note,
            ..wrote("sibling")
        };
        graph
            .add_node(*sibling, move |_: &Desk| update.clone())
            .add_edge("begin", *sibling);
    }
    graph.compile().unwrap().checkpointer(memory())
}

async fn same(graph: &CompiledStateGraph<Desk>, outcome: &Outcome<Desk>) {
    let snapshot = graph.thread("t").state().await.unwrap().unwrap();
    assert_eq!(*outcome.state(), snapshot.values);
    let (Outcome::Interrupted { next, .. } | Outcome::Drained { next, .. }) = outcome else {
        panic!("{outcome:?}");
    };
    assert_eq!(*next, snapshot.next);
}

#[tokio::test]
async fn an_interrupted_outcome_has_the_state_and_the_next_nodes_of_the_thread() {
    for (siblings, note) in [
        // The task that waits still sees it.
        (&[][..], Some("for one superstep")),
        (&["one"], None),
        (&["one", "two"], None),
    ] {
        let graph = desk(siblings);
        let outcome = graph.run(()).thread("t").await.unwrap();
        assert_eq!(outcome.state().note.as_deref(), note, "{siblings:?}");
        same(&graph, &outcome).await;
        let Outcome::Interrupted { next, .. } = &outcome else {
            panic!("{outcome:?}");
        };
        assert_eq!(*next, ["ask".into()]);
        // Again, from the stored results.
        let outcome = graph.thread("t").proceed().await.unwrap();
        same(&graph, &outcome).await;
    }
}

#[tokio::test]
async fn a_breakpoint_and_a_drained_run_agree_with_their_thread_too() {
    let graph = desk(&["one"]);
    let outcome = graph.run(()).thread("t").interrupt_before(["one"]).await;
    same(&graph, &outcome.unwrap()).await;
    let token = CancelToken::new();
    token.drain();
    let outcome = graph
        .thread("t")
        .proceed()
        .cancel(token.clone())
        .await
        .unwrap();
    same(&graph, &outcome).await;
    let outcome = graph.thread("t").proceed().await.unwrap();
    same(&graph, &outcome).await;
    // What has finished waits, and the run is drained before its superstep.
    let outcome = graph
        .thread("t")
        .answer("Ada")
        .cancel(token.clone())
        .await
        .unwrap();
    same(&graph, &outcome).await;
}
