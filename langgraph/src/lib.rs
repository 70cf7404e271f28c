//! Stateful agent graphs for Rust, declared in the type system.
//!
//! A program that works in steps (ask a model, call tools, wait for a person, ask again) is a
//! graph: nodes do the work, edges say what comes next, and all nodes share a state. This crate
//! runs such graphs in supersteps, in parallel where the graph allows it. It persists, pauses,
//! resumes and streams them. The model is that of Python's
//! [LangGraph](https://github.com/langchain-ai/langgraph). Much of what LangGraph detects at run
//! time is a compile error here.
//!
//! # Three ideas
//!
//! **State is a plain struct.** [`#[derive(State)]`](macro@State) generates its update type, with
//! a setter per field. A node never changes the state: it returns an update. Each field
//! declares how updates are merged, for example by `#[reducer(append)]`. A field without a reducer
//! is replaced, so two parallel nodes cannot both write it.
//!
//! **A graph is nodes and edges.** A node is a function with [`#[node]`](macro@node), or anything
//! else that can run: a closure, an [`Agent`], another graph. [`graph!`] wires nodes and finds
//! mistakes at compile time; [`StateGraph`] builds graphs that are only known at run time.
//!
//! **A run is a series of supersteps.** The nodes of a superstep run in parallel on one snapshot of
//! the state. Then their updates are merged, in an order that does not depend on timing. Then the
//! edges select the nodes of the next superstep. The run ends when there are none.
//!
//! # An example
//!
//! A graph writes jokes about three topics in parallel, and repeats until they are good enough:
//!
//! ```
//! use langgraph::prelude::*;
//!
//! #[derive(State, Clone, Debug, Default)]
//! struct Jokes {
//!     topics: Vec<String>,
//!     #[reducer(append)]
//!     jokes: Vec<String>,
//!     rounds: u32,
//! }
//!
//! #[node]
//! async fn plan(state: &Jokes) -> JokesUpdate {
//!     let round = state.rounds + 1;
//!     let topics = ["cats", "dogs", "crabs"].map(|topic| format!("{topic}, take {round}"));
//!     JokesUpdate::default().topics(topics.into()).rounds(round)
//! }
//!
//! // A worker: its first argument is an item of its own.
//! #[node]
//! async fn write_joke(topic: String) -> JokesUpdate {
//!     JokesUpdate::default().jokes(vec![format!("a joke about {topic}")])
//! }
//!
//! #[node]
//! async fn judge(_: &Jokes) {}
//!
//! fn topics(state: &Jokes) -> Vec<String> {
//!     state.topics.clone()
//! }
//!
//! enum Verdict {
//!     Again,
//!     Enough,
//! }
//!
//! fn verdict(state: &Jokes) -> Verdict {
//!     if state.rounds < 2 { Verdict::Again } else { Verdict::Enough }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let graph = graph! {
//!     type State = Jokes;
//!
//!     let judge = judge.retry(3);                         // options are method calls
//!
//!     START => plan
//!           => for topic in topics { write_joke(topic) }  // one task for each topic
//!           => judge                                      // waits for all of them
//!           => match verdict {
//!               Verdict::Again => plan,                   // a loop is an edge back
//!               Verdict::Enough => END,
//!           };
//! }
//! .compile()?;
//!
//! let state = graph.invoke(()).await?;
//! assert_eq!(state.jokes.len(), 6);
//! assert_eq!(state.jokes[0], "a joke about cats, take 1");
//! # langgraph::graph::draw::embed::check("src/lib.rs", "jokes", &graph.topology().draw())?;
//! # Ok(())
//! # }
//! ```
//!
//! This is its picture. A test compares it with the graph; see [`graph::draw::embed`]:
//!
//! <!-- graph:jokes -->
//! ```text
//!       ╭───────────╮
//!       │ __start__ │
//!       ╰─────┬─────╯
//!             ▼
//!         ┌───────┐
//!         │ plan  │
//!         └──────┬┘
//!          ▲     │
//!         ┌┘     └─┐
//!         ┊     for each
//!         ┊        └────────┐
//!         ┊                 ▼
//!         ┊         ┌───────────────┐
//!   Verdict::Again  │  write_joke   │
//!         ┊         │ worker = True │
//!         ┊         └┬──────────────┘
//!         ┊          ▼
//! ┌───────┴───────────┐
//! │      judge        │
//! │ max_attempts = 3  │
//! └───────┬───────────┘
//!         ┊
//!  Verdict::Enough
//!         ┊
//!         ▼
//!    ╭─────────╮
//!    │ __end__ │
//!    ╰─────────╯
//! ```
//! <!-- /graph:jokes -->
//!
//! # Where to go next
//!
//! | to | see |
//! |---|---|
//! | write states and reducers | [`derive(State)`](macro@State), [`state`] |
//! | write nodes, and decide where to go | [`#[node]`](macro@node), [`node`](mod@node), [`Command`], [`Next`] |
//! | add retries, time limits, caches and middleware | [`policy`], [`graph::NodeExt`], [`StateGraph::defaults`] |
//! | wire a graph | [`graph!`], [`StateGraph`] |
//! | run it | [`CompiledStateGraph`], [`run::Run`], [`Outcome`], [`error::AgentError`] |
//! | observe a run | [`stream`], [`run::EventStream`] |
//! | remember beyond threads | the crate `langgraph-store` |
//! | persist threads, and wait for people | [`thread`], [`checkpoint`], [`Context::interrupt`] |
//! | call models and tools | the crate `langgraph-agent` |
//! | use graphs as nodes | [`CompiledStateGraph::mapped`], [`Context::run`] |
//! | call remote agents | the crate `langgraph-remote` |
//! | draw graphs | [`graph::draw`] |
//!
//! # Features
//!
//! - `tracing`: `tracing` spans of runs and supersteps, and `policy::TraceNodes` for those of nodes.
//!   Their target is `langgraph`, and their level `INFO`. A run without a subscriber costs what it does
//!   without the feature.

