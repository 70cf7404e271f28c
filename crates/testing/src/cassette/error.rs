//! Errors of cassettes.

use std::error::Error;
use std::path::{Path, PathBuf};

/// Why a [`Cassette`](crate::Cassette) cannot be used.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum CassetteError {
    /// The file cannot be read.
    #[error("cassette `{}` cannot be read: {source}; record it with LANGGRAPH_RECORD=1", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: Box<dyn Error + Send + Sync>,
    },
    /// The file cannot be written.
    #[error("cassette `{}` cannot be written: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: Box<dyn Error + Send + Sync>,
    },
    /// Recorded exchanges were not replayed.
    #[error("cassette `{}` has {unused} exchanges that were not replayed", path.display())]
    Unused {
        /// The file.
        path: PathBuf,
        /// How many.
        unused: usize,
    },
    /// An option was set after the cassette was cloned.
    #[error("a cassette gets its options before it is cloned")]
    Shared,
}

impl CassetteError {
    pub(super) fn read(path: &Path, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Read {
            path: path.to_owned(),
            source: source.into(),
        }
    }

    pub(super) fn write(path: &Path, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Write {
            path: path.to_owned(),
            source: source.into(),
        }
    }
}

langgraph_core::debug_is_message!(CassetteError);
