//! How a graph is analysed, whoever asks: `graph!` while it is written, or the builder when it is
//! compiled.
//!
//! An implementation detail of `langgraph`: it changes without notice. It knows numbers, not
//! tokens and not nodes, so that both sides turn their own graph into a [`flow::Flow`] and get the
//! same findings.

#![allow(missing_docs, clippy::missing_panics_doc)] // an implementation detail, documented where it says something

pub mod algo;
pub mod flow;
pub mod similar;
pub mod together;
