//! One node after the other: order, errors, loops, limits.

use langgraph_tests::fixtures::time_limit::ends;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use langgraph::prelude::*;
use langgraph_agent::{MessagesState, MessagesStateUpdate};

use langgraph_tests::fixtures::trail::{
    Trail, TrailUpdate, assert_visits, turn, visit, visited, visiting, wired,
};

#[tokio::test]
async fn b1_a_chain_applies_one_node_after_the_other() {
    fn a(n: &i64) -> i64 {
        n + 1
    }
    fn b(n: &i64) -> i64 {
        n * 10
    }
    let mut graph = StateGraph::<i64>::new();
    graph
        .add_node("a", a)
        .add_node("b", b)
        .add_edge(START, "a")
        .add_edge("a", "b")
        .add_edge("b", END);
    let by_macro = graph! { type State = i64; START => a => b => END };
    for graph in [graph, by_macro] {
        assert_eq!(graph.compile().unwrap().invoke(1).await.unwrap(), 20);
    }
}

struct Doubler;

impl Agent for Doubler {
    type State = i64;

    fn name(&self) -> &'static str {
        "doubler"
    }

    async fn run(&self, state: i64) -> Result<i64, AgentError> {
        Ok(state * 2)
    }
}

#[tokio::test]
async fn b2_a_graph_of_one_node_equals_one_run_of_its_agent() {
    let mut graph = StateGraph::<i64>::new();
    graph
        .add_node("doubler", Doubler)
        .add_sequence(&["doubler"]);
    let doubler = Doubler;
    let by_macro = graph! { type State = i64; START => doubler => END };
    for graph in [graph, by_macro] {
        let graph = graph.compile().unwrap();
        for input in [-3, 0, 21] {
            let alone = Doubler.run(input).await.unwrap();
            assert_eq!(graph.invoke(input).await.unwrap(), alone);
        }
    }
}

#[derive(Debug, PartialEq, thiserror::Error)]
#[error("no such city: {0}")]
struct NoCity(String);

