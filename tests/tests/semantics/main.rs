//! What a graph does, superstep by superstep: building, execution, streams, dropping, and that
//! whoever finishes first changes nothing.

mod building;
mod deferred;
mod determinism;
mod dropping;
mod joins;
mod linear;
mod parallel;
mod poison;
mod routing;
mod streams;
mod subgraphs;
mod trail;
