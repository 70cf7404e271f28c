//! Stateful agent graphs for Rust, declared in the type system.
//!
//! A program that thinks in steps (asks a model, calls tools, waits for a person, asks again) is a
//! graph: nodes that do the work, edges that say what comes next, and a state that they share.
//! This crate runs such graphs in supersteps, in parallel where the graph says so, and keeps,
//! pauses, continues and streams them. The model is that of Python's
//! [LangGraph](https://github.com/langchain-ai/langgraph); what that finds out at run time is here,
//! as far as possible, a compile error.
//!
//! # Three ideas
//!
//! **State is a plain struct.** [`#[derive(State)]`](macro@State) makes its update type, with one
//! `Option` per field. A node never changes the state: it returns an update, and each field says how
//! updates are merged into it, by `#[reducer(append)]`, say. A field that says nothing is replaced,
//! and then two nodes that run side by side cannot both write it.
//!
//! **A graph is nodes and edges.** A node is a function, made one by [`#[node]`](macro@node), or
//! anything else that can be run: a closure, an [`Agent`], another graph. [`graph!`] wires them, and
//! finds mistakes at compile time; [`StateGraph`] is the same for graphs that are only known at run
//! time.
//!
//! **A run is supersteps.** The nodes whose turn it is run side by side on one snapshot of the
//! state; then their updates are merged, in an order that does not depend on who finished first;
//! then the edges say whose turn it is next. It ends when it is nobody's.
//!
//! # An example
//!
//! Three topics, a joke about each of them side by side, and another round until it is enough:
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
//! What the graph looks like (a test compares the picture with the graph; see
//! [`graph::draw::embed`]):
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
//! | retry, bound, cache and watch nodes | [`policy`], [`graph::NodeExt`], [`StateGraph::defaults`] |
//! | wire a graph | [`graph!`], [`StateGraph`] |
//! | run it | [`CompiledStateGraph`], [`run::Run`], [`Outcome`], [`AgentError`] |
//! | see what happens | [`stream`], [`run::EventStream`] |
//! | remember beyond threads | the crate `langgraph-store` |
//! | keep threads, and wait for people | [`thread`], [`checkpoint`], [`Context::interrupt`] |
//! | call models and tools | the crate `langgraph-agent` |
//! | put graphs into graphs | [`CompiledStateGraph::mapped`], [`Context::run`] |
//! | ask agents elsewhere | the crate `langgraph-remote` |
//! | draw graphs | [`graph::draw`] |
//!
//! # Features
//!
//! - `tracing`: a middleware that puts every node into a `tracing` span.

#[allow(unused_extern_crates)] // expansions say `::langgraph`, in this crate too
extern crate self as langgraph;

#[doc(hidden)]
pub mod __private;
pub mod checkpoint;
mod codec;
mod error;
pub mod graph;
pub mod message;
pub mod node;
pub mod policy;
pub mod run;
pub mod state;
pub mod stream;
mod superstep;
pub mod thread;

pub use error::{AgentError, Failure, InvalidUpdate, NoRuntime, Pause, WrittenBy};
pub use graph::{CompiledStateGraph, END, START, StateGraph};
#[doc(inline)]
pub use langgraph_macros::{graph, node};
pub use node::{Agent, Command, Context, Next, Node, NodeError};
pub use run::Outcome;
pub use state::State;

/// What most programs need: `use langgraph::prelude::*;`.
///
/// The macros, the builder, what nodes take and return, messages, and what comes out of a run. It
/// does not hold [`node::Send`], whose name is also that of a marker trait.
pub mod prelude {
    pub use crate::error::AgentError;
    pub use crate::graph::NodeExt;
    pub use crate::graph::worker;
    pub use crate::graph::{CompiledStateGraph, END, START, StateGraph};
    pub use crate::message::{Message, MessageKind};
    pub use crate::node::{Agent, Command, Context, Interrupted, Next, Node, NodeError};
    pub use crate::run::Outcome;
    pub use crate::state::Plain;
    // `State` is the trait and its derive.
    pub use crate::State;
    pub use crate::stream::{Event, EventKind, StreamMode};
    pub use crate::thread::Thread;
    pub use langgraph_macros::{graph, node};
}
