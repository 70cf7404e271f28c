//! Findings name the token of `graph!` that they concern.

use langgraph::graph::lock::{self, LockError};
use langgraph::prelude::*;

use super::rules::Order;

#[node]
async fn check(_: &Order) {}
#[node]
async fn approve(_: &Order, cx: &Context) -> Result<(), NodeError> {
    cx.interrupt::<bool>("sure", "Sure?")?;
    Ok(())
}
#[node]
async fn publish(_: &Order) {}
#[node]
async fn tell(_: &Order) {}

/// Compares a graph with a lock of these lines. Each finding begins with a text.
#[track_caller]
fn finds(lines: &str, graph: &CompiledStateGraph<Order>, expected: &[String]) {
    let before = lock::read(&format!("graph orders\n{lines}")).unwrap();
    let found = lock::breaking_changes(&before[0], graph.topology());
    assert_eq!(found.len(), expected.len(), "{found:#?}");
    for (found, expected) in found.iter().zip(expected) {
        let found = found.to_string();
        assert!(found.starts_with(expected), "{found}\n{expected}");
    }
}

/// Returns what a compiler prints before a message about this file.
fn here(line: u32, column: u32) -> String {
    format!("{}:{line}:{column}: ", file!())
}

#[test]
fn a_finding_stands_at_the_node_that_it_concerns() {
    let line = line!() + 1;
    let graph = graph! {
        type State = Order;
        START => check;
        check => approve => publish;
        publish => END;
    };
    finds(
        "  state Sale
  node approve
    interrupt sure String
  node check
  node print
  edge __start__ -> check
  edge check -> approve
  edge approve -> print
",
        &graph.compile().unwrap(),
        &[
            here(line + 1, 22) + "threads hold states of type `Sale`",
            here(line + 3, 29)
                + "a thread may wait for node `print`, which is gone: if it is `publish`",
            here(line + 3, 18) + "a thread may wait at node `approve` for a `String` as the answer",
        ],
    );
}

#[test]
fn a_way_that_is_gone_is_reported_where_the_node_is_followed() {
    let line = line!() + 1;
    let graph = graph! {
        START => [check, approve];
        [check, approve] => tell;
        tell => END;
    };
    finds(
        "  node approve
  node check
  node tell
  edge approve -> check
  edge check -> approve
  edge tell -> check
  join approve + check + tell -> tell
",
        &graph.compile().unwrap(),
        &[
            here(line + 2, 29) + "a thread may have finished some of `[approve, check, tell]`",
            here(line + 2, 17) + "a thread that waits at node `approve` was to reach `check`",
            here(line + 2, 10) + "a thread that waits at node `check` was to reach `approve`",
            here(line + 3, 9) + "a thread that waits at node `tell` was to reach `check`",
        ],
    );
}

#[test]
fn a_finding_in_a_subgraph_stands_where_the_subgraph_is_written() {
    let line = line!() + 1;
    let mut inner = graph! { type State = Order; START => publish => END };
    let inner = inner.set_name("shelf").compile().unwrap();
    let graph = graph! {
        let pack = inner;
        START => pack => END;
    };
    finds(
        "  node pack subgraph shelf\n    node publish worker u32\n",
        &graph.compile().unwrap(),
        &[here(line, 59) + "in subgraph `pack`: a thread may wait for node `publish` with"],
    );
}

#[test]
fn a_graph_of_a_macro_and_one_of_a_builder_are_reported_without_wrong_places() {
    macro_rules! around {
        ($first:ident) => {
            graph! { START => $first => publish => END }
        };
    }
    let graph = around!(check).compile().unwrap();
    let places = graph.topology().locations;
    assert_eq!(places.node("check").unwrap().file, file!());
    assert_eq!(places.node("publish").unwrap().file, file!());

    let mut built = StateGraph::<Order>::new();
    built.add_node("check", check).add_sequence(&["check"]);
    let locations = built.topology().locations;
    assert_eq!((locations.graph(), locations.node("check")), (None, None));
}

#[test]
fn the_error_of_a_test_begins_each_finding_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("graph.lock");
    std::fs::write(&path, "graph orders\n  node check\n  node print\n").unwrap();
    let line = line!() + 1;
    let mut graph = graph! { START => check => publish => END };
    let graph = graph.set_name("orders").compile().unwrap();
    let error = lock::check(&path, graph.topology()).unwrap_err();
    assert!(matches!(error, LockError::Breaking { .. }));
    let finding = format!("\n- {}a thread may wait for node `print`", here(line, 48));
    assert!(error.to_string().contains(&finding), "{error}");
}
