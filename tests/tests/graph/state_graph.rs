//! Building and compiling through the public builder.

use std::sync::Arc;

use langgraph::graph::{CompilationError, CompilationErrors, Lint};
use langgraph::prelude::*;
use tokio::sync::Barrier;

use langgraph_tests::fixtures::trail::{
    Trail, TrailUpdate, assert_visits, turn, visit, visited, visiting, wired,
};

fn refused(graph: &StateGraph<Trail>) -> CompilationErrors {
    graph.compile().unwrap_err()
}

/// The only reason why a graph is refused.
fn only(graph: &StateGraph<Trail>) -> CompilationError {
    let errors = refused(graph);
    assert_eq!(errors.as_slice().len(), 1, "{errors}");
    errors.as_slice()[0].clone()
}

#[tokio::test]
async fn a1_a_graph_over_a_number() {
    let mut graph = StateGraph::<i32>::new();
    graph
        .add_node("add", |n: &i32| n + 1)
        .add_sequence(&["add"]);
    assert_eq!(graph.compile().unwrap().invoke(41_i32).await.unwrap(), 42);
    let add = |n: &i32| n + 1;
    let graph = graph! { type State = i32; START => add => END };
    assert_eq!(graph.compile().unwrap().invoke(41_i32).await.unwrap(), 42);
}

/// A value without `Debug`, `PartialEq` or serde.
#[derive(Clone, Default)]
struct Handle(Arc<str>);

#[derive(State, Clone, Default)]
struct Opaque {
    handle: Handle,
    uses: usize,
}

#[tokio::test]
async fn a1_a_graph_over_a_struct_without_debug() {
    fn open(_: &Opaque) -> OpaqueUpdate {
        OpaqueUpdate::default().handle(Handle("file".into()))
    }
    fn read(state: &Opaque) -> OpaqueUpdate {
        OpaqueUpdate::default().uses(state.uses + state.handle.0.len())
    }
    let mut graph = StateGraph::<Opaque>::new();
    graph
        .add_node("open", open)
        .add_node("read", read)
        .add_sequence(&["open", "read"]);
    let by_macro = graph! { START => open => read => END };
    for graph in [graph, by_macro] {
        let state = graph.compile().unwrap().invoke(()).await.unwrap();
        assert_eq!((&*state.handle.0, state.uses), ("file", 4));
    }
}

#[tokio::test]
async fn a1_a_graph_over_a_foreign_type_without_a_default() {
    // No `Default`: an order always has an address.
    let home = std::net::IpAddr::from([127, 0, 0, 1]);
    let mut graph = StateGraph::with_initial(Plain(home));
    graph.add_node("away", |_: &Plain<std::net::IpAddr>| {
        langgraph::state::PlainUpdate(Some(std::net::IpAddr::from([10, 0, 0, 1])))
    });
    graph.add_node("stay", |state: &Plain<std::net::IpAddr>| *state);
    graph.add_sequence(&["away", "stay"]);
    let saver = Arc::new(langgraph::checkpoint::MemorySaver::new());
    let graph = graph.compile().unwrap().checkpointer(saver);
    let outcome = graph.run(()).thread("t").await.unwrap();
    assert_eq!(outcome.finished().unwrap().0.to_string(), "10.0.0.1");
    let history = graph.thread("t").history().await.unwrap();
    let first = history.last().unwrap();
    assert_eq!(first.values.0, home, "the state before the first superstep");
}

#[tokio::test]
async fn a1_a_graph_over_a_value_that_is_replaced_whole() {
    #[derive(Clone, Default)]
    struct Foreign(Vec<u8>);

    fn push(state: &Plain<Foreign>) -> Plain<Foreign> {
        let mut bytes = state.0.0.clone();
        bytes.push(7);
        Plain(Foreign(bytes))
    }
    let mut graph = StateGraph::<Plain<Foreign>>::new();
    graph
        .add_node("push", push)
        .add_node("again", push)
        .add_sequence(&["push", "again"]);
    let again = push;
    let by_macro = graph! { type State = Plain<Foreign>; START => push => again => END };
    for graph in [graph, by_macro] {
        let state = graph
            .compile()
            .unwrap()
            .invoke(Plain(Foreign(vec![1])))
            .await
            .unwrap();
        assert_eq!(state.0.0, [1, 7, 7]);
    }
}

