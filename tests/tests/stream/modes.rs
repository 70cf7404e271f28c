//! What each mode shows, alone and with others.

use std::sync::Arc;

use langgraph::checkpoint::MemorySaver;
use langgraph::prelude::*;
use langgraph::stream::{StreamModes, StreamOptions};
use serde_json::json;

use super::{line, read};
use langgraph_tests::fixtures::trail::{Trail, TrailUpdate, visit, visited, visiting, wire};

/// `a`, then a worker with two items and `c`, which emits; one task at a time, so that the events
/// of a superstep have one order.
fn graph() -> CompiledStateGraph<Trail> {
    async fn c(_: &Trail, cx: &Context) -> Result<TrailUpdate, NodeError> {
        cx.emit(json!({"half": "done"})).await?;
        Ok(visited(cx))
    }
    async fn w(item: u8, _: &Trail, cx: &Context) -> TrailUpdate {
        TrailUpdate::default().visits(vec![format!("w{item}@{}", cx.step())])
    }
    fn items(_: &Trail) -> [u8; 2] {
        [1, 2]
    }
    let a = visit;
    let graph = graph! {
        START => a => c => END;
        a => for item in items { w(item) } => END;
    };
    graph.compile().unwrap()
}

async fn seen(modes: impl Into<StreamModes>) -> Vec<String> {
    let input = TrailUpdate::default().last("in".to_owned());
    read(graph().run(input).max_concurrency(1).stream(modes.into())).await
}

const VALUES: [&str; 3] = [
    "0 values []",
    "1 values [a@1]",
    "2 values [a@1 c@2 w1@2 w2@2]",
];
const UPDATES: [&str; 4] = [
    "1 update a [a@1]",
    "2 update c [c@2]",
    "2 update w [w1@2]",
    "2 update w [w2@2]",
];

#[tokio::test]
async fn f1_updates_come_one_by_one_with_their_node() {
    assert_eq!(seen(StreamMode::Updates).await, UPDATES);
    let mut stream = graph().run(()).stream(StreamMode::Updates);
    let first = stream.next().await.unwrap().unwrap();
    assert_eq!((first.node(), first.step), (Some("a"), 1));
    assert_eq!(
        first.update().unwrap().visits.as_deref(),
        Some(["a@1".to_owned()].as_slice())
    );
}

#[tokio::test]
async fn f2_each_mode_alone() {
    assert_eq!(seen(StreamMode::Values).await, VALUES);
    assert_eq!(
        seen(StreamMode::Custom).await,
        ["2 custom c {\"half\":\"done\"}"]
    );
    assert_eq!(
        seen(StreamMode::Tasks).await,
        [
            "1 start a []",
            "1 finish a [a@1]",
            "2 start c [a@1]",
            "2 start w(1) [a@1]",
            "2 start w(2) [a@1]",
            "2 finish c [c@2]",
            "2 finish w [w1@2]",
            "2 finish w [w2@2]",
        ]
    );
    assert_eq!(seen(StreamMode::Messages).await, [""; 0]);
    // Without a checkpointer there are none.
    assert_eq!(seen(StreamMode::Checkpoints).await, [""; 0]);
    assert_eq!(seen(StreamModes::NONE).await, [""; 0]);
}

#[tokio::test]
async fn f2_modes_together_show_what_they_show_alone() {
    let all = seen(StreamModes::ALL).await;
    assert_eq!(
        all,
        [
            "0 values []",
            "1 start a []",
            "1 update a [a@1]",
            "1 finish a [a@1]",
            "1 values [a@1]",
            "2 start c [a@1]",
            "2 start w(1) [a@1]",
            "2 start w(2) [a@1]",
            "2 progress w 0+0/2",
            "2 custom c {\"half\":\"done\"}",
            "2 update c [c@2]",
            "2 finish c [c@2]",
            "2 update w [w1@2]",
            "2 finish w [w1@2]",
            "2 progress w 1+0/2",
            "2 update w [w2@2]",
            "2 finish w [w2@2]",
            "2 progress w 2+0/2",
            "2 values [a@1 c@2 w1@2 w2@2]",
        ]
    );
    // Any set of modes shows its part of it.
    let kinds = [
        (StreamMode::Values, "values"),
        (StreamMode::Updates, "update"),
        (StreamMode::Custom, "custom"),
        (StreamMode::Tasks, "start finish"),
    ];
    for set in 0..16_usize {
        let chosen: Vec<_> = (0..4)
            .filter(|bit| set >> bit & 1 == 1)
            .map(|bit| kinds[bit])
            .collect();
        let modes = chosen
            .iter()
            .fold(StreamModes::NONE, |modes, (mode, _)| modes | *mode);
        let wanted = |line: &&String| {
            let kind = line.split(' ').nth(1).unwrap();
            chosen
                .iter()
                .any(|(_, kinds)| kinds.split(' ').any(|known| known == kind))
        };
        let expected: Vec<_> = all.iter().filter(wanted).cloned().collect();
        assert_eq!(seen(modes).await, expected);
    }
}

