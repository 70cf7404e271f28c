//! Copies of threads, and threads that go.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use langgraph::checkpoint::{Checkpointer, RunStatus, StorageUsage, ThreadFilter};
use langgraph::error::CheckpointError;
use langgraph::prelude::*;
use langgraph::thread::DeletedIdle;
use langgraph_testing::{Intercept, InterceptedSaver, SaverCall};

use langgraph_tests::fixtures::diary::{
    Diary, World, ask, graph_in, in_memory, log_of, memory, note, over, shown, state, wrote,
};

fn asking() -> CompiledStateGraph<Diary> {
    let mut inner = StateGraph::<Diary>::new();
    inner.add_node("x", note).add_node("ask", ask);
    inner.add_sequence(&["x", "ask"]);
    let mut graph = graph_in(&World::new());
    graph
        .add_node("inner", inner.compile().unwrap())
        .add_node("ask", ask);
    graph
        .add_node("after", note)
        .add_edge(START, "inner")
        .add_edge(START, "ask");
    graph.add_edge(["inner", "ask"], "after");
    in_memory(&graph)
}

#[tokio::test]
async fn questions_are_answered_on_a_copy_and_on_the_original() {
    let graph = asking();
    graph.run(wrote("in")).thread("t").await.unwrap();
    graph.thread("t").copy("u").await.unwrap();
    assert_eq!(shown(&graph, "t").await, shown(&graph, "u").await);
    let questions = state(&graph, "t").await.interrupts;
    assert_eq!(state(&graph, "u").await.interrupts, questions);
    assert_eq!(questions.len(), 2);

    for (thread, names) in [("t", ["Ada", "Bob"]), ("u", ["Eve", "Max"])] {
        for (question, name) in questions.iter().zip(names) {
            graph
                .thread(thread)
                .resume(&question.id, name)
                .await
                .unwrap();
        }
    }
    let ends = |[inner, own]: [&str; 2]| ["in", "x@1", inner, own, "after@4"].map(str::to_owned);
    assert_eq!(log_of(&graph, "t").await, ends(["Ada", "Bob"]));
    assert_eq!(log_of(&graph, "u").await, ends(["Eve", "Max"]));

    // Both go on, and know nothing of each other.
    graph.run(wrote("more")).thread("u").await.unwrap();
    assert_eq!(log_of(&graph, "t").await, ends(["Ada", "Bob"]));
    assert_eq!(state(&graph, "u").await.interrupts.len(), 2);
    graph.thread("t").delete().await.unwrap();
    assert_eq!(state(&graph, "u").await.interrupts.len(), 2);
}

#[tokio::test]
async fn a_copy_has_a_name_of_its_own() {
    let graph = asking();
    graph.run(()).thread("t").await.unwrap();
    graph.run(()).thread("u").await.unwrap();
    let before = shown(&graph, "u").await;
    let taken = graph.thread("t").copy("u").await.unwrap_err();
    assert!(matches!(
        taken,
        AgentError::Checkpoint(CheckpointError::ThreadExists(thread)) if thread == "u"
    ));
    assert_eq!(shown(&graph, "u").await, before);
    let missing = graph.thread("v").copy("w").await.unwrap_err();
    assert!(matches!(
        missing,
        AgentError::Checkpoint(CheckpointError::UnknownThread(thread)) if thread == "v"
    ));
}

async fn names(graph: &CompiledStateGraph<Diary>, filter: ThreadFilter) -> Vec<String> {
    let threads = graph.threads().list(filter).await.unwrap();
    threads.into_iter().map(|info| info.thread).collect()
}

#[tokio::test]
async fn threads_are_listed_page_by_page() {
    let graph = asking();
    for thread in ["b", "c", "a", "d"] {
        graph.run(()).thread(thread).await.unwrap();
    }
    assert_eq!(
        names(&graph, ThreadFilter::new()).await,
        ["a", "b", "c", "d"]
    );
    assert_eq!(
        names(&graph, ThreadFilter::new().limit(3)).await,
        ["a", "b", "c"]
    );
    assert_eq!(
        names(&graph, ThreadFilter::new().after("c").limit(3)).await,
        ["d"]
    );
    // They wait, and no run executes them.
    assert!(
        names(&graph, ThreadFilter::new().status(RunStatus::Running))
            .await
            .is_empty()
    );
    assert_eq!(
        names(&graph, ThreadFilter::new().status(RunStatus::Interrupted))
            .await
            .len(),
        4
    );
}

