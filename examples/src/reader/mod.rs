//! A question reader: the "language model" of the examples.
//!
//! It reads a question in English or Chinese by rules, decides which of the offered tools answer
//! it, and puts the tools' results into a sentence. It knows nothing by itself: a number in an
//! answer comes from a result.

mod arithmetic;
mod expression;
mod file_types;
mod files;
mod folders;
mod grammar;
mod lexer;
mod numbers;
mod time;
