//! The macro and the builder say the same about a graph.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use langgraph_topology::{
    Arm, Branch, CompilationError, Destinations, Edge, Join, Lint, NodeInfo, NodeKind, NodeName,
    Topology, lints, problems,
};
use proptest::prelude::*;

use super::read;
use crate::graph::model::{Model, Place};
use langgraph_topology::flow::{END, START};

/// The graph that the expansion builds, as data.
fn topology(model: &Model) -> Topology {
    let name = |vertex: usize| -> NodeName {
        match vertex {
            START => langgraph_topology::START.into(),
            END => langgraph_topology::END.into(),
            vertex => model.name(vertex).into(),
        }
    };
    let names = |places: &[Place]| places.iter().map(|place| name(place.vertex)).collect();
    let mut topology = Topology::default();
    topology.closed = true;
    for node in &model.nodes {
        let mut info = NodeInfo::new(node.name.as_str());
        if node.worker.is_some() {
            info.kind = NodeKind::Worker;
        }
        topology.nodes.push(info);
    }
    for edge in &model.edges {
        let (from, to) = (name(edge.from.vertex), name(edge.to.vertex));
        topology.edges.push(Edge { from, to });
    }
    for join in &model.joins {
        let (sources, target) = (names(&join.sources), name(join.target.vertex));
        topology.joins.push(Join { sources, target });
    }
    for (switch, source) in model.branches() {
        let arms = switch.arms.iter().map(|arm| Arm {
            label: arm.label.clone(),
            targets: names(&arm.targets),
            map: arm.map.is_some(),
        });
        let arms = Some(arms.collect());
        topology.branches.push(Branch {
            source: name(source.vertex),
            arms,
        });
    }
    for goto in &model.gotos {
        let (source, targets) = (name(goto.source.vertex), names(&goto.targets));
        topology.destinations.push(Destinations { source, targets });
    }
    topology
}

/// What is wrong with a graph, in words that both sides can be brought to.
fn by_builder(topology: &Topology) -> BTreeSet<String> {
    let problems = problems(topology);
    let lints = if problems.is_empty() {
        lints(topology)
    } else {
        Vec::new()
    };
    let problems = problems.iter().map(|problem| match problem {
        CompilationError::NoEntryPoint => "no entry point".to_owned(),
        CompilationError::WorkerWithoutItem { worker, .. } => format!("{worker} takes an item"),
        other => panic!("{other}: no chain can write that"),
    });
    let short = |name: &NodeName| match &**name {
        langgraph_topology::START => "START".to_owned(),
        langgraph_topology::END => "END".to_owned(),
        name => name.to_owned(),
    };
    let lints = lints.into_iter().map(|lint| match lint {
        Lint::EmptyGraph => "no nodes".to_owned(),
        Lint::DuplicateEdge { from, to } => {
            format!("duplicate edge {} => {}", short(&from), short(&to))
        }
        Lint::DuplicateJoinSource { node, .. } => format!("waits for {node} twice"),
        Lint::UnreachableNode { node, followers } => {
            format!("unreachable {node} {}", followers.join(" "))
        }
        Lint::DeadEnd { node } => format!("nothing follows {node}"),
        Lint::CycleWithoutExit { cycle } => format!("cycle {}", cycle.join(" ")),
        Lint::JoinOnOwnDownstream { target, node } => format!("{target} waits for later {node}"),
        Lint::JoinOnExclusiveArms {
            target,
            first,
            second,
            ..
        } => {
            format!("{target} waits for exclusive {first} {second}")
        }
        other => panic!("{other}: no chain can write that"),
    });
    problems.chain(lints).collect()
}

