//! The input of a run is stored with its first superstep, unless something could come between the two.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use langgraph::checkpoint::{Checkpointer, Source};
use langgraph::error::CheckpointError;
use langgraph::prelude::*;
use langgraph_testing::{Intercept, InterceptedSaver, SaverCall};
use langgraph_tests::ByteSaver;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Counts the batches.
#[derive(Clone, Default)]
struct Batches(Arc<AtomicUsize>);

impl Batches {
    fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

impl Intercept for Batches {
    async fn around<T: Send>(
        &self,
        call: SaverCall<'_>,
        run: impl Future<Output = Result<T, CheckpointError>> + Send,
    ) -> Result<T, CheckpointError> {
        if matches!(call, SaverCall::Put(..)) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
        run.await
    }
}

fn counted<S>(graph: &StateGraph<S>) -> (CompiledStateGraph<S>, Batches)
where
    S: State + Serialize + DeserializeOwned,
    S::Update: Serialize + DeserializeOwned,
{
    let batches = Batches::default();
    let bytes: Arc<dyn Checkpointer> = Arc::new(ByteSaver::default());
    let saver: Arc<dyn Checkpointer> = Arc::new(InterceptedSaver::new(bytes, batches.clone()));
    (graph.compile().unwrap().checkpointer(saver), batches)
}

fn one_node() -> StateGraph<i64> {
    let mut graph = StateGraph::<i64>::new();
    graph.add_node("add", |n: &i64| n + 1);
    graph.add_sequence(&["add"]);
    graph
}

async fn sources<S: State>(graph: &CompiledStateGraph<S>) -> Vec<Source> {
    let history = graph.thread("t").history().await.unwrap();
    history
        .iter()
        .rev()
        .map(|snapshot| snapshot.source)
        .collect()
}

#[tokio::test]
async fn a_run_of_one_node_stores_two_batches() {
    let (graph, batches) = counted(&one_node());
    for stored in [2, 4, 6] {
        graph.thread("t").run(1).await.unwrap();
        assert_eq!(batches.count(), stored);
    }
    let [input, first, last] = [Source::Input, Source::Loop, Source::Loop];
    assert_eq!(sources(&graph).await, [input, first, last].repeat(3));
}

#[tokio::test]
async fn a_reader_of_checkpoints_finds_each_when_it_learns_of_it() {
    let (graph, batches) = counted(&one_node());
    let run = graph.thread("t").run(1);
    let mut events = run.stream(StreamMode::Checkpoints);
    let mut seen = 0;
    while let Some(event) = events.next().await.transpose().unwrap() {
        if let EventKind::Checkpoint(snapshot) = &event.kind {
            seen += 1;
            let stored = graph.thread("t").at(snapshot.id).state().await.unwrap();
            assert!(stored.is_some(), "checkpoint {seen} is not there yet");
        }
    }
    assert_eq!((seen, batches.count()), (3, 3));
}

#[tokio::test]
async fn an_input_is_stored_before_a_router_looks_at_it() {
    static LOOKED: AtomicBool = AtomicBool::new(false);
    let mut graph = StateGraph::<i64>::new();
    graph.add_node("add", |n: &i64| n + 1);
    let look = |n: &i64| {
        LOOKED.store(true, Ordering::SeqCst);
        assert_ne!(*n, 7, "no way for 7");
        "add"
    };
    graph.add_conditional_edges(START, look, ["add"]);
    let (graph, batches) = counted(&graph);
    graph.thread("t").run(7).await.unwrap_err();
    assert!(LOOKED.load(Ordering::SeqCst));
    assert_eq!(sources(&graph).await, [Source::Input]);
    // The input, and that the run has failed.
    assert!(batches.count() >= 2);
}

#[derive(State, Clone, Debug, Default, Serialize, Deserialize)]
struct Listed {
    #[reducer(picky)]
    items: Vec<u32>,
}

fn picky(mut old: Vec<u32>, new: Vec<u32>) -> Vec<u32> {
    assert!(!new.contains(&13), "13 is not taken");
    old.extend(new);
    old
}

#[tokio::test]
async fn an_input_that_cannot_be_merged_is_in_the_thread() {
    let mut graph = StateGraph::<Listed>::new();
    graph.add_node("look", |_: &Listed| ());
    graph.add_sequence(&["look"]);
    let (graph, _) = counted(&graph);
    let input = |item| ListedUpdate::default().items(vec![item]);
    graph.thread("t").run(input(1)).await.unwrap();
    graph.thread("t").run(input(13)).await.unwrap_err();
    let history = sources(&graph).await;
    assert_eq!(history.last(), Some(&Source::Input));
    assert_eq!(history.len(), 4);
    let state = graph.thread("t").state().await.unwrap().unwrap();
    assert_eq!(state.values.items, [1]);
    // The next input takes its place.
    let done = graph.thread("t").run(input(2)).await.unwrap();
    assert_eq!(done.finished().unwrap().items, [1, 2]);
}
