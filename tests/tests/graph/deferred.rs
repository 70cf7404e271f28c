//! Deferred nodes, and map-reduce of any depth.

use langgraph::graph::{NodeExt, worker};
use langgraph::node::Send;
use langgraph::prelude::*;
use serde::{Deserialize, Serialize};

use langgraph_tests::fixtures::trail::{
    Trail, TrailUpdate, assert_visits, turn, visit, visited, visiting, wire,
};

/// A graph of [`visit`] nodes of which `deferred` is one.
fn deferring(nodes: &[&str], deferred: &[&str], edges: &str) -> StateGraph<Trail> {
    let mut graph = visiting(nodes);
    for name in deferred {
        graph.add_node(*name, visit.defer());
    }
    wire(&mut graph, edges);
    graph
}

#[tokio::test]
async fn j10_a_deferred_node_waits_for_everything_that_is_pending() {
    let graph = deferring(
        &["a", "b1", "b2", "b3"],
        &["last"],
        "^>a ^>b1 b1>b2 b2>b3 a>last b3>last",
    );
    let (a, b1, b2, b3, last) = (visit, visit, visit, visit, visit.defer());
    let by_macro = graph! {
        START => [a, b1];
        a => last;
        b1 => b2 => b3 => last;
        last => END;
    };
    assert_visits([graph, by_macro], "a@1 b1@1 b2@2 b3@3 last@4").await;
}

#[tokio::test]
async fn j10_it_waits_for_branches_that_do_not_lead_to_it_too() {
    let graph = deferring(
        &["a", "b1", "b2", "b3"],
        &["last"],
        "^>a ^>b1 b1>b2 b2>b3 a>last",
    );
    assert_visits([graph], "a@1 b1@1 b2@2 b3@3 last@4").await;
}

#[tokio::test]
async fn j10_a_deferred_node_that_nothing_reaches_does_not_run() {
    let graph = deferring(&["a", "b"], &["last"], "^>a b>last");
    assert_visits([graph], "a@1").await;
}

#[tokio::test]
async fn j10_two_deferred_nodes_run_together_in_the_graphs_order() {
    let graph = deferring(&["a", "b", "b2"], &["y", "x"], "^>a ^>b b>b2 a>x b2>y");
    assert_visits([graph], "a@1 b@1 b2@2 y@3 x@3").await;
}

#[tokio::test]
async fn j10_a_deferred_node_behind_another_runs_after_it() {
    let graph = deferring(&["a"], &["first", "second"], "^>a a>first first>second");
    assert_visits([graph], "a@1 first@2 second@3").await;
}

#[tokio::test]
async fn j10_a_deferred_node_may_start_another_round() {
    let again = |state: &Trail| state.round < 2;
    let mut graph = visiting(&["a", "b", "b2"]);
    graph.add_node("judge", turn.defer());
    wire(&mut graph, "^>a ^>b b>b2 a>judge b2>judge");
    graph.add_router("judge", move |state: &Trail| {
        if again(state) {
            vec!["a", "b"]
        } else {
            vec![END]
        }
    });
    let (a, b, b2, judge) = (visit, visit, visit, turn.defer());
    let by_macro = graph! {
        START => [a, b];
        b => b2 => judge;
        a => judge;
        judge => if again { [a, b] } else { END };
    };
    assert_visits(
        [graph, by_macro],
        "a@1 b@1 b2@2 judge@3 a@4 b@4 b2@5 judge@6",
    )
    .await;
}

#[tokio::test]
async fn j10_a_goto_to_a_deferred_node_waits_as_an_edge_does() {
    let mut graph = deferring(&["b", "b2"], &["last"], "^>b b>b2");
    graph.add_node("a", |_: &Trail, cx: &Context| {
        Command::update(visited(cx)).and_goto("last")
    });
    graph.add_edge(START, "a");
    assert_visits([graph], "b@1 a@1 b2@2 last@3").await;
}

#[tokio::test]
async fn j10_a_join_onto_a_deferred_node_waits_for_both() {
    let graph = deferring(
        &["a", "b", "c", "c2", "c3"],
        &["last"],
        "^>a ^>b ^>c c>c2 c2>c3 a,b>last",
    );
    assert_visits([graph], "a@1 b@1 c@1 c2@2 c3@3 last@4").await;
    // And a join that is not filled keeps it from running.
    let graph = deferring(&["a", "b"], &["last"], "^>a a,b>last");
    assert_visits([graph], "a@1").await;
}

#[tokio::test]
async fn j10_a_send_to_a_deferred_node_runs_at_once() {
    let mut graph = deferring(
        &["a", "b", "b2", "b3"],
        &["last"],
        "^>a ^>b b>b2 b2>b3 a>last",
    );
    graph.add_router("a", |state: &Trail| Send::state("last", state.clone()));
    assert_visits([graph], "a@1 b@1 b2@2 last@2 b3@3 last@4").await;
}

