//! The rules about fields: read before they are written, and written but never read.

use super::{At, Finding, Rule};
use crate::flow::{Analysis, NODES, node_of};
use crate::precede::Precedence;
use crate::{NodeInfo, Topology};

/// The input, or the output, of a graph names a field that the state does not have.
pub fn unknown_field(topology: &Topology) -> Vec<Finding> {
    let mut found = Vec::new();
    if topology.fields.is_empty() {
        return found;
    }
    let mut check = |names: Option<&Vec<String>>, at: fn(usize) -> At| {
        for (place, name) in names.into_iter().flatten().enumerate() {
            if field_of(topology, name).is_none() {
                found.push(Finding::new(Rule::UnknownField, at(place)));
            }
        }
    };
    check(topology.input.as_ref(), At::Input);
    check(topology.output.as_ref(), At::Output);
    found
}

/// A node reads a field that is not part of the input, and no node writes before it. Fields with a reducer
/// are passed over: a list that is still empty is read as one.
///
/// Nothing is found without a declared input, and where a node that runs before may write any field.
pub fn read_before_write(topology: &Topology, analysis: &Analysis<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    let Some(input) = &topology.input else {
        return found;
    };
    let late = |vertex: usize| {
        let node = topology.nodes.get(node_of(vertex));
        node.is_some_and(|node| node.defer)
    };
    let order = Precedence::new(analysis, &late);
    for (place, node) in topology.nodes.iter().enumerate() {
        let Some(reads) = node.reads.as_ref().filter(|reads| !reads.is_empty()) else {
            continue;
        };
        if !analysis.reached.get(NODES + place) {
            continue;
        }
        let before = order.before(NODES + place).into_iter();
        let before = before.filter_map(|vertex| topology.nodes.get(node_of(vertex)));
        let Some(written) = written(topology, before) else {
            continue;
        };
        for name in reads {
            let is_there = input.contains(name) || written.contains(&name.as_str());
            match field_of(topology, name) {
                Some(field) if !is_there && !is_reduced(topology, field) => {
                    let rule = Rule::ReadBeforeWrite { field };
                    found.push(Finding::new(rule, At::Node(place)));
                }
                _ => {}
            }
        }
    }
    found
}

/// Nodes write a field that no node reads, and that is not part of the output. The finding is at the first
/// of them.
///
/// Nothing is found without a declared output, and where a node may read any field.
pub fn never_read(topology: &Topology) -> Vec<Finding> {
    let mut found = Vec::new();
    let Some(output) = &topology.output else {
        return found;
    };
    if topology.nodes.iter().any(|node| node.reads.is_none()) {
        return found;
    }
    let has = |names: Option<&Vec<String>>, wanted: &str| {
        let mut names = names.into_iter().flatten();
        names.any(|name| name == wanted)
    };
    for (field, info) in topology.fields.iter().enumerate() {
        let mut nodes = topology.nodes.iter();
        if output.contains(&info.name) || nodes.any(|node| has(node.reads.as_ref(), &info.name)) {
            continue;
        }
        let nodes = topology.nodes.iter().enumerate();
        let writers = nodes.filter(|(_, node)| has(node.may_write.as_ref(), &info.name));
        let nodes: Vec<usize> = writers.map(|(place, _)| place).collect();
        if let Some(first) = nodes.first() {
            let at = At::Node(*first);
            found.push(Finding::new(Rule::NeverRead { field, nodes }, at));
        }
    }
    found
}

/// Returns the fields that nodes may write; `None` if it is unknown for one of them.
fn written<'a>(
    topology: &Topology,
    nodes: impl Iterator<Item = &'a NodeInfo>,
) -> Option<Vec<&'a str>> {
    let mut all = Vec::new();
    for node in nodes {
        for name in node.may_write.as_ref()? {
            // A method of an update that is no field may write several.
            field_of(topology, name)?;
            all.push(name.as_str());
        }
    }
    Some(all)
}

fn field_of(topology: &Topology, name: &str) -> Option<usize> {
    let mut fields = topology.fields.iter();
    fields.position(|field| field.name == name)
}

fn is_reduced(topology: &Topology, field: usize) -> bool {
    topology.fields.get(field).is_none_or(|field| field.reduced)
}

#[cfg(test)]
mod tests {
    use crate::testing::graph;
    use crate::{FieldInfo, Topology, lints, problems};

