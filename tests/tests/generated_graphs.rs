//! Thirty random graphs, each written with `graph!` and with the builder: both are compiled, both
//! are run, and both visit the same nodes in the same order.
//!
//! The graphs are made from a seed; `UPDATE_EXPECT=1` writes them anew.

#[rustfmt::skip]
mod generated;

use langgraph::node::{Send, Target};
use langgraph::prelude::*;

/// The nodes that a run has visited.
#[derive(State, Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// Names, in order.
    #[reducer(append)]
    pub visited: Vec<String>,
}

fn visit(name: &str) -> TraceUpdate {
    TraceUpdate::default().visited(vec![name.to_owned()])
}

/// A node that goes to `even` or to `odd`, by how many nodes have been visited.
fn jump(
    name: &'static str,
    even: &'static str,
    odd: &'static str,
) -> impl Fn(&Trace) -> (TraceUpdate, Next) + Clone {
    move |trace| {
        let next = if trace.visited.len().is_multiple_of(2) {
            even
        } else {
            odd
        };
        (visit(name), Next::node(next))
    }
}

enum Way {
    On,
    Aside,
    Back,
}

/// Goes back now and then, but not for ever.
fn way(trace: &Trace) -> Way {
    match trace.visited.len() {
        12.. => Way::On,
        few => match few % 3 {
            0 => Way::Aside,
            1 => Way::Back,
            _ => Way::On,
        },
    }
}

/// The same answer as the keys of a path map.
fn way_keys(trace: &Trace) -> Vec<&'static str> {
    match way(trace) {
        Way::On => vec!["on"],
        Way::Aside => vec!["aside 1", "aside 2"],
        Way::Back => vec!["back"],
    }
}

macro_rules! nodes {
    ($($name:ident)*) => {$(
        #[node]
        async fn $name(_: &Trace) -> TraceUpdate {
            visit(stringify!($name))
        }
    )*};
}

macro_rules! workers {
    ($($name:ident)*) => {$(
        #[node]
        async fn $name(item: usize) -> TraceUpdate {
            visit(&format!("{} {item}", stringify!($name)))
        }
    )*};
}

nodes!(s0 s1 s2 s3 s4 s5 s6 x0 x1 x2 x3 x4 x5 y0 y1 y2 y3 y4 y5 z0 z1 z2 z3 z4 z5);
workers!(w0 w1 w2 w3 w4 w5);

async fn few(trace: &Trace) -> Result<bool, NodeError> {
    Ok(trace.visited.len() < 6)
}

async fn few_key(trace: &Trace) -> &'static str {
    if trace.visited.len() < 6 {
        "few"
    } else {
        "many"
    }
}

fn items(trace: &Trace) -> Vec<usize> {
    (0..=trace.visited.len() % 3).collect()
}

fn some_items(trace: &Trace) -> Option<Vec<usize>> {
    trace.visited.len().is_multiple_of(2).then(|| items(trace))
}

/// What leads from one node to the next, as chains and as calls of the builder.
#[allow(clippy::many_single_char_names)] // they are the names of the nodes
fn segment(kind: usize, i: usize, chains: &mut String, calls: &mut String, lets: &mut String) {
    let (here, next) = (format!("s{i}"), format!("s{}", i + 1));
    let mut chain = |text: String| *chains += &["        ", &text, "\n"].concat();
    let mut call = |text: String| *calls += &["    graph.", &text, ";\n"].concat();
    let edge = |from: &str, to: &str| format!("add_edge({from:?}, {to:?})");
    let (x, y, z, w) = (
        format!("x{i}"),
        format!("y{i}"),
        format!("z{i}"),
        format!("w{i}"),
    );
    match kind {
        0 => {
            chain(format!("{here} => {next};"));
            call(edge(&here, &next));
        }
        1 => {
            chain(format!(
                "{here} => match way {{ Way::On => {next}, Way::Aside => [{x}, {y}], Way::Back => s0 }};"
            ));
            chain(format!("{x} => {next}; {y} => {next};"));
            call(format!(
                "add_conditional_edges({here:?}, way_keys, [(\"on\", {next:?}), (\"aside 1\", {x:?}), \
                 (\"aside 2\", {y:?}), (\"back\", \"s0\")])"
            ));
            call(edge(&x, &next));
            call(edge(&y, &next));
        }
        2 => {
            chain(format!("{here} => [{x} => {z}, {y}] => {next};"));
            call(edge(&here, &x));
            call(edge(&x, &z));
            call(edge(&here, &y));
            call(format!("add_edge([{z:?}, {y:?}], {next:?})"));
        }
        3 => {
            chain(format!(
                "{here} => if few {{ {x} => {next} }} else {{ {next} }};"
            ));
            call(format!(
                "add_conditional_edges({here:?}, few_key, [(\"few\", {x:?}), (\"many\", {next:?})])"
            ));
            call(edge(&x, &next));
        }
        4 => {
            chain(format!(
                "{here} => for item in items {{ {w}(item) }} => {next};"
            ));
            call(format!("add_map({here:?}, items, &{w})"));
            call(edge(&w, &next));
        }
        5 => {
            let value = format!("jump({here:?}, {next:?}, {x:?})");
            *lets += &["    let ", &here, " = ", &value, ";\n"].concat();
            chain(format!("{here} => goto [{next}, {x}]; {x} => {next};"));
            call(format!("add_destinations({here:?}, [{next:?}, {x:?}])"));
            call(edge(&x, &next));
        }
        _ => {
            chain(format!(
                "{here} => match some_items {{ Some(items) => for item in items {{ {w}(item) }}, \
                 None => {next} }};"
            ));
            chain(format!("{w} => {next};"));
            call(format!(
                "add_router({here:?}, |trace: &Trace| match some_items(trace) {{ \
                 Some(items) => items.into_iter().map(|item| Target::Send(Send::to({w:?}, item))).collect(), \
                 None => vec![Target::Node({next:?}.into())] }})"
            ));
            call(edge(&w, &next));
        }
    }
}

