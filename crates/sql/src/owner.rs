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
        let key = Self::key_of(&text);
        Ok(Self { key, text })
    }

    /// Reads the owner of a log: the key that the log holds, and the text of its row.
    ///
    /// # Errors
    ///
    /// [`CheckpointError::Corrupt`] if the row is missing, or is not what [`of`](Self::of) has made.
    pub fn read(
        key: Option<i64>,
        text: Option<&str>,
    ) -> Result<Option<Arc<Owner>>, CheckpointError> {
        let Some(key) = key else { return Ok(None) };
        let corrupt = |why: &dyn std::fmt::Display| {
            CheckpointError::Corrupt(format!("the owner of a log cannot be read: {why}"))
        };
        let text = text.ok_or_else(|| corrupt(&"its row is missing"))?;
        if Self::key_of(text) != key {
            return Err(corrupt(&"its text is not what was stored"));
        }
        let owner = serde_json::from_str(text).map_err(|error| corrupt(&error))?;
        Ok(Some(Arc::new(owner)))
    }

    /// Returns the keys of the rows that can be read; without those of the graph `but`. A log that holds
    /// the key of another row is damaged, and may belong to any graph.
    pub fn readable(rows: impl IntoIterator<Item = Self>, but: Option<&str>) -> Vec<i64> {
        let rows = rows.into_iter().filter(|row| {
            let owner = Self::read(Some(row.key), Some(&row.text));
            owner.is_ok_and(|owner| owner.is_some_and(|owner| but != Some(&*owner.graph)))
        });
        rows.map(|row| row.key).collect()
    }

    /// Returns the key of a row with that text: its FNV-1a hash.
    pub fn key_of(text: &str) -> i64 {
        let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        hash.cast_signed()
    }
}