#[test]
fn a3_a_name_that_is_taken_is_reported() {
    let mut graph = wired(&["a", "a"], "^>a");
    assert!(
        matches!(only(&graph), CompilationError::DuplicateNode { name } if &*name == "a"),
        "{}",
        refused(&graph)
    );
    // A worker is a node too.
    graph = wired(&["a"], "^>a");
    let _ = graph.add_worker("a", |_: u8, _: &Trail| async {});
    assert!(
        refused(&graph).iter().any(
            |error| matches!(error, CompilationError::DuplicateNode { name } if &**name == "a")
        )
    );
}

#[test]
fn a4_reserved_names_are_refused() {
    for reserved in [START, END] {
        let graph = wired(&["a", reserved], "^>a");
        let error = only(&graph);
        assert!(
            matches!(&error, CompilationError::ReservedName { name } if &**name == reserved),
            "{error}"
        );
        assert!(error.to_string().contains(reserved));
    }
}

#[test]
fn a5_the_constants_have_the_values_of_langgraph() {
    assert_eq!(langgraph::START, "__start__");
    assert_eq!(langgraph::END, "__end__");
}

#[tokio::test]
async fn a6_chained_edges_are_visited_in_order() {
    let mut graph = visiting(&["c", "a", "b"]);
    graph
        .add_edge(START, "a")
        .add_edge("a", "b")
        .add_edge("b", "c")
        .add_edge("c", END);
    let (a, b, c) = (visit, visit, visit);
    let by_macro = graph! { START => a => b => c => END };
    assert_visits([graph, by_macro], "a@1 b@2 c@3").await;
}

#[test]
fn a7_end_as_source_and_start_as_target_are_refused() {
    let end = only(&wired(&["a"], "^>a $>a"));
    assert!(matches!(&end, CompilationError::EndAsSource { target } if &**target == "a"));
    let start = only(&wired(&["a"], "^>a a>^"));
    assert!(matches!(&start, CompilationError::StartAsTarget { from } if &**from == "a"));
    assert_ne!(end.to_string(), start.to_string());
    // Behind a join and behind a router too.
    let end = only(&wired(&["a"], "^>a a,$>a"));
    assert!(matches!(end, CompilationError::EndAsSource { .. }));
    let mut graph = wired(&["a"], "^>a");
    graph.add_conditional_edges("a", |_: &Trail| "again", [("again", START)]);
    assert!(matches!(
        only(&graph),
        CompilationError::StartAsTarget { .. }
    ));
}

#[tokio::test]
async fn a8_entry_and_finish_points_are_the_edges_they_stand_for() {
    let mut graph = visiting(&["a", "b"]);
    graph
        .set_entry_point("a")
        .add_edge("a", "b")
        .set_finish_point("b");
    let explicit = wired(&["a", "b"], "^>a a>b b>$");
    assert_eq!(graph.topology(), explicit.topology());
    assert_visits([graph, explicit], "a@1 b@2").await;
}

#[tokio::test]
async fn a9_add_sequence_connects_in_order() {
    let mut graph = visiting(&["a", "b", "c"]);
    graph.add_sequence(&["c", "a", "b"]);
    assert_visits([graph], "c@1 a@2 b@3").await;
}

#[test]
fn a9_an_empty_sequence_changes_nothing() {
    let mut graph = wired(&["a"], "^>a a>$");
    let before = graph.topology().clone();
    graph.add_sequence(&[] as &[&str]).add_chain(&["a"]);
    assert_eq!(*graph.topology(), before);
}

#[test]
fn a9_an_unknown_name_in_a_sequence_fails_at_compile() {
    let mut graph = visiting(&["a", "b"]);
    graph.add_sequence(&["a", "missing", "b"]);
    let errors = refused(&graph);
    for error in &errors {
        assert!(error.to_string().contains("`missing`"), "{error}");
    }
}

#[tokio::test]
async fn a9_add_chain_connects_without_start_and_end() {
    let mut graph = wired(&["a", "b"], "^>a");
    graph.add_chain(&["a", "b"]);
    assert_eq!(graph.topology().edges.len(), 2);
    assert_visits([graph], "a@1 b@2").await;
}

