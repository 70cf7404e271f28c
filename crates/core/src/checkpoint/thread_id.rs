//! What a thread may be called, and the logs inside it.

use super::ThreadKey;
use crate::error::CheckpointError;

/// The most bytes in the name of a thread. With it, an index of every database holds a thread's key.
pub const MAX_THREAD_ID: usize = 1_024;

/// The most bytes in the path to the log of a graph inside, as JSON: each graph takes 45 bytes and the name
/// of its node. With it, an index of every database holds the key of a log.
pub const MAX_PATH: usize = 1_536;

/// How many characters of a name an error shows.
const SHOWN: usize = 40;

/// Checks the name of a thread: at most [`MAX_THREAD_ID`] bytes, and no NUL, which not every database
/// can store.
///
/// # Errors
///
/// [`CheckpointError::InvalidThread`].
///
/// # Examples
///
/// ```
/// use langgraph::checkpoint::check_thread_id;
///
/// assert!(check_thread_id("user 7/日記").is_ok());
/// assert!(check_thread_id("a\0b").is_err());
/// assert!(check_thread_id(&"x".repeat(2_000)).is_err());
/// ```
pub fn check_thread_id(id: &str) -> Result<(), CheckpointError> {
    let problem = if id.len() > MAX_THREAD_ID {
        format!(
            "it has {} bytes, and at most {MAX_THREAD_ID} are allowed",
            id.len()
        )
    } else if id.contains('\0') {
        "it holds the character NUL".to_owned()
    } else {
        return Ok(());
    };
    let mut thread: String = id.chars().take(SHOWN).collect();
    if thread.len() < id.len() {
        thread.push('…');
    }
    Err(CheckpointError::InvalidThread { thread, problem })
}

/// Checks the path to the log of a graph inside: at most [`MAX_PATH`] bytes as JSON.
///
/// # Errors
///
/// [`CheckpointError::LongPath`].
///
/// # Examples
///
/// ```
/// use langgraph::checkpoint::{ThreadKey, check_path};
///
/// let below = |name: &str| ThreadKey {
///     thread: "t".to_owned(),
///     namespace: vec![name.to_owned()],
/// };
/// assert!(check_path(&below("research")).is_ok());
/// assert!(check_path(&below(&"x".repeat(2_000))).is_err());
/// ```
pub fn check_path(key: &ThreadKey) -> Result<(), CheckpointError> {
    // The brackets; the quotes and the comma of each label; and what JSON escapes.
    let escaped = |byte: u8| match byte {
        b'"' | b'\\' => 2,
        0..0x20 => 6,
        _ => 1,
    };
    let label = |label: &String| 3 + label.bytes().map(escaped).sum::<usize>();
    let bytes = 2 + key.namespace.iter().map(label).sum::<usize>();
    if bytes <= MAX_PATH {
        return Ok(());
    }
    let mut path: String = key.namespace.join("/").chars().take(2 * SHOWN).collect();
    path.push('…');
    Err(CheckpointError::LongPath { path, bytes })
}