#[tokio::test]
async fn idle_threads_go() {
    let graph = asking();
    graph.run(()).thread("old").await.unwrap();
    tokio::time::sleep(Duration::from_millis(60)).await;
    graph.run(()).thread("young").await.unwrap();
    let idle = Duration::from_millis(50);
    assert_eq!(
        graph
            .threads()
            .delete_idle(idle)
            .including(RunStatus::Interrupted)
            .await
            .unwrap()
            .threads,
        1
    );
    assert_eq!(names(&graph, ThreadFilter::new()).await, ["young"]);
    assert!(graph.thread("old").state().await.unwrap().is_none());
    assert_eq!(
        graph.thread("old").usage().await.unwrap(),
        StorageUsage::default()
    );
    assert_eq!(state(&graph, "young").await.interrupts.len(), 2);
    let hour = Duration::from_secs(3600);
    let deleted = graph.threads().delete_idle(hour).await.unwrap();
    assert_eq!(deleted, DeletedIdle::default());
    // A thread of that name begins anew.
    graph.run(()).thread("old").await.unwrap();
    assert_eq!(graph.thread("old").history().await.unwrap().len(), 2);
}

/// Writes to a thread as soon as threads were listed for the first time.
struct Meanwhile(Mutex<Option<CompiledStateGraph<Diary>>>);

impl Intercept for Meanwhile {
    async fn around<T: Send>(
        &self,
        call: SaverCall<'_>,
        run: impl Future<Output = Result<T, CheckpointError>> + Send,
    ) -> Result<T, CheckpointError> {
        let result = run.await;
        let graph = match call {
            SaverCall::Threads => self.0.lock().unwrap().take(),
            _ => None,
        };
        if let Some(graph) = graph {
            graph.thread("busy").resume("name", "Ada").await.unwrap();
        }
        result
    }
}

#[tokio::test]
async fn j6_a_thread_that_is_written_to_while_idle_ones_go_stays() {
    let mut graph = graph_in(&World::new());
    graph.add_node("ask", ask).add_sequence(&["ask"]);
    let memory = memory();
    let direct = over(&graph, &memory);
    let saver = InterceptedSaver::new(memory, Meanwhile(Mutex::new(Some(direct.clone()))));
    for thread in ["busy", "idle"] {
        direct.run(()).thread(thread).await.unwrap();
    }
    let saver: Arc<dyn Checkpointer> = Arc::new(saver);
    let graph = over(&graph, &saver);
    let removed = graph
        .threads()
        .delete_idle(Duration::ZERO)
        .including(RunStatus::Interrupted)
        .await
        .unwrap();
    assert_eq!(removed.threads, 1);
    assert_eq!(log_of(&graph, "busy").await, ["Ada"]);
    assert!(graph.thread("idle").state().await.unwrap().is_none());
}

#[tokio::test]
async fn a_thread_says_what_it_takes() {
    let graph = asking();
    graph.run(()).thread("t").await.unwrap();
    let usage = graph.thread("t").usage().await.unwrap();
    assert_eq!(usage.logs, 2);
    let inner = 3;
    let own = graph.thread("t").history().await.unwrap().len() as u64;
    assert_eq!(usage.checkpoints, own + inner);
    graph.thread("t").copy("u").await.unwrap();
    assert_eq!(graph.thread("u").usage().await.unwrap(), usage);
    graph.thread("t").delete().await.unwrap();
    assert_eq!(
        graph.thread("t").usage().await.unwrap(),
        StorageUsage::default()
    );
    assert_eq!(graph.thread("u").usage().await.unwrap(), usage);
}
