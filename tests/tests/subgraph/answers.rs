//! Answers to interrupts of graphs inside graphs: each is for one interrupt of one task.

use std::sync::Arc;

use langgraph::checkpoint::{CheckpointId, MemorySaver};
use langgraph::error::CheckpointError;
use langgraph::node::{Send, Target};
use langgraph::prelude::*;
use langgraph::run::Persistence;

use langgraph_tests::Loopback;
use langgraph_tests::fixtures::notes::{Vec2, Vec2Update, asking};

fn every_persistence() -> [Persistence; 3] {
    let per_thread = Persistence::PerThread("kept".to_owned());
    [Persistence::PerCall, Persistence::None, per_thread]
}

fn wrote(line: String) -> Vec2Update {
    Vec2Update::default().log(vec![line])
}

/// A graph whose only node asks how long the log is.
fn asks(persistence: Persistence) -> CompiledStateGraph<Vec2> {
    let mut graph = StateGraph::<Vec2>::new();
    graph.set_name("asks");
    graph.add_node("ask", |state: &Vec2, cx: &Context| {
        let question = format!("{} lines?", state.log.len());
        let answer: String = cx.interrupt_next(&question)?;
        Ok::<_, NodeError>(wrote(format!("{question} {answer}")))
    });
    graph.add_edge(START, "ask");
    graph.compile().unwrap().persistence(persistence)
}

/// A thread of a graph with one node.
fn thread_of(graph: &mut StateGraph<Vec2>) -> Thread<Vec2> {
    let graph = graph.compile().unwrap();
    graph.checkpointer(Arc::new(MemorySaver::new())).thread("t")
}

/// Answers each interrupt by its id: `0`, `1` and so on. Returns the questions and the log.
async fn answer_each(thread: &Thread<Vec2>) -> (Vec<String>, Vec<String>) {
    let mut outcome = thread.run(()).await.unwrap();
    let (mut ids, mut questions) = (Vec::new(), Vec::new());
    while let Some(asked) = outcome.interrupts().first() {
        let number = ids.len();
        assert!(!ids.contains(&asked.id), "`{}` is asked twice", asked.id);
        ids.push(asked.id.clone());
        questions.push(asked.payload.as_str().unwrap().to_owned());
        outcome = thread.resume(&asked.id, number.to_string()).await.unwrap();
    }
    (questions, outcome.finished().unwrap().log)
}

/// Asks, and calls a graph that asks under the same key.
struct AsksBefore(CompiledStateGraph<Vec2>);

#[node]
impl AsksBefore {
    async fn run(&self, _: &Vec2, cx: &Context) -> Result<Vec2Update, NodeError> {
        let answer: String = cx.interrupt_next("before?")?;
        let inner = cx.run(&self.0, wrote(answer)).await?;
        Ok(wrote(inner.log.join(", ")))
    }
}

#[tokio::test]
async fn an_answer_to_a_node_is_none_to_the_graph_that_it_calls() {
    for persistence in every_persistence() {
        let mut graph = StateGraph::<Vec2>::new();
        graph
            .add_node("node", AsksBefore(asks(persistence)))
            .add_edge(START, "node");
        let (questions, log) = answer_each(&thread_of(&mut graph)).await;
        assert_eq!(questions, ["before?", "1 lines?"]);
        assert_eq!(log, ["0, 1 lines? 1"]);
    }
}

/// Sends a node one line, two and three.
fn three_lists(to: &'static str) -> impl Fn(&Vec2) -> Vec<Target<Vec2>> {
    move |_| {
        let lines = |count: usize| vec!["line".to_owned(); count];
        let sends = (1..=3).map(|count| Send::state(to, Vec2 { log: lines(count) }));
        sends.map(Target::Send).collect()
    }
}

#[tokio::test]
async fn tasks_of_one_node_side_by_side_are_answered_each_for_itself() {
    for persistence in [Persistence::PerCall, Persistence::None] {
        let mut graph = StateGraph::<Vec2>::new();
        graph
            .add_node("inner", asks(persistence))
            .add_router(START, three_lists("inner"));
        graph.add_destinations(START, ["inner"]);
        let (questions, log) = answer_each(&thread_of(&mut graph)).await;
        assert_eq!(questions, ["1 lines?", "2 lines?", "3 lines?"]);
        assert_eq!(log, ["1 lines? 0", "2 lines? 1", "3 lines? 2"]);
    }
}

/// Calls a graph with the lines that it has.
struct CallsOnce(CompiledStateGraph<Vec2>);

#[node]
impl CallsOnce {
    async fn run(&self, state: &Vec2, cx: &Context) -> Result<Vec2Update, NodeError> {
        let inner = cx.run(&self.0, state.clone()).await?;
        Ok(Vec2Update::default().log(inner.log))
    }
}

#[tokio::test]
async fn graphs_of_remote_tasks_in_calls_side_by_side_are_answered_each_for_itself() {
    for persistence in [Persistence::PerCall, Persistence::None] {
        let mut around = StateGraph::<Vec2>::new();
        around.set_name("around");
        around
            .add_node("node", CallsOnce(asks(persistence)).anywhere())
            .add_edge(START, "node");
        let around = around.compile().unwrap();
        let worker = Loopback::of(&around);
        let mut graph = StateGraph::<Vec2>::new();
        graph
            .add_node("around", around.executor(worker))
            .add_router(START, three_lists("around"));
        graph.add_destinations(START, ["around"]);
        let (questions, log) = answer_each(&thread_of(&mut graph)).await;
        assert_eq!(questions, ["1 lines?", "2 lines?", "3 lines?"]);
        let answered = log.iter().filter(|line| *line != "line");
        assert!(answered.eq(&["1 lines? 0", "2 lines? 1", "3 lines? 2"]));
    }
}