#[allow(unused_extern_crates)] // expansions say `::langgraph`, in this crate too
extern crate self as langgraph;

#[macro_use]
mod impls;

#[doc(hidden)]
pub mod __private;
pub mod checkpoint;
pub mod executor;
pub mod graph;
mod log;
pub mod node;
pub mod policy;
mod record;
pub mod run;
mod session;
mod span;
mod spawn;
pub mod state;
pub mod stream;
mod superstep;
mod task;
pub mod thread;

#[doc(no_inline)]
pub use async_trait::async_trait;
pub use graph::{CompiledStateGraph, END, START, StateGraph};
#[doc(inline)]
#[doc(hidden)]
pub use langgraph_core::debug_is_message;
pub use langgraph_core::{environment, error, interrupt, message};
#[doc(inline)]
pub use langgraph_macros::{graph, node};
pub use node::{Agent, Command, Context, Next, Node};
pub use run::Outcome;
pub use state::State;

/// What most programs import: `use langgraph::prelude::*;`.
///
/// It holds the macros, the builder, the types that nodes take and return, messages, and the
/// results of a run. It omits [`node::Send`], whose name is also that of a marker trait.
pub mod prelude {
    pub use crate::error::{AgentError, Interrupted, NodeError};
    pub use crate::graph::NodeExt;
    pub use crate::graph::worker;
    pub use crate::graph::{CompilationErrors, CompiledStateGraph, END, START, StateGraph};
    pub use crate::message::{Message, MessageKind, ToolCall};
    pub use crate::node::{Agent, Command, Context, Next, Node};
    pub use crate::run::Outcome;
    pub use crate::state::Plain;
    // `State` is both the trait and its derive.
    pub use crate::State;
    pub use crate::stream::{Event, EventKind, StreamMode};
    pub use crate::thread::Thread;
    pub use langgraph_macros::{graph, node};
}
