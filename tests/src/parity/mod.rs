//! Parity with Python's LangGraph: cases with its answers, and a runner that gives ours.
//!
//! `tests/parity/FORMAT.md` describes the cases. The runner builds each graph with the public
//! builder over a state that is a JSON object, does the case's actions, and only then opens the
//! expectation and compares.

mod action;
mod build;
mod case;
mod chunk;
mod compare;
mod expr;
mod functional;
mod kind;
mod messages;
mod mutate;
#[cfg(feature = "restate")]
mod on_restate;
mod ops;
mod ours;
mod schema;
mod snapshot;
mod state;
mod suite;
mod update;
mod window;
mod workplace;
mod world;
mod writes;

#[cfg(feature = "restate")]
pub use on_restate::Server;
pub use suite::{Mode, Report, Verdict, run};
pub use workplace::Workplace;
