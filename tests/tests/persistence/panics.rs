//! Code of a state that panics: the run fails, the program goes on, and nothing is acknowledged that
//! was not stored.

use std::cell::Cell;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use langgraph::checkpoint::{Checkpointer, Durability, MemorySaver};
use langgraph::prelude::*;
use langgraph_tests::ByteSaver;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Which code panics.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Code {
    Clone,
    Serialize,
    Deserialize,
    Drop,
}

thread_local! {
    static ARMED: Cell<Option<Code>> = const { Cell::new(None) };
}

fn goes_off(code: Code) {
    // Once: a panic while another one unwinds ends every program.
    if ARMED.get() == Some(code) && !std::thread::panicking() {
        ARMED.set(None);
        panic!("{code:?} on purpose");
    }
}

#[derive(Debug, Default, PartialEq)]
struct Bomb(u64);

impl Clone for Bomb {
    fn clone(&self) -> Self {
        goes_off(Code::Clone);
        Self(self.0)
    }
}

impl Drop for Bomb {
    fn drop(&mut self) {
        if self.0 > 0 {
            goes_off(Code::Drop);
        }
    }
}

impl Serialize for Bomb {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        goes_off(Code::Serialize);
        self.0.serialize(to)
    }
}

impl<'de> Deserialize<'de> for Bomb {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        goes_off(Code::Deserialize);
        u64::deserialize(from).map(Self)
    }
}

#[derive(State, Clone, Debug, Default)]
struct Load {
    #[reducer(append)]
    names: Vec<String>,
    bomb: Bomb,
    #[reducer(append)]
    bombs: Vec<Bomb>,
}

fn graph(saver: Arc<dyn Checkpointer>, parallel: bool) -> CompiledStateGraph<Load> {
    let mut graph = StateGraph::<Load>::new();
    let node = |code: Option<Code>| {
        move |load: &Load, cx: &Context| {
            if let Some(code) = code
                && cx.resource::<Code>().is_ok_and(|wanted| *wanted == code)
            {
                ARMED.set(Some(code));
            }
            LoadUpdate::default()
                .names(vec![cx.node().to_owned()])
                .bombs(vec![Bomb(1 + load.bomb.0)])
        }
    };
    let arms = |cx: &Context| {
        if let Ok(code) = cx.resource::<Code>() {
            ARMED.set(Some(*code));
        }
    };
    let arming = move |load: &Load, cx: &Context| {
        arms(cx);
        LoadUpdate::default()
            .names(vec!["arms".to_owned()])
            .bomb(Bomb(load.bomb.0 + 2))
    };
    graph
        .add_node("before", node(None))
        .add_node("arms", arming)
        .add_node("after", node(None));
    if parallel {
        graph.add_node("beside", node(None));
        graph
            .add_edge(START, "before")
            .add_edge("before", "arms")
            .add_edge("before", "beside")
            .add_edge(["arms", "beside"], "after");
    } else {
        graph.add_sequence(&["before", "arms", "after"]);
    }
    graph.compile().unwrap().checkpointer(saver)
}

fn savers() -> [Arc<dyn Checkpointer>; 2] {
    [Arc::new(MemorySaver::new()), Arc::new(ByteSaver::default())]
}

/// All of it on one thread, where the bomb is armed.
#[tokio::test]
async fn a_panic_in_the_code_of_a_state_fails_the_run_and_nothing_else() {
    let mut failed = Vec::new();
    for code in [Code::Clone, Code::Serialize, Code::Deserialize, Code::Drop] {
        for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
            for parallel in [false, true] {
                for streamed in [false, true] {
                    for saver in savers() {
                        let graph = graph(saver, parallel);
                        let case = format!("{code:?} {durability:?} {parallel} {streamed}");
                        let run = graph
                            .run(LoadUpdate::default().bomb(Bomb(1)))
                            .thread("t")
                            .durability(durability)
                            .resource(Arc::new(code));
                        ARMED.set(None);
                        // In place, so that the bomb stays on this thread.
                        let ended = if streamed {
                            let mut events = run.stream(StreamMode::Values);
                            let mut ended = Ok(());
                            while let Some(event) = events.next().await {
                                ended = ended.and(event.map(drop));
                            }
                            ended
                        } else {
                            run.await.map(drop)
                        };
                        let went_off = ARMED.take().is_none();
                        if let Err(error) = &ended {
                            let text = error.to_string();
                            assert!(went_off && text.contains("on purpose"), "{case}: {text}");
                            failed.push(code);
                        }
                        // Whatever was acknowledged is there, and the thread comes to its end.
                        let before = graph.thread("t").state().await.unwrap();
                        let names = before.map(|state| state.values.names).unwrap_or_default();
                        if ended.is_ok() {
                            assert_eq!(names.len(), if parallel { 4 } else { 3 }, "{case}");
                            continue;
                        }
                        let done = if names.is_empty() {
                            graph.run(()).thread("t").await
                        } else {
                            graph.thread("t").proceed().await
                        };
                        let names = done.unwrap().finished().unwrap().names;
                        assert_eq!(
                            names.len(),
                            if parallel { 4 } else { 3 },
                            "{case}: {names:?}"
                        );
                    }
                }
            }
        }
    }
    for code in [Code::Clone, Code::Serialize, Code::Drop] {
        assert!(failed.contains(&code), "{code:?} never goes off");
    }
}