/// The same from the messages of the macro.
fn by_macro(messages: &[String]) -> BTreeSet<String> {
    let quoted = |text: &str| -> Vec<String> {
        text.split('`')
            .skip(1)
            .step_by(2)
            .map(str::to_owned)
            .collect()
    };
    let found = messages.iter().filter_map(|message| {
        let names = quoted(message);
        let name = |place: usize| names.get(place).cloned().unwrap_or_default();
        Some(match message.as_str() {
            note if note.contains("is first") || note.contains("this decides") => return None,
            note if note.contains("is given its items") => return None,
            note if note.contains("waits for the whole group") => return None,
            text if text.contains("no entry point") => "no entry point".to_owned(),
            text if text.contains("takes an item") => format!("{} takes an item", name(0)),
            text if text.contains("has no nodes") => "no nodes".to_owned(),
            text if text.contains("duplicate edge") => format!("duplicate edge {}", name(0)),
            text if text.contains("is twice in this group") => {
                format!("waits for {} twice", name(0))
            }
            text if text.contains("can never run") => {
                let followers = names.iter().skip(1).filter(|name| *name != "START");
                let followers: Vec<&str> = followers.map(String::as_str).collect();
                format!("unreachable {} {}", name(0), followers.join(" "))
            }
            text if text.contains("nothing follows") => format!("nothing follows {}", name(0)),
            text if text.contains("never ends") => {
                let cycle = name(0);
                let cycle: Vec<&str> = cycle.split(" => ").collect();
                format!("cycle {}", cycle[..cycle.len() - 1].join(" "))
            }
            text if text.contains("only runs after") => {
                format!("{} waits for later {}", name(0), name(1))
            }
            text if text.contains("waits for both") => {
                format!("{} waits for exclusive {} {}", name(0), name(1), name(2))
            }
            other => panic!("{other}: what does the builder say?"),
        })
    });
    found.collect()
}

/// A random graph as chains: sources and targets among a few nodes.
#[derive(Clone, Debug)]
enum Line {
    Edge(usize, usize),
    Join(Vec<usize>, usize),
    Match(usize, Vec<Vec<usize>>),
    AnyOf(Vec<usize>, Vec<Vec<usize>>),
    EdgeAfterAny(Vec<usize>, usize),
    Goto(usize, Vec<usize>),
    Map(usize, usize),
}

const SOURCES: std::ops::Range<usize> = 0..7;
/// END is as likely as several nodes.
const TARGETS: std::ops::Range<usize> = 1..10;

fn line() -> impl Strategy<Value = Line> {
    let nodes = prop::collection::btree_set(1_usize..7, 1..3);
    let targets = prop::collection::btree_set(TARGETS.prop_map(|target| target.min(7)), 1..3);
    let targets = targets.prop_map(|targets| targets.into_iter().collect::<Vec<_>>());
    let arms = prop::collection::vec(targets.clone(), 1..4);
    prop_oneof![
        6 => (SOURCES, TARGETS).prop_map(|(from, to)| Line::Edge(from, to)),
        2 => (nodes.clone(), TARGETS)
            .prop_map(|(from, to)| Line::Join(from.into_iter().collect(), to)),
        3 => (SOURCES, arms.clone()).prop_map(|(from, arms)| Line::Match(from, arms)),
        2 => (nodes.clone(), arms)
            .prop_map(|(from, arms)| Line::AnyOf(from.into_iter().collect(), arms)),
        1 => (nodes.clone(), TARGETS)
            .prop_map(|(from, to)| Line::EdgeAfterAny(from.into_iter().collect(), to)),
        1 => (1_usize..7, targets).prop_map(|(from, to)| Line::Goto(from, to)),
        1 => (SOURCES, 1_usize..10).prop_map(|(from, to)| Line::Map(from, to.min(7))),
    ]
}

