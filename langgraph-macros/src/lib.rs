//! The macros of `langgraph`.

mod diag;
mod paths;