#[tokio::test]
async fn a_graph_that_keeps_nothing_asks_again_in_each_round_around_it() {
    for persistence in every_persistence() {
        let mut around = StateGraph::<Vec2>::new();
        around.set_name("around");
        around
            .add_node("inner", asks(Persistence::None))
            .add_edge(START, "inner");
        let again = |state: &Vec2| {
            if state.log.len() < 3 { "inner" } else { END }
        };
        around.add_conditional_edges("inner", again, ["inner", END]);
        let around = around.compile().unwrap().persistence(persistence);
        let mut graph = StateGraph::<Vec2>::new();
        graph.add_node("around", around).add_edge(START, "around");
        let (questions, _) = answer_each(&thread_of(&mut graph)).await;
        assert_eq!(questions, ["0 lines?", "1 lines?", "2 lines?"]);
    }
}

/// Calls a graph twice.
struct CallsTwice(CompiledStateGraph<Vec2>);

#[node]
impl CallsTwice {
    async fn run(&self, _: &Vec2, cx: &Context) -> Result<Vec2Update, NodeError> {
        let one = cx.run(&self.0, wrote("one".to_owned())).await?;
        let two = cx.run(&self.0, one).await?;
        Ok(Vec2Update::default().log(two.log))
    }
}

#[tokio::test]
async fn an_answer_that_is_given_twice_is_none_to_the_next_round() {
    for persistence in every_persistence() {
        let mut graph = StateGraph::<Vec2>::new();
        graph
            .add_node("inner", asks(persistence))
            .add_edge(START, "inner")
            .add_edge("inner", "inner");
        let thread = thread_of(&mut graph);
        let outcome = thread.run(()).await.unwrap();
        let first = outcome.interrupts()[0].id.clone();
        thread.resume(&first, "yes").await.unwrap();
        let late = thread.resume(&first, "yes").await.unwrap_err();
        assert!(
            matches!(
                late,
                AgentError::Checkpoint(CheckpointError::NothingToResume { .. })
            ),
            "{late}"
        );
    }
}

#[tokio::test]
async fn a_graph_that_keeps_nothing_asks_again_in_each_call_around_it() {
    for persistence in [Persistence::PerCall, Persistence::None] {
        let mut around = StateGraph::<Vec2>::new();
        around.set_name("around");
        around
            .add_node("inner", asks(Persistence::None))
            .add_edge(START, "inner");
        let around = around.compile().unwrap().persistence(persistence);
        let mut graph = StateGraph::<Vec2>::new();
        graph
            .add_node("node", CallsTwice(around))
            .add_edge(START, "node");
        let (questions, log) = answer_each(&thread_of(&mut graph)).await;
        assert_eq!(questions, ["1 lines?", "2 lines?"]);
        assert_eq!(log, ["one", "1 lines? 0", "2 lines? 1"]);
    }
}

/// Asks in a node and, beside it, in a graph. Returns the thread, its checkpoint there, and the ids.
async fn asked_beside(persistence: Persistence) -> (Thread<Vec2>, CheckpointId, [String; 2]) {
    let mut graph = StateGraph::<Vec2>::new();
    graph
        .add_node("own", asking("own"))
        .add_node("inner", asks(persistence))
        .add_edge(START, "own")
        .add_edge(START, "inner");
    let thread = thread_of(&mut graph);
    let outcome = thread.run(()).await.unwrap();
    let [own, inner] = outcome.interrupts() else {
        panic!("{outcome:?}")
    };
    let ids = [own, inner].map(|asked| asked.id.clone());
    let then = thread.state().await.unwrap().unwrap().id;
    let answers = ids.clone().map(|id| (id, "yes"));
    thread.resume_all(answers).await.unwrap();
    (thread, then, ids)
}

#[tokio::test]
async fn an_older_checkpoint_refuses_an_answer_to_a_graph_that_begins_anew() {
    for persistence in every_persistence() {
        let (thread, then, [own, inner]) = asked_beside(persistence).await;
        let before = thread.history().await.unwrap().len();
        let then = thread.at(then);
        for answers in [vec![(&own, "no"), (&inner, "no")], vec![(&inner, "no")]] {
            let refused = then.resume_all(answers).await.unwrap_err();
            let AgentError::Checkpoint(CheckpointError::NothingToResume { key, .. }) = &refused
            else {
                panic!("{refused}")
            };
            assert_eq!(*key, inner);
            let expected = format!(
                "(open: `{own}` (`own` of `own`); `0` of `ask` was asked in the subgraph `inner`, which begins anew at \
                 an older checkpoint: go on without this answer, and answer what it asks then)"
            );
            assert!(refused.to_string().ends_with(&expected), "{refused}");
        }
        let ambiguous = then.answer("no").await.unwrap_err().to_string();
        assert!(ambiguous.contains("answer by id"), "{ambiguous}");
        assert_eq!(thread.history().await.unwrap().len(), before);

        let outcome = then.resume(&own, "no").await.unwrap();
        let [asked] = outcome.interrupts() else {
            panic!("{outcome:?}")
        };
        let done = thread.resume(&asked.id, "neither").await.unwrap();
        let log = &done.state().log;
        assert!(
            log[0] == "own: no" && log[1].ends_with("neither"),
            "{log:?}"
        );
    }
}
