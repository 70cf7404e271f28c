//! The macros of `langgraph`.