#[tokio::test]
async fn a10_an_edge_added_twice_runs_its_target_once() {
    let graph = wired(&["a", "b"], "^>a ^>a a>b a>b b>$ b>$");
    let lints = graph.lints();
    assert!(
        lints.iter().any(|lint| matches!(lint, Lint::DuplicateEdge { from, to } if &**from == "a" && &**to == "b")),
        "{lints:?}"
    );
    assert_visits([graph], "a@1 b@2").await;
}

#[test]
fn a11_an_unknown_endpoint_is_named() {
    let source = only(&wired(&["search"], "^>search serch>search"));
    assert!(matches!(&source, CompilationError::UnknownSource { node, .. } if &**node == "serch"));
    let target = only(&wired(&["search"], "^>search search>anwser"));
    assert!(
        matches!(&target, CompilationError::UnknownTarget { from, node, .. }
            if &**from == "search" && &**node == "anwser")
    );
    // A name that is nearly one of a node is reported what is meant.
    assert!(
        source.to_string().contains("did you mean `search`?"),
        "{source}"
    );
    assert!(!target.to_string().contains("did you mean"), "{target}");
}

#[test]
fn a12_a_graph_without_an_edge_from_start_has_no_entry_point() {
    assert_eq!(only(&wired(&["a"], "a>$")), CompilationError::NoEntryPoint);
    assert_eq!(only(&StateGraph::new()), CompilationError::NoEntryPoint);
}

#[tokio::test]
async fn a13_a_node_without_an_outgoing_edge_ends_the_run() {
    assert_visits([wired(&["a", "b"], "^>a a>b")], "a@1 b@2").await;
}

enum Decision {
    CallTools,
    Answer,
}

fn decide(state: &Trail) -> Decision {
    if state.round < 3 {
        Decision::CallTools
    } else {
        Decision::Answer
    }
}

#[tokio::test]
async fn a14_a_loop_compiles_and_stops_when_it_is_routed_to_end() {
    let mut graph = visiting(&["tools"]);
    graph
        .add_node("agent", turn)
        .add_edge(START, "agent")
        .add_edge("tools", "agent")
        .add_conditional_edges(
            "agent",
            |state: &Trail| match decide(state) {
                Decision::CallTools => "call",
                Decision::Answer => "answer",
            },
            [("call", "tools"), ("answer", END)],
        );
    let (agent, tools) = (turn, visit);
    let by_macro = graph! {
        START => agent => match decide {
            Decision::CallTools => tools => agent,
            Decision::Answer => END,
        };
    };
    assert_visits([graph, by_macro], "agent@1 tools@2 agent@3 tools@4 agent@5").await;
}

#[test]
fn a15_every_problem_is_reported_at_once() {
    let graph = wired(&["a", "a", "b"], "a>missing b>^");
    let errors = refused(&graph);
    let mut kinds: Vec<_> = errors
        .iter()
        .map(|error| match error {
            CompilationError::DuplicateNode { .. } => "duplicate",
            CompilationError::UnknownTarget { .. } => "unknown",
            CompilationError::StartAsTarget { .. } => "start",
            CompilationError::NoEntryPoint => "entry",
            _ => "other",
        })
        .collect();
    kinds.sort_unstable();
    assert_eq!(kinds, ["duplicate", "entry", "start", "unknown"]);
    // Each is in the text, and the order is the same every time.
    let text = errors.to_string();
    for error in &errors {
        assert!(text.contains(&error.to_string()), "{text}");
    }
    assert_eq!(errors, refused(&graph));
}

#[test]
fn a16_an_unreachable_node_is_a_lint_and_with_deny_lints_an_error() {
    let mut graph = wired(&["a", "island"], "^>a a>$ island>$");
    let unreachable =
        |lint: &Lint| matches!(lint, Lint::UnreachableNode { node, .. } if &**node == "island");
    assert!(graph.lints().iter().any(unreachable), "{:?}", graph.lints());
    assert!(graph.compile().is_ok());
    graph.deny_lints();
    assert!(matches!(only(&graph), CompilationError::Lint(lint) if unreachable(&lint)));
}

