//! Ready-made middleware of agents, one file for each group.
#![allow(clippy::unwrap_used)] // clippy does not know that helpers of tests are tests

mod auto_mode;
mod background;
mod files;
mod history;
mod limits;
mod memories;
mod models;
mod moderation;
mod personal_data;
mod personal_data_of_tools;
mod programs;
mod prompts;
mod questions;
mod stacks;
mod summaries;
mod support;
mod todos;
mod urls;
