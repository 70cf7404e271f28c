//! How a run is recorded: its values become records, and the records of a superstep go to the log of
//! its thread.

mod checkpoint;
mod coder;
mod coding;
mod held;
mod links;
mod log;
mod origin;
mod reader;
mod recorder;
mod run_links;
mod snapshot_policy;
mod whole;

pub(crate) use coder::Coder;
pub(crate) use log::Log;
pub(crate) use origin::Origin;
pub(crate) use reader::Reader;
pub(crate) use recorder::Recorder;
pub(crate) use snapshot_policy::Snapshots;
