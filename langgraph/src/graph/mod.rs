//! Graphs: their shape, their builder, what is wrong with them, and their compiled form.

mod topology;

pub use topology::*;