#[tokio::test]
async fn f2_checkpoints_and_debug_on_a_thread() {
    let graph = graph().checkpointer(Arc::new(MemorySaver::new()));
    let run = || {
        let input = TrailUpdate::default().last("in".to_owned());
        graph.run(input).max_concurrency(1)
    };
    let checkpoints = [
        "0 checkpoint -1 -> __start__",
        "0 checkpoint 0 -> a",
        "1 checkpoint 1 -> c w w",
        "2 checkpoint 2 -> ",
    ];
    let lines = read(run().thread("t").stream(StreamMode::Checkpoints)).await;
    assert_eq!(lines, checkpoints);
    assert_eq!(
        graph.thread("t").history().await.unwrap().len(),
        checkpoints.len()
    );
    // `debug` is the sum of tasks and checkpoints.
    let debug = read(run().thread("d").stream(StreamModes::DEBUG)).await;
    let tasks = read(run().thread("s").stream(StreamMode::Tasks)).await;
    let (of_checkpoints, of_tasks): (Vec<_>, Vec<_>) = debug
        .into_iter()
        .partition(|line| line.contains("checkpoint"));
    assert_eq!(of_checkpoints, checkpoints);
    assert_eq!(of_tasks, tasks);
}

#[tokio::test]
async fn a_superstep_that_writes_nothing_shows_no_values() {
    let mut graph = visiting(&["loud"]);
    graph.add_node("quiet", |_: &Trail| ());
    wire(&mut graph, "^>quiet quiet>loud");
    let lines = read(
        graph
            .compile()
            .unwrap()
            .run(())
            .stream(StreamMode::Values | StreamMode::Updates),
    )
    .await;
    assert_eq!(
        lines,
        [
            "1 update quiet []",
            "2 update loud [loud@2]",
            "2 values [loud@2]"
        ]
    );
}

fn nested() -> CompiledStateGraph<Trail> {
    let mut inner = visiting(&["x"]);
    inner.add_node("y", |_: &Trail, cx: &Context| visited(cx));
    wire(&mut inner, "^>x x>y");
    let mut middle = StateGraph::<Trail>::new();
    middle
        .add_node("inner", inner.compile().unwrap())
        .add_sequence(&["inner"]);
    let mut outer = visiting(&["a"]);
    outer.add_node("middle", middle.compile().unwrap());
    wire(&mut outer, "^>a a>middle");
    outer.compile().unwrap()
}

#[tokio::test]
async fn f2_g3_events_of_subgraphs_carry_their_path_when_they_are_wanted() {
    let own = ["1 update a [a@1]", "2 update middle [x@1, y@2]"];
    let lines = read(nested().run(()).stream(StreamMode::Updates)).await;
    assert_eq!(lines, own);
    let options = StreamOptions::new(StreamMode::Updates).subgraphs();
    let lines = read(nested().run(()).stream(options)).await;
    assert_eq!(
        lines,
        [
            "1 update a [a@1]",
            "middle/inner/1 update x [x@1]",
            "middle/inner/2 update y [y@2]",
            "middle/1 update inner [x@1, y@2]",
            "2 update middle [x@1, y@2]",
        ]
    );
}

#[tokio::test]
async fn f2_events_of_a_subgraph_over_another_state_are_typed_on_demand() {
    let mut inner = StateGraph::<i64>::new();
    inner
        .add_node("double", |n: &i64| n * 2)
        .add_sequence(&["double"]);
    let mut outer = StateGraph::<Trail>::new();
    let node = inner.compile().unwrap().mapped(
        |_: &Trail| 21_i64,
        |n| TrailUpdate::default().last(n.to_string()),
    );
    outer.add_node("inner", node).add_sequence(&["inner"]);
    let options = StreamOptions::new(StreamMode::Values).subgraphs();
    let mut stream = outer.compile().unwrap().run(()).stream(options);
    let mut numbers = Vec::new();
    while let Some(event) = stream.next().await {
        if let EventKind::Inner(event) = event.unwrap().kind {
            assert!(event.typed::<Trail>().is_none());
            if let Some(EventKind::Values(n)) = event.typed::<i64>() {
                numbers.push(*n);
            }
        }
    }
    assert_eq!(numbers, [21, 42]);
}

#[tokio::test]
async fn f3_the_last_item_is_the_error() {
    let mut graph = visiting(&["a"]);
    graph.add_node("bad", |_: &Trail| Err::<(), _>(NodeError::msg("no")));
    wire(&mut graph, "^>a a>bad");
    let graph = graph.compile().unwrap();
    let lines = read(graph.run(()).stream(StreamMode::Tasks)).await;
    assert_eq!(
        lines,
        [
            "1 start a []",
            "1 finish a [a@1]",
            "2 start bad [a@1]",
            "2 finish bad: no",
            "error: node `bad` failed: no",
        ]
    );
    // With all modes, and then the stream ends.
    let mut stream = graph.run(()).stream(StreamModes::NONE);
    assert!(stream.next().await.unwrap().is_err());
    assert!(stream.next().await.is_none());
    assert!(stream.outcome().is_none());
    let error = graph
        .run(())
        .stream(StreamMode::Values)
        .finish()
        .await
        .unwrap_err();
    assert!(matches!(error, AgentError::Node { .. }));
}

