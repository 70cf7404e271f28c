//! What JSON cannot hold is refused where it is asked, given or emitted, and does not become `null`.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use langgraph::checkpoint::MemorySaver;
use langgraph::prelude::*;
use serde::Serialize;

use langgraph_tests::fixtures::trail::{Trail, TrailUpdate, visiting, wire};

#[derive(Serialize)]
struct Score {
    parts: Vec<f64>,
}

fn score(part: f64) -> Score {
    Score {
        parts: vec![0.5, part],
    }
}

fn kept(graph: &StateGraph<Trail>) -> CompiledStateGraph<Trail> {
    let graph = graph.compile().unwrap();
    graph.checkpointer(Arc::new(MemorySaver::new()))
}

#[tokio::test]
async fn a_question_with_an_infinite_number_is_not_asked() {
    let asked = Arc::new(AtomicUsize::new(0));
    let mut graph = visiting(&["after"]);
    let count = Arc::clone(&asked);
    graph.add_node("ask", move |_: &Trail, cx: &Context| {
        let part = match count.fetch_add(1, Ordering::SeqCst) {
            0 => f64::INFINITY,
            _ => 1.0,
        };
        let number: usize = cx.interrupt("number", &score(part))?;
        Ok::<_, NodeError>(TrailUpdate::default().visits(vec![number.to_string()]))
    });
    wire(&mut graph, "^>ask ask>after");
    let graph = kept(&graph);
    let error = graph.run(()).thread("t").await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "node `ask` failed: the question `number` cannot be written as JSON: field `parts[1]`: \
         `inf` cannot be stored as JSON, which holds finite numbers only; write `None` in its place"
    );
    // Nothing waits, and the node is run again.
    let state = graph.thread("t").state().await.unwrap().unwrap();
    assert!(state.interrupts.is_empty());
    let outcome = graph.thread("t").proceed().await.unwrap();
    assert_eq!(outcome.interrupts()[0].payload["parts"][1], 1.0);
    let state = graph
        .thread("t")
        .answer(3)
        .await
        .unwrap()
        .finished()
        .unwrap();
    assert_eq!(state.visits, ["3", "after@2"]);
}

#[tokio::test]
async fn a_router_does_not_ask_it_either() {
    let mut graph = visiting(&["a"]);
    graph.add_edge(START, "a");
    graph.add_router("a", |_: &Trail, cx: &Context| {
        let go: bool = cx.interrupt_next(&f64::NAN)?;
        Ok::<_, NodeError>(if go { "a" } else { END })
    });
    let error = kept(&graph).run(()).thread("t").await.unwrap_err();
    assert!(
        error.to_string().starts_with(
            "node `a` failed: the question `route:0` cannot be written as JSON: `NaN` cannot"
        ),
        "{error}"
    );
}

#[tokio::test]
async fn an_answer_with_nan_is_refused_and_the_question_waits() {
    let mut graph = visiting(&["after"]);
    graph.add_node("ask", |_: &Trail, cx: &Context| {
        let parts: BTreeMap<String, Option<Vec<f64>>> = cx.interrupt("parts", "which?")?;
        Ok::<_, NodeError>(TrailUpdate::default().visits(vec![format!("{parts:?}")]))
    });
    wire(&mut graph, "^>ask ask>after");
    let graph = kept(&graph);
    let asked = graph.run(()).thread("t").await.unwrap();
    let error = graph
        .thread("t")
        .resume("parts", score(f64::NAN))
        .await
        .unwrap_err();
    assert!(matches!(error, AgentError::InvalidInput(_)));
    assert_eq!(
        error.to_string(),
        "the answer to `parts` cannot be written as JSON: field `parts[1]`: \
         `NaN` cannot be stored as JSON, which holds finite numbers only; write `None` in its place"
    );
    let error = graph
        .thread("t")
        .answer(f64::NEG_INFINITY)
        .await
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("the answer cannot be written as JSON: `-inf`"),
        "{error}"
    );
    // It would come back as `None`.
    let error = graph
        .thread("t")
        .answer(Some(None::<u8>))
        .await
        .unwrap_err()
        .to_string();
    assert!(error.contains("`Some"), "{error}");
    let state = graph.thread("t").state().await.unwrap().unwrap();
    assert_eq!(state.interrupts, asked.interrupts());
    let state = graph
        .thread("t")
        .answer(score(2.0))
        .await
        .unwrap()
        .finished()
        .unwrap();
    assert_eq!(state.visits, [r#"{"parts": Some([0.5, 2.0])}"#, "after@2"]);
}

#[tokio::test]
async fn an_event_with_nan_fails_its_node_if_it_is_read() {
    let mut graph = StateGraph::<Trail>::new();
    graph.add_node("emit_parts", async |_: &Trail, cx: &Context| {
        cx.emit(score(f64::NAN)).await?;
        Ok::<_, NodeError>(TrailUpdate::default())
    });
    graph.add_sequence(&["emit_parts"]);
    let graph = graph.compile().unwrap();
    let mut events = graph.run(()).stream(StreamMode::Custom);
    let mut error = None;
    while let Some(event) = events.next().await {
        error = error.or(event.err());
    }
    assert_eq!(
        error.unwrap().to_string(),
        "node `emit_parts` failed: an event cannot be written as JSON: field `parts[1]`: \
         `NaN` cannot be stored as JSON, which holds finite numbers only; write `None` in its place"
    );
    // An event without a reader is not checked.
    graph.run(()).await.unwrap();
}

#[tokio::test]
async fn a_question_that_is_too_deep_to_be_read_again_is_not_asked() {
    let deep = |levels: usize| {
        (0..levels).fold(serde_json::json!(1), |inner, _| {
            [inner].into_iter().collect()
        })
    };
    let ask = |levels: usize| {
        let question: serde_json::Value = deep(levels);
        let mut graph = StateGraph::<Trail>::new();
        graph.add_node("ask", move |_: &Trail, cx: &Context| {
            cx.interrupt::<()>("deep", &question)?;
            Ok::<_, NodeError>(TrailUpdate::default())
        });
        graph.add_sequence(&["ask"]);
        kept(&graph)
    };
    let asked = ask(100).run(()).thread("t").await.unwrap();
    assert_eq!(asked.interrupts().len(), 1);
    let error = ask(101).run(()).thread("t").await.unwrap_err().to_string();
    assert!(
        error.contains("more than 100 values are inside each other"),
        "{error}"
    );
}
