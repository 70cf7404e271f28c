//! Links: a saver in memory keeps of most checkpoints only what is new, and reads them as before.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use langgraph::async_trait;
use langgraph::checkpoint::{
    Batch, Checkpointer, Head, Link, MemorySaver, PutLink, Saver, ThreadKey, Values,
    forward_checkpointer,
};
use langgraph::error::CheckpointError;
use langgraph::graph::EdgeBound;
use langgraph::prelude::*;

/// Counts the links, and passes them on if it has some.
struct Front {
    saver: MemorySaver,
    links: Option<AtomicUsize>,
}

#[async_trait]
impl Checkpointer for Front {
    async fn put(&self, key: &ThreadKey, batch: Batch) -> Result<(), CheckpointError> {
        self.saver.put(key, batch).await
    }

    fn put_now(&self, key: &ThreadKey, batch: &mut Batch) -> Option<Result<(), CheckpointError>> {
        self.saver.put_now(key, batch)
    }

    fn put_link(&self, key: &ThreadKey, head: Head, link: Link) -> PutLink {
        let Some(links) = &self.links else {
            return PutLink::NotTaken(link);
        };
        links.fetch_add(1, Ordering::Relaxed);
        self.saver.put_link(key, head, link)
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
    graph.add_node("even", move |count: &Count| {
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
    let saver = |links| {
        Arc::new(Front {
            saver: MemorySaver::new(),
            links,
        })
    };
    let with_links = saver(Some(AtomicUsize::new(0)));
    let shown = history(&with_links).await;
    assert_eq!(shown, history(&saver(None)).await);
    // With the 15 rounds of the bound: those before the failure count.
    let rounds = shown.iter().filter(|shown| shown.contains(r#"["even"]"#));
    assert_eq!(rounds.count(), 15);
    let links = with_links.links.as_ref().unwrap().load(Ordering::Relaxed);
    // All but the input, the superstep that takes it, the first one of the run that goes on, and the end.
    assert_eq!(links, shown.len() - 4, "{shown:#?}");
}