#[tokio::test]
async fn a_panic_while_a_thread_is_read_fails_the_run() {
    let saver: Arc<dyn Checkpointer> = Arc::new(ByteSaver::default());
    let graph = graph(saver, false);
    graph.run(()).thread("t").await.unwrap();
    ARMED.set(Some(Code::Deserialize));
    let error = graph.run(()).thread("t").await.unwrap_err();
    assert!(
        error.to_string().contains("Deserialize on purpose"),
        "{error}"
    );
    let state = graph.thread("t").state().await.unwrap().unwrap();
    assert_eq!(state.values.names.len(), 3);
    graph.run(()).thread("t").await.unwrap();
}

#[tokio::test]
async fn a_panic_while_a_thread_is_looked_at_is_an_error() {
    let graph = graph(Arc::new(ByteSaver::default()), false);
    let bomb = LoadUpdate::default().bomb(Bomb(1));
    graph.run(bomb).thread("t").await.unwrap();
    let thread = graph.thread("t");
    let armed = || ARMED.set(Some(Code::Deserialize));
    armed();
    let state = thread.state().await.map(drop);
    armed();
    let subgraphs = thread.state_with_subgraphs().await.map(drop);
    armed();
    let history = thread.history().await.map(drop);
    armed();
    let lineage = thread.lineage().await.map(drop);
    armed();
    let update = thread.update(LoadUpdate::default()).await.map(drop);
    armed();
    let check = thread.check().await.map(drop);
    for looked in [state, subgraphs, history, lineage, update, check] {
        let error = looked.unwrap_err();
        assert!(error.to_string().contains("on purpose"), "{error}");
    }
    assert_eq!(thread.state().await.unwrap().unwrap().values.names.len(), 3);
}

#[tokio::test]
async fn a_panic_in_the_clone_of_the_initial_state_is_the_error_of_its_run() {
    let mut graph = StateGraph::<Load>::with_initial(Load::default());
    graph.add_node("node", |_: &Load| LoadUpdate::default());
    graph.add_sequence(&["node"]);
    let graph = graph.compile().unwrap();
    let kept = graph.clone().checkpointer(Arc::new(MemorySaver::new()));
    for run in [graph.run(()), kept.run(()).thread("t")] {
        ARMED.set(Some(Code::Clone));
        // The panic is not one of this call.
        let run = run.into_future();
        let error = run.await.unwrap_err();
        assert!(error.to_string().contains("Clone on purpose"), "{error}");
    }
    assert!(kept.run(()).thread("t").await.unwrap().is_done());
}

/// An error that cannot be shown.
#[derive(Debug)]
struct Unspeakable;

impl fmt::Display for Unspeakable {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        panic!("Display on purpose")
    }
}

impl std::error::Error for Unspeakable {}

#[tokio::test]
async fn an_error_that_panics_when_it_is_shown_fails_the_run() {
    for saver in savers() {
        let mut graph = StateGraph::<Load>::new();
        let fails = |_: &Load| Err::<LoadUpdate, _>(NodeError::boxed(Unspeakable));
        graph.add_node("fails", fails).add_sequence(&["fails"]);
        let graph = graph.compile().unwrap().checkpointer(saver);
        let run = graph.run(()).thread("t").await;
        assert!(run.is_err());
        // The thread is not held by what panicked.
        assert!(graph.thread("t").proceed().await.is_err());
    }
}

/// A future that panics when it is dropped.
struct Sleeper;

impl Drop for Sleeper {
    fn drop(&mut self) {
        panic!("dropped on purpose");
    }
}

#[tokio::test]
async fn a_node_that_panics_when_its_time_is_over_fails_the_run() {
    use langgraph::graph::NodeExt;
    async fn slow(_: &Load) -> LoadUpdate {
        let _sleeper = Sleeper;
        tokio::time::sleep(Duration::from_secs(60)).await;
        LoadUpdate::default()
    }
    for of_the_run in [false, true] {
        for saver in savers() {
            let limit = Duration::from_millis(10);
            let mut graph = StateGraph::<Load>::new();
            if of_the_run {
                graph.add_node("slow", slow).add_sequence(&["slow"]);
            } else {
                graph.add_node("slow", slow.timeout(limit));
                graph.add_sequence(&["slow"]);
            }
            let graph = graph.compile().unwrap().checkpointer(saver);
            let run = graph.run(()).thread("t");
            let run = if of_the_run { run.timeout(limit) } else { run };
            let error = run.await.unwrap_err().to_string();
            let reported = ["dropped on purpose", "deadline"];
            assert!(
                reported.iter().any(|reported| error.contains(reported)),
                "{error}"
            );
        }
    }
}

#[allow(clippy::expect_used)]
#[tokio::test]
async fn a_panic_after_an_interrupt_is_reported_as_a_panic() {
    async fn asks(_: &Load, cx: &Context) -> Result<LoadUpdate, NodeError> {
        let question: Result<String, NodeError> = cx.interrupt("who", "who?").map_err(Into::into);
        let name = question.expect("an answer instead of waiting");
        Ok(LoadUpdate::default().names(vec![name]))
    }
    for saver in savers() {
        let mut graph = StateGraph::<Load>::new();
        graph.add_node("asks", asks).add_sequence(&["asks"]);
        let graph = graph.compile().unwrap().checkpointer(saver);
        let error = graph.run(()).thread("t").await.unwrap_err().to_string();
        assert!(
            error.contains("panicked: an answer instead of waiting"),
            "{error}"
        );
        let done = graph.thread("t").resume("who", "Ada").await;
        assert!(done.is_err(), "nothing was asked");
    }
}
