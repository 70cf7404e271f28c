//! Graphs that ask agents elsewhere: through a network in the process, and through a relay.

mod agents;
mod asking;
mod failing;
mod mail;
mod relay;
mod streaming;
mod threads;
