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
//! | the type of a field no longer takes what it took | `#[serde(alias = "…")]`, `#[serde(default)]`, or a migration |
//! | the state has another name | an alias on the state |
//! | an interrupt is gone, or takes an answer of another type | |
//! | the type of an answer or of a stored result no longer takes what it took | `#[serde(alias = "…")]`, `#[serde(default)]` |
//! | a tool runs without the approval that it needed, or is gone | |
//! | the key of work that is done once was renamed, or its result has another type | |
//! | an entrypoint no longer calls a task, or the task returns another type | the old name on the new function: `#[task(name = "…")]` |
//! | a join has other sources or another target | |
//! | a node no longer leads to a node that it led to | |
//!
//! A change without an entry in the second column needs the old version of the graph beside the new one,
//! as `langgraph-versions` keeps it, until no thread waits on the old one. New nodes, fields, edges and
//! routes are accepted, and nodes that are put between two others.
//!
//! # Types
//!
//! The comparison knows names and types, not what functions do. Types are compared as they are
//! written, and types of the program also by what their JSON is made of:
//!
//! ```text
//! interrupt review Decision = { approve: bool, note?: Option<String> }
//! interrupt verdict Verdict = enum { Change(String), Keep }
//! ```
//!
//! That is found by their `Deserialize`, of the fields of states that can be stored, of tasks, and of types that an
//! async `#[node]` function names and that are declared outside of it. A `?` means that a value without
//! the field is read too; `sure|approve` are two names of a field. New optional fields and new variants are
//! accepted. A field or a variant that is gone, a field of another type, and one that is new and required are
//! refused. A type that reads whatever there is, as an untagged or an internally tagged enum does, and one that
//! contains itself are known by their names alone.
//!
//! An interrupt is known if its key is a literal in an async `#[node]` function, and its answer's
//! type if it is written at the call or at the `let` of its value. A key that is made at run time is a `?`: the lock
//! knows that the node asks, and not under which keys. The approvals of a tool node have the ids of calls, and the
//! lock has the tools: `approval delete_file ToolDecision`. What an interrupt asks is not compared: a thread has
//! stored it.
//!
//! Of an entrypoint and of the tasks that it calls by their paths, as in `write(topic).on(cx)`, the same is
//! known. Other nodes say it by `NodeExt::keys`, with the shape of the type by `KeyInfo::shaped`.

mod change;
mod file;
mod message;
mod read;
mod renames;
mod rules;
mod shape;
mod shaped;
mod shapes;
#[cfg(test)]
mod tests;
mod words;
mod write;

pub use change::{BreakingChange, Broken};
pub use file::{LockError, check};
pub use read::{SyntaxError, read};
pub use rules::breaking_changes;
pub use write::write;
