//! The layout of the project: what uses what, what is called what, and the paths in the pages.

#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests are tests

mod circles;
mod names;
mod order;
mod pages;
mod source;
mod uses;
