//! Names in messages.

use langgraph_topology::NodeName;

/// Lists names for a message: `` `a`, `b` ``, or `nothing`.
pub fn quoted(names: &[NodeName]) -> String {
    if names.is_empty() {
        return "nothing".to_owned();
    }
    let quoted: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}