#[tokio::test]
async fn b3_the_first_error_stops_the_run_and_names_its_node() {
    let later = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&later);
    let lookup = |_: &Trail| Err::<TrailUpdate, _>(NoCity("Atlantis".to_owned()));
    let after = move |_: &Trail| {
        count.fetch_add(1, Ordering::SeqCst);
    };
    let mut graph = visiting(&["first"]);
    graph
        .add_node("lookup", lookup)
        .add_node("after", after.clone())
        .add_sequence(&["first", "lookup", "after"]);
    let first = visit;
    let by_macro = graph! { START => first => lookup => after => END };
    for graph in [graph, by_macro] {
        let error = graph.compile().unwrap().invoke(()).await.unwrap_err();
        let AgentError::Node {
            node,
            namespace,
            source,
        } = &error
        else {
            panic!("{error}");
        };
        assert_eq!((&**node, namespace.len()), ("lookup", 0));
        assert_eq!(source.downcast_ref(), Some(&NoCity("Atlantis".to_owned())));
        assert_eq!(
            error.to_string(),
            "node `lookup` failed: no such city: Atlantis"
        );
    }
    assert_eq!(later.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn b3_a_panic_is_the_error_of_its_node() {
    let mut graph = visiting(&["beside"]);
    let explode = |state: &Trail| -> TrailUpdate { panic!("round {}", state.round) };
    graph
        .add_node("explode", explode)
        .add_edge(START, "explode");
    for alone in [true, false] {
        if !alone {
            graph.add_edge(START, "beside");
        }
        let error = graph.compile().unwrap().invoke(()).await.unwrap_err();
        assert!(matches!(&error, AgentError::Node { node, .. } if &**node == "explode"));
        assert!(error.to_string().contains("round 0"), "{error}");
    }
}

enum Thought {
    Unclear,
    Clear,
}

fn thought(state: &Trail) -> Thought {
    if state.round < 2 {
        Thought::Unclear
    } else {
        Thought::Clear
    }
}

#[tokio::test]
async fn b5_two_rounds_of_observing_and_thinking() {
    let mut graph = visiting(&["observe"]);
    graph
        .add_node("think", |state: &Trail, cx: &Context| {
            let next = match thought(&Trail {
                round: state.round + 1,
                ..Trail::default()
            }) {
                Thought::Unclear => Next::node("observe"),
                Thought::Clear => Next::End,
            };
            (turn(state, cx), next)
        })
        .add_edge(START, "observe")
        .add_edge("observe", "think");
    let (observe, think) = (visit, turn);
    let by_macro = graph! {
        START => observe => think => match thought {
            Thought::Unclear => observe,
            Thought::Clear => END,
        };
    };
    assert_visits([graph, by_macro], "observe@1 think@2 observe@3 think@4").await;
}

#[tokio::test]
async fn b16_an_endless_loop_ends_with_the_limit() {
    let graph = wired(&["ping", "pong"], "^>ping ping>pong pong>ping");
    let graph = graph.compile().unwrap();
    let error = graph.run(()).limit(7).await.unwrap_err();
    let AgentError::StepLimit { limit, next } = &error else {
        panic!("{error}");
    };
    assert_eq!((*limit, &*next[0], next.len()), (7, "pong", 1));
    assert!(error.to_string().contains('7') && error.to_string().contains("`pong`"));
    // Without a word about it, a run takes 1,000 supersteps.
    let error = graph.run(()).await.unwrap_err();
    assert!(matches!(error, AgentError::StepLimit { limit: 1_000, .. }));
}

#[tokio::test]
async fn b16_the_limit_is_exact() {
    let three = wired(&["a", "b", "c"], "^>a a>b b>c");
    let three = three.compile().unwrap();
    assert_eq!(
        three
            .run(())
            .limit(3)
            .await
            .unwrap()
            .finished()
            .unwrap()
            .visits
            .len(),
        3
    );
    let error = three.run(()).limit(2).await.unwrap_err();
    assert!(matches!(&error, AgentError::StepLimit { limit: 2, next } if &*next[0] == "c"));
    let error = three.run(()).limit(0).await.unwrap_err();
    assert!(matches!(error, AgentError::InvalidOption(_)));
}

#[tokio::test]
async fn b16_a_subgraph_counts_its_own_supersteps() {
    let inner = wired(&["a", "b", "c"], "^>a a>b b>c");
    let mut outer = visiting(&["before"]);
    outer
        .add_node("inner", inner.compile().unwrap())
        .add_sequence(&["before", "inner"]);
    let outer = outer.compile().unwrap();
    let state = outer.run(()).limit(3).await.unwrap().finished().unwrap();
    assert_eq!(state.visits, ["before@1", "a@1", "b@2", "c@3"]);
    let error = outer.run(()).limit(2).await.unwrap_err();
    assert!(
        matches!(error, AgentError::StepLimit { limit: 2, .. }),
        "{error}"
    );
}

#[tokio::test]
async fn b16_a_node_knows_how_many_supersteps_are_left() {
    let counting = |_: &Trail, cx: &Context| {
        let last = if cx.is_last_step() { ", the last" } else { "" };
        TrailUpdate::default().visits(vec![format!("{}{last}", cx.remaining_steps())])
    };
    let mut graph = StateGraph::<Trail>::new();
    graph
        .add_node("a", counting)
        .add_node("b", counting)
        .add_sequence(&["a", "b"]);
    let state = graph
        .compile()
        .unwrap()
        .run(())
        .limit(2)
        .await
        .unwrap()
        .finished()
        .unwrap();
    assert_eq!(state.visits, ["1", "0, the last"]);
}

#[test]
fn b18_a_timeout_fires_around_a_loop_that_never_awaits() {
    ends(|| async {
        let graph = wired(&["spin"], "^>spin spin>spin").compile().unwrap();
        let run = graph.run(()).limit(usize::MAX);
        let late = tokio::time::timeout(Duration::from_millis(30), run).await;
        assert!(late.is_err());
        let error = graph
            .run(())
            .limit(usize::MAX)
            .timeout(Duration::from_millis(30))
            .await
            .unwrap_err();
        assert!(matches!(error, AgentError::TimedOut(limit) if limit == Duration::from_millis(30)));
    });
}

#[tokio::test]
async fn b21_two_invokes_that_pass_the_state_along_keep_all_messages() {
    fn reply(state: &MessagesState) -> MessagesStateUpdate {
        let said = state.messages.last().map(|m| m.text().into_owned());
        MessagesStateUpdate::default().messages(vec![Message::assistant(format!(
            "you said {}",
            said.unwrap_or_default()
        ))])
    }
    let mut graph = StateGraph::<MessagesState>::new();
    graph.add_node("reply", reply).add_sequence(&["reply"]);
    let by_macro = graph! { START => reply => END };
    for graph in [graph, by_macro] {
        let graph = graph.compile().unwrap();
        let mut memory = MessagesState::default();
        for said in ["one", "two"] {
            memory.messages.push(Message::user(said));
            memory = graph.invoke(memory).await.unwrap();
        }
        let texts: Vec<_> = memory.messages.iter().map(Message::text).collect();
        assert_eq!(texts, ["one", "you said one", "two", "you said two"]);
        let mut ids: Vec<_> = memory
            .messages
            .iter()
            .map(|m| m.id.clone().unwrap())
            .collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), 4);
    }
}

#[tokio::test]
async fn the_first_nodes_run_in_step_one() {
    let graph = wired(&["a"], "^>a");
    assert_visits([graph], "a@1").await;
    let mut graph = StateGraph::<Trail>::new();
    graph.add_node("a", |_: &Trail, cx: &Context| visited(cx));
    graph.add_router(START, |_: &Trail, cx: &Context| {
        assert_eq!((cx.node(), cx.step()), (START, 0));
        "a"
    });
    assert_visits([graph], "a@1").await;
}
