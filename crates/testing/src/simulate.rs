//! Simulation testing: one seed drives everything that a graph does not decide itself.
//!
//! [`simulate`] runs a graph under thousands of seeds. A seed decides the order in which tasks start, go on
//! and end; the time; ids and random numbers; and the [faults](Fault): crashes, failing saves, cancelled
//! runs, rivals, late and repeated answers, models that fail. After a crash a new process goes on with
//! the thread. Then the invariants of the test are checked, beside those of each simulation:
//!
//! - what the saver has acknowledged is stored at the end;
//! - a task whose result is acknowledged does not run again;
//! - a thread can be read, and goes on to its end;
//! - the state that is stored is the one that the run has returned;
//! - nodes wait for the simulated clock only;
//! - the same seed gives the same history.
//!
//! # Examples
//!
//! A node charges a card. It is right only because the service gets a key by which it recognises a
//! repetition, as after a crash between the payment and its record:
//!
//! ```
//! use langgraph::prelude::*;
//! use langgraph_testing::simulate::{keyed_effect, simulate};
//!
//! #[node]
//! async fn charge(cents: &u64, cx: &Context) -> u64 {
//!     keyed_effect("charge", &cx.idempotency_key("charge"), cents);
//!     0
//! }
//!
//! let graph = graph! { START => charge => END }.compile()?;
//! simulate(&graph)
//!     .threads(2)
//!     .seeds(0..200)
//!     .input(|number| number % 100 + 1)
//!     .invariant(|history| {
//!         for thread in history.threads() {
//!             let charges = thread.effects("charge").count();
//!             if charges != 1 {
//!                 return Err(format!("{} is charged {charges} times", thread.id()));
//!             }
//!         }
//!         Ok(())
//!     })
//!     .run()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What is not simulated
//!
//! The nodes of a subgraph are not delayed one by one: the subgraph is one node. A clock that a node reads
//! itself, random numbers of its own, and `tokio::select!` without `biased` make a graph depend on more than
//! the seed; it is then reported as not deterministic, since some seeds run twice.

mod acknowledged;
mod blocking;
mod calls;
mod client;
mod dice;
mod effect;
mod event;
mod failure;
mod fault;
mod history;
mod judge;
mod model;
mod node;
mod saver;
mod seed;
mod setup;
mod simulation;
mod story;
mod violation;
mod world;

pub use client::ThreadEnd;
pub use effect::{effect, keyed_effect};
pub use event::{Effect, SimulationEvent, SimulationEventKind};
pub use failure::SimulationFailure;
pub use fault::Fault;
pub use history::{History, ThreadHistory};
pub use simulation::{Simulation, SimulationReport, simulate};
