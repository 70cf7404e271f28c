//! What a graph does, superstep by superstep: building, execution, streams, dropping, and that
//! whoever finishes first changes nothing.

mod building;
mod linear;
mod routing;
mod trail;
