//! The rule about parallel nodes that declare writes to the same field.

use super::{At, Finding, Rule};
use crate::flow::{Analysis, node_of};
use crate::together::run_together;
use crate::{NodeInfo, Topology};

/// Nodes of one superstep declare writes to one field, which has no reducer.
///
/// There is one finding for each field and set of nodes, at the first node of the set.
pub fn parallel_writes(topology: &Topology, analysis: &Analysis<'_>) -> Vec<Finding> {
    let writers = topology.nodes.iter().filter(|node| node.writes.is_some());
    if writers.count() < 2 {
        return Vec::new();
    }
    let info = |vertex: usize| topology.nodes.get(node_of(vertex));
    let late = |vertex: usize| info(vertex).is_some_and(|node| node.defer);
    let sets = run_together(&analysis.flow, &late);
    let mut found = Vec::new();
    for (field, plain) in topology.fields.iter().enumerate() {
        if plain.reduced {
            continue;
        }
        let writes = |node: &NodeInfo| node.writes.iter().flatten().any(|f| *f == plain.name);
        let mut reported: Vec<Vec<usize>> = Vec::new();
        for set in &sets {
            let mut nodes = Vec::new();
            for vertex in set {
                if info(*vertex).is_some_and(writes) {
                    nodes.push(node_of(*vertex));
                }
            }
            let is_reported = |known: &Vec<usize>| nodes.iter().all(|node| known.contains(node));
            if nodes.len() > 1 && !reported.iter().any(is_reported) {
                reported.push(nodes);
            }
        }
        for nodes in reported {
            if let Some(first) = nodes.first() {
                let at = At::Node(*first);
                found.push(Finding::new(Rule::ParallelWrites { field, nodes }, at));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use crate::testing::graph;
    use crate::{FieldInfo, lints};

    /// A graph whose nodes all write the plain field `plan`, and `log`, which is reduced.
    fn reported(text: &str, deferred: &str) -> Vec<String> {
        let mut topology = graph(text);
        topology.fields = vec![FieldInfo::new("log", true), FieldInfo::new("plan", false)];
        for node in &mut topology.nodes {
            node.writes = Some(vec!["plan".to_owned(), "log".to_owned()]);
            node.defer = deferred.contains(&*node.name);
        }
        lints(&topology).iter().map(ToString::to_string).collect()
    }

    fn says(nodes: &str) -> String {
        format!(
            "{nodes} run side by side, and each writes `plan`, which has no reducer; give it one, \
             or let one run after the other"
        )
    }

    #[test]
    fn nodes_that_run_side_by_side_and_write_one_field_are_reported() {
        assert_eq!(reported("S>a S>b a>E b>E", ""), [says("`a` and `b`")]);
        let three = says("`a`, `b` and `c`");
        assert_eq!(reported("S>x x?a&b&c|b&c a>E b>E c>E", ""), [three]);
        // Not only the first nodes: their successors also run in step.
        let both = [says("`a` and `b`"), says("`c` and `d`")];
        assert_eq!(reported("S>a S>b a>c b>d c>E d>E", ""), both);
    }

    #[test]
    fn what_need_not_run_side_by_side_is_not_reported() {
        for text in [
            "S>a a>b b>E",
            "S>a a?b|c b>E c>E",
            "S>a a!b|c b>E c>E",
            "S>a a*b b>E",
        ] {
            assert_eq!(reported(text, ""), [""; 0], "{text}");
        }
        // A deferred node runs only when nothing else is pending.
        assert_eq!(reported("S>a S>b a>E b>E", "b"), [""; 0]);
        assert_eq!(
            reported("S>a S>b S>c a>E b>d c>E d>E", "b"),
            [says("`a` and `c`")]
        );
    }

    #[test]
    fn nodes_that_say_nothing_and_fields_with_a_reducer_are_passed_over() {
        let mut topology = graph("S>a S>b a>E b>E");
        topology.fields = vec![FieldInfo::new("log", true)];
        assert_eq!(lints(&topology), []);
        for node in &mut topology.nodes {
            node.writes = Some(vec!["log".to_owned(), "unknown".to_owned()]);
        }
        assert_eq!(lints(&topology), []);
    }
}
