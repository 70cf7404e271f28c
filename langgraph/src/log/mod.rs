//! How runs write the logs of threads: what stands between the engine and a saver.
//!
//! A run appends to the [head of a log](LogHead), at once, [later](WriteBehind) or [at its
//! end](ExitBuffer). It holds the [lease](Lease) of its thread meanwhile, and a [guard](RunGuard)
//! records how it ended if it is dropped.

mod abandoned;
mod ancestry;
mod background;
mod box_future;
mod branch;
mod exit_buffer;
mod fence;
mod hold;
mod jitter;
mod lease;
mod load;
mod log_head;
mod reissue;
mod resume_values;
mod run_guard;
mod same_join;
mod task_position;
mod timer;
mod unbroken;
mod write_behind;

pub(crate) use ancestry::{joined, last_by_edge, pending_last};
pub(crate) use box_future::BoxFuture;
pub(crate) use branch::copy_of_branch;
pub(crate) use exit_buffer::ExitBuffer;
pub(crate) use fence::fence;
pub(crate) use jitter::{random, random_fraction};
pub(crate) use lease::Lease;
pub(crate) use load::{load_chain, load_list, load_position};
pub(crate) use log_head::{LogHead, Putting};
pub(crate) use reissue::reissue;
pub(crate) use resume_values::{ResumeValue, answer_key, assign, listed};
pub(crate) use run_guard::RunGuard;
pub(crate) use same_join::is_same_join;
pub(crate) use task_position::TaskPosition;
pub(crate) use write_behind::WriteBehind;
