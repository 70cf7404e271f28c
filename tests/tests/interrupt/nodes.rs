//! Interrupts of nodes, and breakpoints.

use std::sync::Arc;

use langgraph::checkpoint::MemorySaver;
use langgraph::error::CheckpointError;
use langgraph::prelude::*;
use langgraph_tests::fixtures::notes::chain;

#[tokio::test]
async fn e7_an_interrupted_node_goes_on_with_its_answer() {
    let mut graph = StateGraph::<String>::new();
    graph.add_node(
        "greet",
        |name: &String, cx: &Context| -> Result<String, NodeError> {
            let greeting: String = cx.interrupt("greeting", "how?")?;
            Ok(format!("{greeting}, {name}"))
        },
    );
    graph.add_sequence(&["greet"]);
    let graph = graph
        .compile()
        .unwrap()
        .checkpointer(Arc::new(MemorySaver::new()));
    let outcome = graph.run("Ada".to_owned()).thread("t").await.unwrap();
    assert_eq!(outcome.interrupts().len(), 1);
    assert_eq!(outcome.interrupts()[0].payload, "how?");
    assert_eq!(
        graph.thread("t").state().await.unwrap().unwrap().interrupts,
        outcome.interrupts()
    );
    let nothing = graph
        .thread("t")
        .resume("gretting", "Hi")
        .await
        .unwrap_err();
    assert!(matches!(
        nothing,
        AgentError::Checkpoint(CheckpointError::NothingToResume { .. })
    ));
    let outcome = graph.thread("t").resume("greeting", "Hello").await.unwrap();
    assert_eq!(outcome.finished().unwrap(), "Hello, Ada");
}

#[tokio::test]
async fn e8_a_breakpoint_pauses_and_the_thread_goes_on() {
    let graph = chain();
    let outcome = graph
        .run(0)
        .thread("t")
        .interrupt_before(["b"])
        .await
        .unwrap();
    assert!(matches!(&outcome, Outcome::Interrupted { state: 1, next, .. } if &*next[0] == "b"));
    let outcome = graph
        .thread("t")
        .proceed()
        .interrupt_after(["b"])
        .await
        .unwrap();
    assert!(matches!(&outcome, Outcome::Interrupted { state: 2, next, .. } if &*next[0] == "c"));
    assert_eq!(graph.thread("t").proceed().await.unwrap(), Outcome::done(3));
}
