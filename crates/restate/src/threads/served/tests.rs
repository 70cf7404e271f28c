use std::sync::Arc;

use langgraph::checkpoint::MemorySaver;
use langgraph::prelude::*;

use serde_json::json;

use super::*;

fn served() -> Result<Served<i64>, Box<dyn std::error::Error>> {
    let mut graph = StateGraph::<i64>::new();
    graph.add_node("double", |n: &i64| n * 2);
    graph.add_node("ask", |n: &i64, cx: &Context| -> Result<i64, NodeError> {
        Ok(n + cx.interrupt::<i64>("more", "How many more?")?)
    });
    graph.add_sequence(&["double", "ask"]);
    let graph = graph.compile()?.checkpointer(Arc::new(MemorySaver::new()));
    Ok(Served::new(graph, Box::new(|run| run)))
}

async fn begun(served: &Served<i64>, begin: &Begin, by: &str) -> Vec<Step> {
    let mut steps = served
        .begin("t", begin, by, CancelToken::new())
        .await
        .unwrap();
    let mut all = Vec::new();
    loop {
        all.push(steps.next().await.unwrap());
        if matches!(all.last(), Some(Step::Ended(_))) {
            return all;
        }
    }
}

fn ended(steps: &[Step]) -> &ThreadState {
    match steps.last() {
        Some(Step::Ended(state)) => state,
        _ => panic!("the run has not ended"),
    }
}

#[tokio::test]
async fn an_input_is_taken_once_however_often_its_invocation_is_tried() {
    let served = served().unwrap();
    let input = Begin::Input(json!(5));
    let steps = begun(&served, &input, "first").await;
    assert_eq!(steps[0], Step::More(vec!["ask".to_owned()]));
    let state = ended(&steps);
    assert_eq!((&state.values, state.interrupts.len()), (&json!(10), 1));
    // The end was lost: the invocation is tried again.
    let again = begun(&served, &input, "first").await;
    assert_eq!(ended(&again), state);
    // Another invocation is another input.
    let mut other = served
        .begin("t", &input, "second", CancelToken::new())
        .await
        .unwrap();
    let refused = other.next().await.unwrap_err();
    assert_eq!(refused.kind(), langgraph::error::ErrorKind::Interrupted);
}

#[tokio::test]
async fn an_answer_is_given_once_however_often_its_invocation_is_tried() {
    let served = served().unwrap();
    begun(&served, &Begin::Input(json!(5)), "first").await;
    let accepted = served.accept("t", &Given::Answer(json!(7))).await.unwrap();
    let answer = Begin::Answers(accepted);
    for _ in 0..2 {
        let steps = begun(&served, &answer, "second").await;
        assert_eq!(ended(&steps).values, json!(17));
        assert!(ended(&steps).is_done());
    }
    let nothing = served
        .accept("t", &Given::Answer(json!(7)))
        .await
        .unwrap_err();
    assert_eq!(nothing.kind(), langgraph::error::ErrorKind::NotFound);
}

#[tokio::test]
async fn no_breakpoint_is_passed_however_often_an_invocation_is_tried() {
    let mut served = served().unwrap();
    served.graph = served.graph.interrupt_before(["double", "ask"]);
    for (begin, by, next) in [
        (Begin::Input(json!(5)), "first", "double"),
        (Begin::Proceed, "second", "ask"),
    ] {
        for _ in 0..2 {
            let steps = begun(&served, &begin, by).await;
            assert_eq!(ended(&steps).next, [next], "{by}");
        }
    }
    let steps = begun(&served, &Begin::Proceed, "third").await;
    assert_eq!(ended(&steps).interrupts.len(), 1);
}