#[tokio::test]
async fn j10_deferred_nodes_of_a_subgraph_wait_for_what_is_in_it() {
    let inner = deferring(&["a", "b", "b2"], &["last"], "^>a ^>b b>b2 a>last b2>last");
    let mut outer = visiting(&["x", "after"]);
    outer.add_node("inner", inner.compile().unwrap());
    wire(&mut outer, "^>inner ^>x inner>after");
    assert_visits([outer], "x@1 a@1 b@1 b2@2 last@3 after@2").await;
}

/// Work that falls into parts, some deeper than others.
#[derive(Clone, Serialize, Deserialize)]
struct Part {
    name: String,
    parts: Vec<Part>,
}

fn part(name: &str, parts: &[Part]) -> Part {
    Part {
        name: name.to_owned(),
        parts: parts.to_vec(),
    }
}

/// Three levels: `a` is done at once, `b` falls into parts, one of which does so again.
fn parts(_: &Trail) -> Vec<Part> {
    let deep = part("b2", &[part("b2x", &[]), part("b2y", &[])]);
    vec![part("a", &[]), part("b", &[part("b1", &[]), deep])]
}

/// Notes the part; sends what it falls into, or goes to the reducer.
async fn split(part: Part, _: &Trail, cx: &Context) -> Command<Trail> {
    let note = TrailUpdate::default().visits(vec![format!("{}@{}", part.name, cx.step())]);
    let command = Command::update(note);
    if part.parts.is_empty() {
        return command.and_goto("reduce");
    }
    let parts = part.parts.into_iter();
    command.and_goto(
        parts
            .map(|part| Send::to("split", part))
            .collect::<Vec<_>>(),
    )
}

fn reduce(state: &Trail, cx: &Context) -> TrailUpdate {
    visited(cx).round(state.visits.len())
}

#[tokio::test]
async fn j10_a_map_of_three_uneven_levels_is_reduced_once() {
    let mut graph = StateGraph::<Trail>::new();
    let handle = graph.add_worker("split", split);
    graph.add_node("reduce", reduce.defer());
    graph.add_map(START, parts, &handle);
    let reduce = reduce.defer();
    let by_macro = graph! {
        type State = Trail;
        START => for part in parts { split(part) };
        split => goto [split, reduce];
        reduce => END;
    };
    for graph in [graph, by_macro] {
        let state = graph.compile().unwrap().invoke(()).await.unwrap();
        assert_eq!(
            state.visits.join(" "),
            "a@1 b@1 b1@2 b2@2 b2x@3 b2y@3 reduce@4"
        );
        assert_eq!(state.round, 6);
    }
}

#[derive(State, Clone, Debug, Default)]
struct Book {
    /// What the node that has just run found.
    #[state(ephemeral)]
    found: Vec<String>,
    #[reducer(append)]
    lines: Vec<String>,
}

fn found(state: &Book) -> Vec<String> {
    state.found.clone()
}

/// One task at a time, because `found` has no reducer.
fn first_found(state: &Book) -> Vec<String> {
    state.found.first().cloned().into_iter().collect()
}

/// Finds three parts, and with each level one less.
async fn open(title: String, _: &Book) -> BookUpdate {
    let parts = (0..3_usize.saturating_sub(title.len())).map(|n| format!("{title}{n}"));
    BookUpdate::default().found(parts.collect())
}

async fn read(title: String, _: &Book, cx: &Context) -> BookUpdate {
    BookUpdate::default().lines(vec![format!("{title}@{}", cx.step())])
}

fn summarise(state: &Book, cx: &Context) -> BookUpdate {
    BookUpdate::default().lines(vec![format!("{} lines@{}", state.lines.len(), cx.step())])
}

#[tokio::test]
async fn j10_maps_inside_maps_are_reduced_once() {
    // The items of the inner maps come from the update of the worker before them.
    let find = |_: &Book| BookUpdate::default().found(vec![String::new()]);
    let mut graph = StateGraph::<Book>::new();
    graph.add_node("find", find);
    let books = graph.add_worker("books", open);
    let pages = graph.add_worker("pages", open);
    let lines = graph.add_worker("lines", read);
    graph.add_node("summarise", summarise.defer());
    graph
        .add_edge(START, "find")
        .add_map("find", found, &books)
        .add_map("books", first_found, &pages)
        .add_map("pages", found, &lines)
        .add_edge("lines", "summarise");
    let (books, pages, lines) = (open, worker(open).retry(2), read);
    let summarise = summarise.defer();
    let by_macro = graph! {
        type State = Book;
        START => find
            => for book in found { books(book) }
            => for page in first_found { pages(page) }
            => for line in found { lines(line) }
            => summarise
            => END;
    };
    for graph in [graph, by_macro] {
        let state = graph.compile().unwrap().invoke(()).await.unwrap();
        assert_eq!(state.lines.join(" "), "00@4 01@4 2 lines@5");
    }
}