#[tokio::test]
async fn f3_finished_siblings_come_before_the_error() {
    let mut graph = visiting(&["good", "never"]);
    graph.add_node("bad", |_: &Trail| Err::<(), _>(NodeError::msg("no")));
    wire(&mut graph, "^>good ^>bad good>never");
    let run = graph.compile().unwrap().run(()).max_concurrency(1);
    let lines = read(run.stream(StreamMode::Updates)).await;
    assert_eq!(
        lines,
        ["1 update good [good@1]", "error: node `bad` failed: no"]
    );
}

/// A node that interrupts beside one that finishes, begun in that order.
fn asks_beside(first: &str, second: &str) -> CompiledStateGraph<Trail> {
    let mut graph = StateGraph::new();
    for node in [first, second] {
        let asks = node == "ask";
        graph.add_node(
            node,
            move |_: &Trail, cx: &Context| -> Result<TrailUpdate, NodeError> {
                if asks {
                    let _: String = cx.interrupt("name", "who?")?;
                }
                Ok(visited(cx))
            },
        );
    }
    wire(&mut graph, &format!("^>{first} ^>{second}"));
    graph
        .compile()
        .unwrap()
        .checkpointer(Arc::new(MemorySaver::new()))
}

#[tokio::test]
async fn f3_an_interrupt_and_a_finished_sibling_come_in_the_order_in_which_they_end() {
    for (first, second, lines) in [
        (
            "good",
            "ask",
            ["1 update good [good@1]", "1 interrupt name?"],
        ),
        (
            "ask",
            "good",
            ["1 interrupt name?", "1 update good [good@1]"],
        ),
    ] {
        // One task after the other.
        let run = asks_beside(first, second)
            .run(())
            .thread("t")
            .max_concurrency(1);
        assert_eq!(read(run.stream(StreamMode::Updates)).await, lines);
    }
}

#[tokio::test]
async fn f3_a_question_is_an_item_and_the_stream_ends_in_a_pause() {
    let mut graph = visiting(&["a"]);
    graph.add_node(
        "ask",
        |_: &Trail, cx: &Context| -> Result<TrailUpdate, NodeError> {
            let name: String = cx.interrupt("name", "who?")?;
            Ok(visited(cx).last(name))
        },
    );
    wire(&mut graph, "^>a a>ask");
    let graph = graph
        .compile()
        .unwrap()
        .checkpointer(Arc::new(MemorySaver::new()));
    let mut stream = graph.run(()).thread("t").stream(StreamMode::Updates);
    let mut lines = Vec::new();
    while let Some(event) = stream.next().await {
        lines.push(line(&event.unwrap()));
    }
    assert_eq!(lines, ["1 update a [a@1]", "2 interrupt name?"]);
    let outcome = stream.finish().await.unwrap();
    assert!(
        matches!(&outcome, Outcome::Interrupted { interrupts, next, .. }
        if interrupts[0].payload == "who?" && &*next[0] == "ask")
    );
    // The answer continues in a new stream.
    let stream = graph
        .thread("t")
        .resume("name", "Ada")
        .stream(StreamMode::Updates | StreamMode::Values);
    let lines = read(stream).await;
    assert_eq!(
        lines,
        [
            "1 values [a@1]",
            "2 update ask [ask@2]",
            "2 values [a@1 ask@2]"
        ]
    );
}

#[tokio::test]
async fn f3_a_breakpoint_is_an_item_without_questions() {
    let run = nested().run(()).interrupt_before(["middle"]);
    let lines = read(run.stream(StreamMode::Updates)).await;
    assert_eq!(lines, ["1 update a [a@1]", "1 interrupt "]);
}

#[tokio::test]
async fn f4_the_final_state_comes_from_the_same_object() {
    let expected = graph().invoke(()).await.unwrap();
    let mut stream = graph().run(()).stream(StreamMode::Updates);
    assert!(stream.outcome().is_none());
    while stream.next().await.is_some() {}
    assert_eq!(stream.outcome(), Some(&Outcome::done(expected.clone())));
    assert_eq!(stream.finish().await.unwrap().finished().unwrap(), expected);
    // Unread or half read, with any modes.
    for modes in [
        StreamModes::NONE,
        StreamModes::ALL,
        StreamMode::Custom.into(),
    ] {
        let mut stream = graph().run(()).stream(modes);
        let _ = stream.next().await;
        assert_eq!(stream.finish().await.unwrap().finished().unwrap(), expected);
    }
}

#[tokio::test]
async fn the_last_values_are_the_final_state() {
    let mut stream = graph().run(()).stream(StreamMode::Values);
    let mut last = None;
    while let Some(event) = stream.next().await {
        last = event.unwrap().values().cloned().or(last);
    }
    assert_eq!(last.as_ref(), stream.outcome().map(Outcome::state));
}