/// One graph, written both ways.
fn graph_source(number: usize) -> String {
    let mut random = fastrand::Rng::with_seed(number as u64);
    let (mut chains, mut calls, mut lets) = (String::new(), String::new(), String::new());
    let length = random.usize(1..7);
    for i in 0..length {
        segment(random.usize(0..7), i, &mut chains, &mut calls, &mut lets);
    }
    // The builder adds the nodes in the order in which the chains name them.
    let mut nodes: Vec<&str> = vec!["s0"];
    for word in chains.split(|c: char| !c.is_alphanumeric()) {
        let is_node = word.len() == 2 && word.starts_with(['s', 'x', 'y', 'z', 'w']);
        if is_node && !nodes.contains(&word) {
            nodes.push(word);
        }
    }
    let add = |name: &&str| {
        if name.starts_with('w') {
            format!("    let {name} = graph.add_worker({name:?}, {name});\n")
        } else {
            format!("    graph.add_node({name:?}, {name});\n")
        }
    };
    let nodes: String = nodes.iter().map(add).collect();
    let last = format!("s{length}");
    format!(
        "fn chains_{number}() -> StateGraph<Trace> {{\n{lets}    graph! {{\n        type State = \
         Trace;\n        START => s0;\n{chains}        {last} => END;\n    }}\n}}\n\n\
         fn calls_{number}() -> StateGraph<Trace> {{\n{lets}    let mut graph = \
         StateGraph::new();\n{nodes}    graph.add_edge(START, \"s0\");\n{calls}    \
         graph.add_edge({last:?}, END);\n    graph\n}}\n"
    )
}

const COUNT: usize = 30;

fn source() -> String {
    let graphs: Vec<String> = (0..COUNT).map(graph_source).collect();
    let pairs: Vec<String> = (0..COUNT)
        .map(|number| format!("    (chains_{number}, calls_{number}),\n"))
        .collect();
    format!(
        "//! Written by `generated_graphs.rs`; do not edit.\n\n\
         #![allow(unused_variables)] // not every worker's handle is used\n\n\
         use super::*;\n\n\
         type Make = fn() -> StateGraph<Trace>;\n\n\
         /// Each graph twice: by `graph!` and by the builder.\n\
         pub(crate) const GRAPHS: &[(Make, Make)] = &[\n{}];\n\n{}",
        pairs.concat(),
        graphs.join("\n")
    )
}

#[test]
fn the_generated_graphs_are_current() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/generated/mod.rs");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(path, source()).unwrap();
    }
    assert!(
        std::fs::read_to_string(path).unwrap() == source(),
        "run this test with UPDATE_EXPECT=1"
    );
}

#[tokio::test]
async fn d5_thirty_graphs_run_alike_by_macro_and_by_builder() {
    assert_eq!(generated::GRAPHS.len(), COUNT);
    let mut longest = 0;
    for (number, (chains, calls)) in generated::GRAPHS.iter().enumerate() {
        let (chains, mut calls) = (chains(), calls());
        let (left, right) = (chains.topology(), calls.topology());
        assert!(left.closed && !right.closed);
        assert_eq!(left.edges, right.edges, "graph {number}");
        assert_eq!(left.joins, right.joins, "graph {number}");
        assert_eq!(left.destinations, right.destinations, "graph {number}");
        let names = |topology: &langgraph::graph::Topology| -> Vec<_> {
            topology
                .nodes
                .iter()
                .map(|node| (node.name.clone(), node.kind.clone()))
                .collect()
        };
        assert_eq!(names(left), names(right), "graph {number}");

        let chains = chains
            .compile()
            .unwrap_or_else(|errors| panic!("graph {number}: {errors}"));
        let calls = calls.deny_lints().compile();
        let calls = calls.unwrap_or_else(|errors| panic!("graph {number}: {errors}"));
        for start in 0..4 {
            let input = Trace {
                visited: vec!["start".to_owned(); start],
            };
            let left = chains.invoke(input.clone()).await.unwrap();
            let right = calls.invoke(input).await.unwrap();
            assert_eq!(left, right, "graph {number} from {start}");
            longest = longest.max(left.visited.len());
        }
    }
    assert!(longest > 12, "some runs go round: {longest}");
}

#[tokio::test]
async fn k8_no_graph_diverges_from_what_it_has_stored() {
    for (index, (make, other)) in generated::GRAPHS.iter().enumerate() {
        let saver = std::sync::Arc::new(langgraph::checkpoint::MemorySaver::new());
        let graph = make().compile().unwrap();
        let stored = graph.clone().checkpointer(saver.clone());
        for _ in 0..2 {
            let run = stored.run(TraceUpdate::default()).thread("t").limit(200);
            run.await.unwrap();
        }
        for graph in [&graph, &other().compile().unwrap()] {
            let replayed = langgraph_testing::replay(saver.clone(), graph);
            let report = replayed.await.unwrap();
            assert!(report.is_same(), "graph {index}: {report}");
            assert_eq!(report.threads.len(), 1, "graph {index}: {report}");
            let thread = &report.threads[0];
            assert!(thread.unchecked.is_empty(), "graph {index}: {report}");
            assert!(thread.supersteps > 4, "graph {index}: {report}");
        }
    }
}
