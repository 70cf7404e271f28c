//! The layout of the project: what uses what, what is called what, the paths in the pages, and the choice of features.

#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests are tests

mod circles;
mod features;
mod forwarding;
mod names;
mod order;
mod pages;
mod source;
mod untested;
mod uses;