    fn names(text: &str) -> Option<Vec<String>> {
        (text != "?").then(|| text.chars().map(String::from).collect())
    }

    /// A graph over the plain fields `p` and `q` and the reduced `r`. A word such as `a:p/q` says that `a`
    /// reads `p` and may write `q`; `?` is unknown. Words beginning with `in:` and `out:` are the graph's.
    fn flow(text: &str, uses: &str) -> Topology {
        let mut topology = graph(text);
        let fields = [("p", false), ("q", false), ("r", true)];
        topology.fields = fields
            .map(|(name, reduced)| FieldInfo::new(name, reduced))
            .into();
        for word in uses.split(' ') {
            let (name, uses) = word.split_once(':').expect("a word has a name");
            match name {
                "in" => topology.input = names(uses),
                "out" => topology.output = names(uses),
                name => {
                    let (reads, writes) = uses.split_once('/').expect("reads and writes");
                    let mut nodes = topology.nodes.iter_mut();
                    let node = nodes.find(|node| &*node.name == name).expect("a node");
                    node.reads = names(reads);
                    node.may_write = names(writes);
                }
            }
        }
        topology
    }

    fn reported(text: &str, uses: &str) -> Vec<String> {
        let found = lints(&flow(text, uses));
        found.iter().map(ToString::to_string).collect()
    }

    fn before(node: &str, field: &str) -> String {
        format!(
            "`{node}` reads `{field}`, and nothing has written it before: let a node before it write \
             `{field}`, or name it in the graph's input"
        )
    }

    #[test]
    fn a_field_that_nothing_has_written_is_reported_where_it_is_read() {
        let chain = "S>a a>b b>E";
        assert_eq!(reported(chain, "in: a:p/q b:q/"), [before("a", "p")]);
        assert_eq!(reported(chain, "in:p a:p/ b:q/q"), [before("b", "q")]);
        // The writer comes later, also after a loop.
        assert_eq!(reported(chain, "in: a:q/ b:/q"), [before("a", "q")]);
        let after_loop = "S>a a>b b?a|c c>d d>E";
        assert_eq!(
            reported(after_loop, "in: a:/ b:/ c:q/ d:/q"),
            [before("c", "q")]
        );
        // In parallel, a node does not see what the other writes.
        let parallel = "S>a S>b a>c b>c c>E";
        assert_eq!(reported(parallel, "in: a:/p b:p/ c:p/"), [before("b", "p")]);
    }

    #[test]
    fn what_may_have_been_written_is_not_reported() {
        let chain = "S>a a>b b>E";
        for uses in [
            "in:p a:p/q b:q/",
            "in: a:/p b:p/",
            // A reduced field, a node that may write anything, one that may read anything.
            "in: a:r/ b:/",
            "in: a:/? b:p/",
            "in: a:?/ b:/p",
            // A method that is no field.
            "in: a:/x b:p/",
            // Without a declared input, every field may come with it.
            "a:p/ b:q/",
        ] {
            assert_eq!(reported(chain, uses), [""; 0], "{uses}");
        }
        // The second round of a loop reads what the first wrote.
        assert_eq!(reported("S>a a>b b?a|E", "in: a:p/ b:/p"), [""; 0]);
        // Of two ways, one writes.
        assert_eq!(
            reported("S>a a?b|c b>d c>d d>E", "in: a:/ b:/p c:/ d:p/"),
            [""; 0]
        );
    }

    #[test]
    fn a_field_that_nothing_reads_is_reported_where_it_is_written() {
        let chain = "S>a a>b b>E";
        assert_eq!(
            reported(chain, "out:q a:/p b:/pq"),
            [
                "`a` and `b` write `p`, and nothing reads it: remove it, or name it in the graph's output"
            ]
        );
        for uses in [
            "out:pq a:/p b:/pq",
            "out:q a:/p b:p/q",
            "out:q a:/p b:?/q",
            "a:/p b:/q",
        ] {
            assert_eq!(reported(chain, uses), [""; 0], "{uses}");
        }
    }

    #[test]
    fn an_input_and_an_output_name_fields() {
        let found = problems(&flow("S>a a>E", "in:px out:y a:/"));
        let found: Vec<_> = found.iter().map(ToString::to_string).collect();
        assert_eq!(
            found,
            [
                "the graph's input names `x`, and the state has no such field",
                "the graph's output names `y`, and the state has no such field",
            ]
        );
    }
}