#[test]
fn a16_denied_lints_stand_beside_errors_that_leave_the_edges_intact() {
    let mut graph = wired(&["a", "island"], "^>a a>$ island>$");
    graph.deny_lints().interrupt_before(["b"]);
    let errors = refused(&graph);
    let [problem, CompilationError::Lint(lint)] = errors.as_slice() else {
        panic!("{errors:?}");
    };
    assert!(matches!(
        problem,
        CompilationError::UnknownInterruptNode { .. }
    ));
    assert!(matches!(lint, Lint::UnreachableNode { .. }));

    // A broken edge may be the one that leads to the island.
    graph.add_edge("a", "iland");
    let errors = refused(&graph);
    assert!(
        !errors
            .iter()
            .any(|error| matches!(error, CompilationError::Lint(_))),
        "{errors:?}"
    );
}

#[tokio::test]
async fn a17_two_runs_of_one_compiled_graph_do_not_affect_each_other() {
    // Neither run gets past its first node before the other is there.
    let both = Arc::new(Barrier::new(2));
    let mut graph = StateGraph::<Trail>::new();
    graph
        .add_node("meet", move |state: &Trail| {
            let (both, last) = (Arc::clone(&both), state.last.clone());
            async move {
                both.wait().await;
                TrailUpdate::default().visits(vec![format!("meet {last}")])
            }
        })
        .add_node("after", |state: &Trail, cx: &Context| {
            visited(cx).last(format!("{}!", state.last))
        })
        .add_sequence(&["meet", "after"]);
    let graph = graph.compile().unwrap();
    let input = |name: &str| TrailUpdate::default().last(name.to_owned());
    let (left, right) = tokio::join!(graph.invoke(input("left")), graph.invoke(input("right")));
    let (left, right) = (left.unwrap(), right.unwrap());
    assert_eq!(
        (left.visits.join(" ").as_str(), left.last.as_str()),
        ("meet left after@2", "left!")
    );
    assert_eq!(
        (right.visits.join(" ").as_str(), right.last.as_str()),
        ("meet right after@2", "right!")
    );
}

#[tokio::test]
async fn a17_a_compiled_graph_does_not_see_later_changes_of_its_builder() {
    let mut graph = wired(&["a", "b"], "^>a");
    let compiled = graph.compile().unwrap();
    graph.add_edge("a", "b");
    assert_eq!(compiled.invoke(()).await.unwrap().visits, ["a@1"]);
    assert_eq!(
        graph.compile().unwrap().invoke(()).await.unwrap().visits,
        ["a@1", "b@2"]
    );
}

#[tokio::test]
async fn names_of_nodes_are_whatever_is_a_text() {
    #[derive(Clone, Copy)]
    enum Step {
        Add,
        Double,
    }

    impl AsRef<str> for Step {
        fn as_ref(&self) -> &str {
            match self {
                Self::Add => "add",
                Self::Double => "double",
            }
        }
    }

    let (halve, square) = (String::from("halve"), String::from("square"));
    let mut graph = StateGraph::<i64>::new();
    graph
        .add_node(&halve, |n: &i64| n / 2)
        .add_node(&square, |n: &i64| n * n)
        .add_node(Step::Add, |n: &i64| n + 1)
        .add_node(Step::Double, |n: &i64| n * 2)
        .set_entry_point(&halve)
        .add_edge(&halve, &square)
        .add_edge(&square, Step::Add)
        .add_conditional_edges(
            Step::Add,
            |n: &i64| if *n < 10 { "again" } else { "on" },
            [("again", &halve), ("on", &String::from("double"))],
        )
        .set_finish_point(Step::Double);
    let topology = graph.topology();
    assert_eq!(&*topology.edges[1].from, "halve");
    assert_eq!(&*topology.edges[1].to, "square");
    // 8, 4, 16, 17, 34.
    assert_eq!(graph.compile().unwrap().invoke(8).await.unwrap(), 34);

    let mut joined = StateGraph::<i64>::new();
    joined.add_edge([&halve, &square], "sum");
    joined.add_edge(vec![halve.clone(), square.clone()], &halve);
    joined.add_edge([Step::Add, Step::Double].as_slice(), END);
    let sources: Vec<Vec<&str>> = joined
        .topology()
        .joins
        .iter()
        .map(|join| join.sources.iter().map(|source| &**source).collect())
        .collect();
    assert_eq!(
        sources,
        [["halve", "square"], ["halve", "square"], ["add", "double"]]
    );
}
