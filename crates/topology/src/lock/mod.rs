//! `graph.lock`: what waiting threads depend on, in a file that a test compares with the graph.
//!
//! A thread that waits for a person, a time or an event is stored with the names of nodes, fields, joins
//! and interrupts. A deploy that changes these strands it, or continues it with another meaning. The
//! lock holds them for each graph of a workspace, and a test compares them:
//!
//! ```no_run
//! use langgraph::graph::CompiledStateGraph;
//! use langgraph::graph::lock::{self, LockError};
//! # fn refunds() -> CompiledStateGraph<i32> {
//! #     let mut graph = langgraph::graph::StateGraph::new();
//! #     graph.set_name("refunds").add_node("a", |n: &i32| *n).add_sequence(&["a"]);
//! #     graph.compile().unwrap()
//! # }
//!
//! # /*
//! #[test]
//! # */
//! fn threads_that_wait_survive_a_deploy() -> Result<(), LockError> {
//!     lock::check("graph.lock", refunds().topology())
//! }
//! # fn main() -> Result<(), LockError> { threads_that_wait_survive_a_deploy() }
//! ```
//!
//! `LANGGRAPH_BLESS=1` writes the lock, unless a change would strand a thread; `LANGGRAPH_BLESS=unsafe`
//! writes it in any case. Write it with each release: the lock is the graph that threads were started
//! on. Paths start from the directory of the package, so the packages of a workspace share
//! `"../graph.lock"`.
//!
//! # What is refused
//!
//! | Change | What accepts it |
//! |---|---|
//! | a node or a former name of it is gone | an alias on the node that took its place |
//! | a node takes an item and did not, or the other way round, or an item of another type | |
//! | another subgraph or remote agent is in a node | |
//! | a field is gone, or was renamed | an alias on the field, or a migration |
//! | a field has another type or another reducer | a migration: `#[state(version = …, migrate = …)]` |
//! | the state has another name | an alias on the state |
//! | an interrupt is gone, or takes an answer of another type | |
//! | the key of work that is done once was renamed, or its result has another type | |
//! | an entrypoint no longer calls a task, or the task returns another type | the old name on the new function: `#[task(name = "…")]` |
//! | a join has other sources or another target | |
//! | a node no longer leads to a node that it led to | |
//!
//! A change without an entry in the second column needs the old version of the graph beside the new one,
//! as `langgraph-versions` keeps it, until no thread waits on the old one. New nodes, fields, edges and
//! routes are accepted, and nodes that are put between two others.
//!
//! The comparison knows names and types, not what functions do. Types are compared as they are
//! written. An interrupt is known if its key is a literal in an async `#[node]` function, and its answer's
//! type if it is written at the call or at the `let` of its value. Of an entrypoint and of the tasks that it calls by
//! their paths, as in `write(topic).on(cx)`, the same is known. Other nodes say it by
//! `NodeExt::keys`.

mod change;
mod file;
mod read;
mod renames;
mod rules;
#[cfg(test)]
mod tests;
mod words;
mod write;

pub use change::{BreakingChange, Broken};
pub use file::{LockError, check};
pub use read::{SyntaxError, read};
pub use rules::breaking_changes;
pub use write::write;
