//! The server, by what its clients see. Tests that count the memory of their process are beside this folder.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a test fails by panicking

mod support;

mod ag_ui;
mod approvals;
mod attempts;
mod authorize;
mod authorized_words;
mod batches;
mod breakpoints;
mod changed_prompt;
mod changes;
mod clock;
mod copies;
mod crons;
mod delayed_runs;
mod draining;
mod ends;
mod exports;
mod functional;
mod guard;
mod joined_runs;
mod joined_streams;
mod leases;
mod lookups;
mod messages;
mod operations;
mod outage;
mod owners;
mod protocol;
mod queueing;
mod recorded;
mod refused_inputs;
mod refused_runs;
mod removal;
mod retention;
mod rollback;
mod rolled_back_answers;
mod rolled_back_memory;
mod routes;
mod searches;
mod slow_clients;
mod spending;
mod state;
mod store_items;
mod stored;
mod stored_contexts;
mod studio;
mod tasks;
mod tasks_of_a2a;
mod texts;
mod tools_of_mcp;
mod unwritten;
mod waiting_tasks;
mod webhooks;
