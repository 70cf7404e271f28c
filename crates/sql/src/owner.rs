//! The stored form of what a log belongs to.

use std::sync::Arc;

use langgraph_core::checkpoint::Owner;
use langgraph_core::error::CheckpointError;

/// An [`Owner`] as a row of a table that all logs share: they hold only its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnerRow {
    /// The key: a hash of the text.
    pub key: i64,
    /// JSON.
    pub text: String,
}

impl OwnerRow {
    /// Returns the row of an owner.
    ///
    /// # Errors
    ///
    /// None: it is JSON.
    pub fn of(owner: &Owner) -> Result<Self, CheckpointError> {
        let text = serde_json::to_string(owner).map_err(CheckpointError::storage)?;
        // FNV-1a.
        let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Ok(Self {
            key: hash.cast_signed(),
            text,
        })
    }

    /// Reads the text of a row.
    ///
    /// # Errors
    ///
    /// [`CheckpointError::Corrupt`] if it is not what [`of`](Self::of) has made.
    pub fn read(text: &str) -> Result<Arc<Owner>, CheckpointError> {
        let owner = serde_json::from_str(text).map(Arc::new);
        owner.map_err(|error| {
            CheckpointError::Corrupt(format!("the owner of a log cannot be read: {error}"))
        })
    }
}
