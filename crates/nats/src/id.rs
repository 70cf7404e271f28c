//! The ids of drivers and workers.

use langgraph::environment;

/// Returns an id that no other driver or worker of a queue has.
pub(crate) fn generate() -> String {
    let number = environment::random().unwrap_or_else(|| fastrand::u64(..));
    format!("{number:016x}")
}
