//! Links: a saver in memory keeps of most checkpoints only what is new, and reads them as before.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::FutureExt;
use langgraph::async_trait;
use langgraph::checkpoint::{
    Batch, Checkpointer, GrowingLinks, Head, MemorySaver, Saver, ThreadKey, Values,
    forward_checkpointer,
};
use langgraph::error::CheckpointError;
use langgraph::graph::EdgeBound;
use langgraph::prelude::*;

/// Keeps the links that are shared, if it passes some on.
struct Front {
    saver: MemorySaver,
    links: Option<Mutex<Vec<Arc<dyn GrowingLinks>>>>,
    /// True if the log is read while each node of the loop runs.
    reads: bool,
}

impl Front {
    fn new(links: bool) -> Self {
        Self {
            saver: MemorySaver::new(),
            links: links.then(Mutex::default),
            reads: false,
        }
    }

    fn read(&self) {
        if self.reads {
            let key = ThreadKey::root("t");
            let log = self.saver.load(&key, None).now_or_never().unwrap().unwrap();
            assert!(log.is_some_and(|chain| chain.records.len() > 1));
        }
    }

    /// Returns how many links were added.
    fn added(&self) -> usize {
        let links = self.links.as_ref().unwrap().lock().unwrap();
        let counts = links.iter().filter_map(|links| links.newest());
        counts.map(|(count, ..)| count).sum()
    }
}

#[async_trait]
impl Checkpointer for Front {
    async fn put(&self, key: &ThreadKey, batch: Batch) -> Result<(), CheckpointError> {
        self.saver.put(key, batch).await
    }

    fn put_now(&self, key: &ThreadKey, batch: &mut Batch) -> Option<Result<(), CheckpointError>> {
        self.saver.put_now(key, batch)
    }

    fn share_links(
        &self,
        key: &ThreadKey,
        head: Head,
        shared: Arc<dyn GrowingLinks>,
    ) -> Result<bool, CheckpointError> {
        let Some(links) = &self.links else {
            return Ok(false);
        };
        links.lock().unwrap().push(Arc::clone(&shared));
        self.saver.share_links(key, head, shared)
    }

    forward_checkpointer!(saver);
}

impl Saver for Front {
    type Stores = Values;

    fn into_dyn(self: Arc<Self>) -> Arc<dyn Checkpointer> {
        self
    }
}

#[derive(State, Clone, Debug, Default)]
struct Count {
    #[reducer(add)]
    total: i64,
    last: String,
}

/// A loop of two nodes whose second fails once, between two chains. An edge of the loop has a bound.
fn graph(saver: &Arc<Front>) -> CompiledStateGraph<Count> {
    let failed = Arc::new(AtomicBool::new(false));
    let step =
        |name: &'static str| move |_: &Count| CountUpdate::default().total(1).last(name.to_owned());
    let mut graph = StateGraph::<Count>::new();
    graph.add_node("first", step("first"));
    graph.add_node("second", step("second"));
    graph.add_node("odd", step("odd"));
    let log = Arc::clone(saver);
    graph.add_node("even", move |count: &Count| {
        log.read();
        if count.total > 20 && !failed.swap(true, Ordering::Relaxed) {
            return Err(NodeError::msg("once"));
        }
        Ok(CountUpdate::default().total(1).last("even".to_owned()))
    });
    graph.add_node("third", step("third"));
    graph.add_edge(START, "first");
    graph.add_edge("first", "second");
    graph.add_edge("second", "odd");
    graph.add_edge("odd", "even");
    graph.add_conditional_edges(
        "even",
        |count: &Count| if count.total < 40 { "odd" } else { "third" },
        ["odd", "third"],
    );
    graph.add_edge("third", END);
    graph.add_bound(EdgeBound::new("odd", "even", 15).or_else("third"));
    graph.compile().unwrap().checkpointer(Arc::clone(saver))
}

/// Runs the graph until it fails, and again, and returns its history; ids and times differ.
async fn history(saver: &Arc<Front>) -> Vec<String> {
    let graph = graph(saver);
    let run = graph.run(()).thread("t").metadata("user", "ada");
    assert!(run.await.is_err());
    let state = graph.thread("t").state().await.unwrap().unwrap();
    assert_eq!(*state.next[0], *"even");
    graph.thread("t").proceed().await.unwrap();
    let history = graph.thread("t").history().await.unwrap();
    let position = |id| history.iter().position(|snapshot| Some(snapshot.id) == id);
    let shown = history.iter().map(|snapshot| {
        format!(
            "{:?} {:?} {:?} {} {:?} {:?} {:?}",
            snapshot.values,
            snapshot.written,
            snapshot.next,
            snapshot.step,
            snapshot.source,
            snapshot.metadata,
            position(snapshot.parent),
        )
    });
    shown.collect()
}

#[tokio::test]
async fn a_saver_with_links_keeps_the_history_of_one_without() {
    let with_links = Arc::new(Front::new(true));
    let shown = history(&with_links).await;
    assert_eq!(shown, history(&Arc::new(Front::new(false))).await);
    // With the 15 rounds of the bound: those before the failure count.
    let rounds = shown.iter().filter(|shown| shown.contains(r#"["even"]"#));
    assert_eq!(rounds.count(), 15);
    // All but the input, the superstep that takes it, the first one of the run that goes on, and the end.
    assert_eq!(with_links.added(), shown.len() - 4, "{shown:#?}");

    let read = Arc::new(Front {
        reads: true,
        ..Front::new(true)
    });
    assert_eq!(history(&read).await, shown);
    assert_eq!(read.added(), shown.len() - 4);
}

#[tokio::test]
async fn a_run_whose_log_another_writer_has_changed_is_refused() {
    let saver = Arc::new(MemorySaver::new());
    let other = Arc::clone(&saver);
    let mut graph = StateGraph::<i64>::new();
    graph.add_node("count", move |count: &i64| {
        if *count == 50 {
            let key = ThreadKey::root("t");
            let head = other.head(&key).now_or_never().unwrap().unwrap();
            let batch = Batch {
                head,
                ..Batch::default()
            };
            other.put(&key, batch).now_or_never().unwrap().unwrap();
        }
        count + 1
    });
    graph.add_edge(START, "count");
    let again = |count: &i64| if *count < 100 { "count" } else { END };
    graph.add_conditional_edges("count", again, ["count", END]);
    let graph = graph.compile().unwrap().checkpointer(Arc::clone(&saver));

    let refused = graph.run(0).thread("t").limit(200).await.unwrap_err();
    assert!(
        matches!(
            refused,
            AgentError::Checkpoint(CheckpointError::Conflict { .. })
        ),
        "{refused}"
    );
    // What was stored before stays, and the superstep that was refused is run again.
    let state = graph.thread("t").state().await.unwrap().unwrap();
    assert_eq!((state.values, state.step), (50, 50));
}
