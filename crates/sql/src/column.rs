//! Values of columns.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use langgraph_core::checkpoint::{CheckpointId, ListOptions, Source, ThreadFilter};
use langgraph_core::error::CheckpointError;
use serde_json::Value;

use crate::rows::Row;

/// Converts a number for a database, whose integers are signed. Our numbers never get that large.
pub fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Converts a number that [`signed`] has stored.
pub fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

/// Returns the stored form of a source.
pub fn source_text(source: Source) -> &'static str {
    match source {
        Source::Input => "input",
        Source::Loop => "loop",
        Source::Update => "update",
        Source::Fork => "fork",
    }
}

fn source_of(text: &str) -> Option<Source> {
    [Source::Input, Source::Loop, Source::Update, Source::Fork]
        .into_iter()
        .find(|known| source_text(*known) == text)
}

/// Returns the stored form of a checkpoint's metadata; `None` if it is empty.
///
/// # Errors
///
/// None: it is JSON.
pub fn metadata_text(
    metadata: &BTreeMap<String, Value>,
) -> Result<Option<String>, CheckpointError> {
    let text = (!metadata.is_empty()).then(|| serde_json::to_string(metadata));
    text.transpose().map_err(CheckpointError::storage)
}

/// The columns of a checkpoint, for listing.
///
/// # Examples
///
/// ```
/// use langgraph_core::checkpoint::{CheckpointId, ListOptions};
/// use langgraph_sql::Listed;
///
/// # fn main() -> Result<(), langgraph_core::error::CheckpointError> {
/// let id = CheckpointId::after(None);
/// let listed = Listed { id, step: 1, source: "loop", metadata: Some(r#"{"user":"Ada"}"#) };
/// assert!(listed.is_wanted(&ListOptions::new().metadata("user", "Ada"))?);
/// assert!(!listed.is_wanted(&ListOptions::new().steps(2..=3))?);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Listed<'a> {
    /// The checkpoint.
    pub id: CheckpointId,
    /// The superstep.
    pub step: i64,
    /// Its source, in the form of [`source_text`].
    pub source: &'a str,
    /// The caller's metadata, in the form of [`metadata_text`].
    pub metadata: Option<&'a str>,
}

impl Listed<'_> {
    /// Returns true if the options select it.
    ///
    /// # Errors
    ///
    /// [`CheckpointError::Corrupt`] when a column cannot be read.
    pub fn is_wanted(&self, options: &ListOptions) -> Result<bool, CheckpointError> {
        let Self { id, source, .. } = *self;
        let corrupt = CheckpointError::Corrupt;
        let found = source_of(source).ok_or_else(|| {
            corrupt(format!(
                "checkpoint `{id}` has the unknown source `{source}`"
            ))
        })?;
        // Metadata is parsed only if the options ask for it.
        let metadata = self.metadata.filter(|_| !options.metadata.is_empty());
        let metadata = metadata.map_or_else(|| Ok(BTreeMap::new()), serde_json::from_str);
        let metadata = metadata.map_err(|error| {
            corrupt(format!(
                "the metadata of checkpoint `{id}` cannot be read: {error}"
            ))
        })?;
        Ok(options.wants(id, self.step, found, &metadata))
    }
}

/// Returns the number of the last row of each checkpoint, counted from the first of `rows`.
pub fn last_rows(rows: &[Row]) -> HashMap<CheckpointId, i64> {
    let numbered = rows.iter().zip(0..);
    numbered
        .map(|(row, number)| (row.checkpoint, number))
        .collect()
}

/// Returns how many of `rows` each checkpoint has.
pub fn row_counts(rows: &[Row]) -> HashMap<CheckpointId, i64> {
    let mut counts = HashMap::new();
    for row in rows {
        *counts.entry(row.checkpoint).or_default() += 1;
    }
    counts
}

/// The format names read so far: there are few, so each is allocated once.
#[derive(Clone, Debug, Default)]
pub struct FormatNames(Vec<Arc<str>>);

impl FormatNames {
    /// Returns that name.
    pub fn get(&mut self, name: &str) -> Arc<str> {
        if let Some(known) = self.0.iter().find(|known| ***known == *name) {
            return Arc::clone(known);
        }
        let new = Arc::<str>::from(name);
        self.0.push(Arc::clone(&new));
        new
    }
}

/// The condition of a filter on the statuses of runs, in a query of threads.
pub fn statuses(filter: &ThreadFilter) -> Option<String> {
    let codes: Vec<_> = filter.statuses.iter().map(|status| status.code()).collect();
    match codes.as_slice() {
        [] => None,
        // As the index has it.
        [one] => Some(format!(" AND status = {one}")),
        several => {
            let several: Vec<_> = several.iter().map(u8::to_string).collect();
            Some(format!(" AND status IN ({})", several.join(", ")))
        }
    }
}

/// Returns a time as microseconds since 1970. One before is 0, one that is too late the largest number.
pub fn microseconds(time: SystemTime) -> i64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
}

/// Returns the time of [`microseconds`].
pub fn time(microseconds: i64) -> SystemTime {
    let since = Duration::from_micros(unsigned(microseconds));
    UNIX_EPOCH.checked_add(since).unwrap_or(UNIX_EPOCH)
}
