//! A saver that has neither leases nor administration.

use std::sync::Arc;
use std::time::Duration;

use langgraph::async_trait;
use langgraph::checkpoint::{
    Batch, Chain, CheckpointId, Checkpointer, Formats, Head, ListOptions, ThreadFilter, ThreadKey,
};
use langgraph::error::CheckpointError;
use langgraph::prelude::*;
use langgraph::thread::{Keep, OnConflict};

use langgraph_tests::fixtures::diary::{
    Diary, World, ask, graph_in, log_of, memory, note, over, state, wrote,
};

/// The methods that every saver has, and no more.
pub(crate) struct Bare(pub(crate) Arc<dyn Checkpointer>);

#[async_trait]
impl Checkpointer for Bare {
    fn formats(&self) -> Option<&Formats> {
        self.0.formats()
    }

    async fn put(&self, key: &ThreadKey, batch: Batch) -> Result<(), CheckpointError> {
        self.0.put(key, batch).await
    }

    async fn load(
        &self,
        key: &ThreadKey,
        id: Option<CheckpointId>,
    ) -> Result<Option<Chain>, CheckpointError> {
        self.0.load(key, id).await
    }

    async fn head(&self, key: &ThreadKey) -> Result<Option<Head>, CheckpointError> {
        self.0.head(key).await
    }

    async fn list(
        &self,
        key: &ThreadKey,
        options: ListOptions,
    ) -> Result<Vec<CheckpointId>, CheckpointError> {
        self.0.list(key, options).await
    }
}

fn asking() -> CompiledStateGraph<Diary> {
    let mut inner = StateGraph::<Diary>::new();
    inner.add_node("ask", ask).add_sequence(&["ask"]);
    let mut graph = graph_in(&World::new());
    graph
        .add_node("inner", inner.compile().unwrap())
        .add_node("after", note)
        .add_sequence(&["inner", "after"]);
    let saver: Arc<dyn Checkpointer> = Arc::new(Bare(memory()));
    over(&graph, &saver)
}

#[tokio::test]
async fn runs_threads_and_forks_need_five_methods() {
    let graph = asking();
    graph.run(wrote("in")).thread("t").await.unwrap();
    assert_eq!(state(&graph, "t").await.interrupts.len(), 1);
    let done = graph.thread("t").resume("name", "Ada").await.unwrap();
    assert!(matches!(done, Outcome::Done { .. }));
    let history = graph.thread("t").history().await.unwrap();
    let before = log_of(&graph, "t").await;
    let first = graph.thread("t").at(history.last().unwrap().id);
    first.proceed().await.unwrap();
    assert_eq!(state(&graph, "t").await.interrupts.len(), 1);
    graph.thread("t").resume("name", "Ada").await.unwrap();
    assert_eq!(log_of(&graph, "t").await, before);
}

#[tokio::test]
async fn a_call_that_needs_leases_says_so() {
    let graph = asking();
    let wait = OnConflict::Wait(Duration::ZERO);
    let waiting = graph.run(()).thread("t").on_conflict(wait).await;
    let resuming = graph.threads().resume_pending(Duration::ZERO).await;
    for (error, call) in [
        (waiting.unwrap_err(), "`OnConflict::Wait`"),
        (resuming.unwrap_err(), "`resume_pending`"),
    ] {
        assert!(
            matches!(&error, AgentError::Checkpoint(CheckpointError::NoLeases(_))),
            "{error:?}"
        );
        assert!(
            error.to_string().contains(&format!("{call} needs leases")),
            "{error}"
        );
    }
    assert!(graph.thread("t").state().await.unwrap().is_none());
}

#[tokio::test]
async fn a_call_that_needs_administration_says_so() {
    let graph = asking();
    graph.run(()).thread("t").await.unwrap();
    let (thread, threads) = (graph.thread("t"), graph.threads());
    let cancel = graph.run(()).thread("t").on_conflict(OnConflict::Cancel);
    for (error, call) in [
        (cancel.await.unwrap_err(), "`OnConflict::Cancel`"),
        (thread.copy("u").await.unwrap_err(), "copying a thread"),
        (thread.delete().await.unwrap_err(), "deleting a thread"),
        (
            thread.prune(Keep::Newest(1)).await.unwrap_err(),
            "pruning a thread",
        ),
        (thread.usage().await.unwrap_err(), "the usage of a thread"),
        (
            threads.list(ThreadFilter::new()).await.unwrap_err(),
            "listing threads",
        ),
        (
            threads.delete_idle(Duration::ZERO).await.unwrap_err(),
            "deleting idle threads",
        ),
    ] {
        assert!(
            matches!(
                &error,
                AgentError::Checkpoint(CheckpointError::NoAdministration(_))
            ),
            "{error:?}"
        );
        assert!(
            error
                .to_string()
                .contains(&format!("{call} needs administration")),
            "{error}"
        );
    }
    assert_eq!(state(&graph, "t").await.interrupts.len(), 1);
}

#[tokio::test]
async fn the_suite_skips_what_a_bare_saver_has_not() {
    use langgraph_conformance::checkpoint;

    let report = checkpoint::run(async || Ok(Arc::new(Bare(memory())) as Arc<dyn Checkpointer>));
    let report = report.await;
    report.assert_ok();
    assert!(report.skipped.contains(&"a_lease_keeps_others_out"));
    assert!(report.passed.len() > 50, "{report}");
    let random = &"random_histories_are_those_of_memory";
    assert!(report.passed.contains(random), "{report}");
}
