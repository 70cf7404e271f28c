//! What savers and stores in SQL databases share: records as rows, the ancestry of a checkpoint, the
//! form of columns; for stores, [`store`].
//!
//! A saver that stores any kind of bytes can use [`rows`] alone.
//!
//! # Features
//!
//! - `store` (off by default): what stores share.

mod chain;
mod column;
mod name;
mod owner;
mod process;
pub mod rows;
#[cfg(feature = "store")]
pub mod store;
mod thread_row;

pub use chain::{FoundRows, Link, LinkFinder, Links};
pub use column::{
    FormatNames, Listed, last_rows, metadata_text, microseconds, row_counts, signed, source_text,
    statuses, time, unsigned,
};
pub use name::LogName;
pub use owner::OwnerRow;
pub use process::{process_is_gone, process_is_here, this_process, uptime};
pub use thread_row::{ThreadRow, UNKNOWN_STATUS};
