//! Lists in messages.

use langgraph_topology::NodeName;

use crate::interrupt::Interrupt;

/// Lists names for a message: `` `a`, `b` ``, or `nothing`.
pub(super) fn names(names: &[NodeName]) -> String {
    if names.is_empty() {
        return "nothing".to_owned();
    }
    let quoted: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}

/// Lists interrupts for a message.
pub(super) fn interrupts(interrupts: &[Interrupt]) -> String {
    let quote = |interrupt: &Interrupt| format!("`{}` of node `{}`", interrupt.key, interrupt.node);
    let quoted: Vec<_> = interrupts.iter().map(quote).collect();
    quoted.join(", ")
}
