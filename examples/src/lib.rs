//! What the examples share: three small tools, and a rule-based reader of questions. The reader
//! replaces a language model, so every example runs without a key and without a network.

pub mod calculator;
pub mod clock;
pub mod file_search;
pub mod model;
pub mod offline_model;
pub mod reader;
pub mod script;
pub mod show;
pub mod tools;
pub mod typing;
pub mod unknown_tools;
