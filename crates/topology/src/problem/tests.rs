//! Problems of broken graphs.

use super::*;
use crate::testing::graph;
use crate::{Breakpoints, END, NodeInfo, Topology};

fn reported(topology: &Topology) -> Vec<String> {
    problems(topology).iter().map(ToString::to_string).collect()
}

#[test]
fn a12_a_graph_without_an_edge_from_start_has_no_entry_point() {
    assert_eq!(
        problems(&Topology::default()),
        [CompilationError::NoEntryPoint]
    );
    assert_eq!(problems(&graph("a>b")), [CompilationError::NoEntryPoint]);
    assert_eq!(problems(&graph("S?a|b")), []);
}

#[test]
fn a11_an_unknown_endpoint_is_named_with_a_similar_node() {
    let mut topology = graph("S>search search>E");
    topology.nodes.push(NodeInfo::new("tools"));
    let mut edges = graph("serach>tools tools>tolls").edges;
    topology.edges.append(&mut edges);
    assert_eq!(
        reported(&topology),
        [
            "an edge starts at `serach`, which is no node; did you mean `search`?",
            "an edge from `tools` leads to `tolls`, which is no node; did you mean `tools`?",
        ]
    );
    let mut topology = graph("S>a");
    topology.joins = graph("a+ghost>b").joins;
    assert_eq!(reported(&topology).len(), 2);
    assert!(reported(&topology)[0].contains("names `ghost`, which is no node"));
}

#[test]
fn a3_two_nodes_of_one_name_are_reported_once() {
    let mut topology = graph("S>a a>E");
    topology
        .nodes
        .extend([NodeInfo::new("a"), NodeInfo::new("a")]);
    let name = "a".into();
    assert_eq!(
        problems(&topology),
        [CompilationError::DuplicateNode { name }]
    );
}

#[test]
fn a4_reserved_names_are_refused() {
    let mut topology = graph("S>a");
    let names = ["__start__", "__end__", "", "x|y", "x:y"];
    topology.nodes.extend(names.map(NodeInfo::new));
    assert_eq!(
        reported(&topology),
        [
            "`__start__` is reserved; give the node another name",
            "`__end__` is reserved; give the node another name",
            "a node has an empty name; give it one in `add_node`",
            "the node name `x|y` contains `|`, which is reserved; leave it out",
            "the node name `x:y` contains `:`, which is reserved; leave it out",
        ]
    );
}

#[test]
fn a7_end_as_source_and_start_as_target_are_refused() {
    let end = |to: &str| CompilationError::EndAsSource { target: to.into() };
    let start = |from: &str| CompilationError::StartAsTarget { from: from.into() };
    assert_eq!(problems(&graph("S>a E>a")), [end("a")]);
    assert_eq!(problems(&graph("S>a a>S")), [start("a")]);
    assert_eq!(problems(&graph("S>a a?S|E")), [start("a")]);
    assert_eq!(problems(&graph("S>a a!S|E")), [start("a")]);
    assert_eq!(problems(&graph("S>a a+E>b b>E")), [end("b")]);
    let target = "b".into();
    assert_eq!(
        problems(&graph("S>a a+S>b")),
        [CompilationError::StartInJoin { target }]
    );
}

#[test]
fn what_decides_after_end_starts_at_no_node() {
    assert_eq!(
        reported(&graph("S>a a>E E?a")),
        ["an edge starts at `__end__`, which is no node"]
    );
}

#[test]
fn an_old_name_leads_to_one_node_that_is_there() {
    let topology = graph("S>search search>plan plan>E");
    let reported = |aliases: &[(&str, &str)]| -> Vec<String> {
        let aliases = aliases.iter();
        let aliases = aliases.map(|(old, node)| ((*old).into(), (*node).into()));
        let aliases: Vec<(NodeName, NodeName)> = aliases.collect();
        let errors = check(&topology, &aliases, false).err();
        let errors = errors.into_iter().flatten();
        errors.map(|error| error.to_string()).collect()
    };
    assert_eq!(
        reported(&[("find", "search"), ("find", "search"), ("idea", "plan")]),
        [""; 0]
    );
    assert_eq!(
        reported(&[
            ("find", "search"),
            ("find", "plan"),
            ("x", "serach"),
            ("plan", "search")
        ]),
        [
            "`find` is to be an alias of `plan`, and stands for another node already; a name \
             leads to one node",
            "`x` is to be an alias of `serach`, which is no node; did you mean `search`?",
            "`plan` is to be an alias of `search`, and stands for another node already; a name \
             leads to one node",
        ]
    );
}

#[test]
fn breakpoints_name_nodes() {
    let mut topology = graph("S>a a>E");
    topology.interrupt_before = Breakpoints::Nodes(vec!["a".into(), "b".into()]);
    topology.interrupt_after = Breakpoints::Nodes(vec![END.into()]);
    assert_eq!(
        reported(&topology),
        [
            "the breakpoints name `b`, which is no node",
            "the breakpoints name `__end__`, which is no node",
        ]
    );
}

#[test]
fn a_worker_needs_an_item() {
    let worker = |from: &str| CompilationError::WorkerWithoutItem {
        from: from.into(),
        worker: "w".into(),
    };
    assert_eq!(problems(&graph("S>a a*w w>E")), []);
    assert_eq!(problems(&graph("S>a a*w a>w w>E")), [worker("a")]);
    assert_eq!(problems(&graph("S>a S>b a*w a+b>w w>E")), [worker("a")]);
    let mut arm = graph("S>a a*w a?w|E w>E");
    assert_eq!(problems(&arm), []);
    arm.closed = true;
    assert_eq!(problems(&arm), [worker("a")]);
}

#[test]
fn a15_all_problems_are_reported_at_once() {
    let mut topology = graph("S>a a>S E>a a>b b>b");
    topology.nodes.pop();
    let errors = check(&topology, &[], false).unwrap_err();
    assert_eq!(
        errors.to_string(),
        "the graph cannot be compiled, for 5 reasons:\n  \
         1. START is where a run begins, so no edge can lead to it from `a`; for a loop, \
         name the node to go back to\n  \
         2. END ends a branch, so no edge can lead from it to `a`; remove that edge\n  \
         3. an edge starts at `b`, which is no node\n  \
         4. an edge from `a` leads to `b`, which is no node\n  \
         5. an edge from `b` leads to `b`, which is no node"
    );
    assert_eq!(errors.iter().count(), (&errors).into_iter().count());
    assert_eq!(errors.into_iter().count(), 5);
}

#[test]
fn lints_are_errors_where_they_are_denied() {
    let mut topology = graph("S>a");
    assert_eq!(check(&topology, &[], false), Ok(()));
    let denied = check(&topology, &[], true).unwrap_err();
    let lint = Lint::DeadEnd { node: "a".into() };
    assert_eq!(denied.as_slice(), [CompilationError::Lint(lint)]);
    assert!(
        denied
            .to_string()
            .starts_with("the graph cannot be compiled: nothing follows")
    );
    topology.closed = true;
    assert_eq!(check(&topology, &[], false), Err(denied));
}

#[test]
fn the_debug_form_of_a_problem_and_of_a_lint_is_its_message() {
    let problem = CompilationError::NoEntryPoint;
    assert_eq!(format!("{problem:?}"), problem.to_string());
    let shown = format!("{problem:#?}");
    assert!(shown.starts_with("CompilationError {"), "{shown}");
    assert!(shown.contains(&problem.to_string()), "{shown}");

    let lint = crate::Lint::UndeclaredGoto { node: "a".into() };
    assert_eq!(format!("{lint:?}"), lint.to_string());
}
