//! JSON Schemas of interrupts and their answers.

use std::collections::BTreeMap;

use langgraph::graph::{KeyKind, NodeKind, Topology};
use serde_json::{Value, json};

use super::schema::of_type;

/// The JSON Schemas of an interrupt.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct InterruptSchema {
    /// The schema of what it asks: its payload.
    pub question: Value,
    /// The schema of what it is answered with.
    pub answer: Value,
}

/// Returns the schemas of the interrupts whose keys the functions of a graph's nodes show, those of subgraphs among
/// them. What they ask is not known.
pub(super) fn interrupt_schemas(topology: &Topology) -> BTreeMap<String, InterruptSchema> {
    let mut found = BTreeMap::new();
    collect(topology, &mut found);
    found
}

fn collect(topology: &Topology, found: &mut BTreeMap<String, InterruptSchema>) {
    for node in &topology.nodes {
        let keys = node.keys.iter();
        for key in keys.filter(|key| key.kind == KeyKind::Interrupt && !key.key.is_empty()) {
            let answer = of_type(&key.ty);
            let question = json!({});
            found
                .entry(key.key.clone())
                .and_modify(|known| {
                    if known.answer != answer {
                        known.answer = json!({"anyOf": [known.answer, answer]});
                    }
                })
                .or_insert(InterruptSchema { question, answer });
        }
        if let NodeKind::Subgraph(inner) = &node.kind {
            collect(inner, found);
        }
    }
}
