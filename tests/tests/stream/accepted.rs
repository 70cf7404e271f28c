//! A stream that is returned once its run is accepted.

use std::sync::Arc;
use std::time::Duration;

use langgraph::checkpoint::MemorySaver;
use langgraph::error::ErrorKind;
use langgraph::prelude::*;
use langgraph::run::Run;
use langgraph::stream::{StreamModes, StreamOptions};
use tokio::sync::Notify;

use langgraph_tests::fixtures::trail::{Trail, TrailUpdate};

/// What a run on a thread fails with before it is accepted.
async fn refused<S: State>(run: Run<S>) -> ErrorKind {
    let accepted = run.stream(StreamModes::ALL).accepted().await;
    accepted.expect_err("the run is accepted").kind()
}

/// A graph that waits in its only node until `go` is notified, or the answer is there.
fn waiting(go: &Arc<Notify>) -> CompiledStateGraph<Trail> {
    let go = Arc::clone(go);
    let mut graph = StateGraph::<Trail>::new();
    graph
        .add_node("wait", move |_: &Trail| {
            let go = Arc::clone(&go);
            async move {
                go.notified().await;
                TrailUpdate::default().visits(vec!["waited".to_owned()])
            }
        })
        .add_sequence(&["wait"]);
    graph
        .compile()
        .unwrap()
        .checkpointer(Arc::new(MemorySaver::new()))
}

/// Asks, then works until `go` is notified.
fn asking(go: &Arc<Notify>) -> StateGraph<Trail> {
    async fn ask(cx: &Context, go: Arc<Notify>) -> Result<TrailUpdate, NodeError> {
        let first: u8 = cx.interrupt("first", "?")?;
        let second: u8 = cx.interrupt("second", "?")?;
        cx.emit("taken").await?;
        go.notified().await;
        Ok(TrailUpdate::default().visits(vec![format!("{first} {second}")]))
    }
    struct Ask(Arc<Notify>);
    impl Node<Trail> for Ask {
        fn run<'a>(&'a self, _: &'a Trail, cx: &'a Context) -> langgraph::node::NodeRun<'a, Trail> {
            langgraph::node::NodeRun::future(ask(cx, Arc::clone(&self.0)))
        }
    }
    let mut graph = StateGraph::<Trail>::new();
    graph
        .add_node("ask", Ask(Arc::clone(go)))
        .add_sequence(&["ask"]);
    graph
}

#[tokio::test(start_paused = true)]
async fn a_run_is_accepted_while_its_first_node_works() {
    let go = Arc::new(Notify::new());
    let graph = waiting(&go);
    // A reader that has room for one event.
    let options = StreamOptions::new(StreamModes::ALL).buffer(1);
    let stream = graph.thread("t").run(()).stream(options);
    let run = stream.run_id().to_owned();
    let accepted = tokio::time::timeout(Duration::from_secs(1), stream.accepted()).await;
    let mut stream = accepted.expect("it waits for the node").unwrap();
    assert!(graph.thread("t").state().await.unwrap().is_some());
    go.notify_one();
    let mut seqs = Vec::new();
    while let Some(event) = stream.next().await {
        seqs.push(event.unwrap().seq);
    }
    // Nothing that came before is lost.
    let all: Vec<_> = (0..seqs.len() as u64).collect();
    assert_eq!(seqs, all);
    assert!(seqs.len() > 4, "{seqs:?}");
    assert_eq!(stream.run_id(), run);
    assert!(stream.outcome().is_some());
}

#[tokio::test]
async fn what_is_wrong_with_the_call_is_an_error_of_its_own() {
    let go = Arc::new(Notify::new());
    let graph = asking(&go).compile().unwrap();
    let graph = graph.checkpointer(Arc::new(MemorySaver::new()));
    let thread = graph.thread("t");
    assert_eq!(refused(thread.proceed()).await, ErrorKind::NotFound);
    thread.run(()).await.unwrap();
    assert_eq!(
        refused(thread.resume("other", 1)).await,
        ErrorKind::NotFound
    );
    assert_eq!(
        refused(thread.answer("a text")).await,
        ErrorKind::RefusedAnswer
    );
    assert_eq!(refused(graph.run(())).await, ErrorKind::Program);
}

#[tokio::test(start_paused = true)]
async fn a_run_that_answers_is_accepted_when_the_answer_is_taken() {
    let go = Arc::new(Notify::new());
    let inner = asking(&go).compile().unwrap();
    let mut outer = StateGraph::<Trail>::new();
    outer
        .add_node("inner", inner)
        // Beside it, so that tasks run on the runtime.
        .add_node("beside", |_: &Trail| ())
        .add_edge(START, "inner")
        .add_edge(START, "beside");
    for graph in [asking(&go), outer] {
        let graph = graph.compile().unwrap();
        let graph = graph.checkpointer(Arc::new(MemorySaver::new()));
        let thread = graph.thread("t");
        thread.run(()).await.unwrap();
        thread.answer(1).await.unwrap();
        // The first answer is good, and is read again; the second one is not.
        assert_eq!(
            refused(thread.answer("a text")).await,
            ErrorKind::RefusedAnswer
        );
        let stream = thread.answer(2).stream(StreamMode::Updates);
        let accepted = tokio::time::timeout(Duration::from_secs(1), stream.accepted()).await;
        let stream = accepted.expect("it waits for the node").unwrap();
        go.notify_one();
        let state = stream.finish().await.unwrap().finished().unwrap();
        assert_eq!(state.visits, ["1 2"]);
    }
}

#[tokio::test]
async fn a_run_that_ends_at_once_is_accepted() {
    let mut graph = StateGraph::<Trail>::new();
    graph
        .add_node("done", |_: &Trail| ())
        .add_sequence(&["done"]);
    let graph = graph.compile().unwrap();
    let run = graph.run(()).interrupt_before(["done"]);
    let stream = run.stream(StreamModes::NONE).accepted().await.unwrap();
    let stream = stream.accepted().await.unwrap();
    assert!(!stream.finish().await.unwrap().is_done());
}