fn text(lines: &[Line]) -> String {
    let name = |node: usize| match node {
        0 => "START".to_owned(),
        1..=6 => format!("n{node}"),
        _ => "END".to_owned(),
    };
    let list = |nodes: &[usize]| {
        let names: Vec<String> = nodes.iter().map(|node| name(*node)).collect();
        names.join(", ")
    };
    let mut text = String::new();
    for line in lines {
        match line {
            Line::Edge(from, to) => write!(text, "{} => {};", name(*from), name(*to)),
            Line::Join(from, to) => write!(text, "[{}] => {};", list(from), name(*to)),
            Line::Match(from, arms) => {
                let arms: Vec<String> = arms
                    .iter()
                    .enumerate()
                    .map(|(arm, targets)| format!("R::A{arm} => [{}]", list(targets)))
                    .collect();
                write!(
                    text,
                    "{} => match r {{ {} }};",
                    name(*from),
                    arms.join(", ")
                )
            }
            Line::AnyOf(from, arms) => {
                let from: Vec<String> = from.iter().map(|node| name(*node)).collect();
                let arms: Vec<String> = arms
                    .iter()
                    .enumerate()
                    .map(|(arm, targets)| format!("R::A{arm} => [{}]", list(targets)))
                    .collect();
                write!(
                    text,
                    "{} => match r {{ {} }};",
                    from.join(" | "),
                    arms.join(", ")
                )
            }
            Line::EdgeAfterAny(from, to) => {
                let from: Vec<String> = from.iter().map(|node| name(*node)).collect();
                write!(text, "{} => {};", from.join(" | "), name(*to))
            }
            Line::Goto(from, to) => write!(text, "{} => goto [{}];", name(*from), list(to)),
            Line::Map(from, to) => {
                write!(
                    text,
                    "{} => for x in xs {{ w(x) }} => {};",
                    name(*from),
                    name(*to)
                )
            }
        }
        .expect("a string takes everything");
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, failure_persistence: None, ..<_>::default() })]

    #[test]
    fn a16_the_macro_and_the_builder_agree(lines in prop::collection::vec(line(), 1..12)) {
        let text = text(&lines);
        let read = read(&text);
        prop_assert_eq!(read.unread, 0, "{}", text);
        let messages = read.errors.messages();
        let (by_macro, by_builder) = (by_macro(&messages), by_builder(&topology(&read.model)));
        if messages.iter().any(|message| message.contains("takes an item")) {
            // The macro reports doubled edges next to an error; the builder's list is compared
            // only up to there.
            let errors = by_macro.iter().filter(|found| !found.starts_with("duplicate"));
            let errors: BTreeSet<String> = errors.cloned().collect();
            prop_assert_eq!(errors, by_builder, "{}", text);
        } else if by_macro.contains("no entry point") {
            prop_assert!(by_builder.contains("no entry point"), "{}", text);
        } else {
            prop_assert_eq!(by_macro, by_builder, "{}", text);
        }
    }

    /// Graphs that grow from START, so that many of them are right.
    #[test]
    fn d5_graphs_without_mistakes_are_accepted_by_both(shape in prop::collection::vec(0_usize..6, 1..7)) {
        let mut text = "START => n0;".to_owned();
        let mut joined = 0;
        for (node, kind) in shape.iter().enumerate() {
            let next = format!("n{}", node + 1);
            match kind {
                0 => write!(text, "n{node} => {next};"),
                1 => write!(text, "n{node} => match r {{ A => {next}, B => END, C => n0 }};"),
                2 => write!(text, "n{node} => [x{node}, y{node}] => {next};"),
                3 => write!(text, "n{node} => goto [{next}, END];"),
                4 => write!(text, "n{node} => for x in xs {{ w{node}(x) }} => {next};"),
                _ => write!(text, "n{node} => if q {{ x{node} => {next} }} else {{ {next} }};"),
            }
            .expect("a string takes everything");
            joined += usize::from(*kind == 2);
        }
        write!(text, "n{} => END;", shape.len()).expect("a string takes everything");
        let read = read(&text);
        prop_assert_eq!(read.errors.messages(), Vec::<String>::new(), "{}", text);
        let topology = topology(&read.model);
        prop_assert_eq!(topology.joins.len(), joined);
        prop_assert_eq!(by_builder(&topology), BTreeSet::new(), "{}", text);
    }
}
