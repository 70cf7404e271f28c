//! The macros of `langgraph`.

mod diag;
mod graph;
mod paths;
mod similar;
