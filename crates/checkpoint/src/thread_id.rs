//! What a thread may be called.

use super::CheckpointError;

/// The most bytes in the name of a thread. With it, an index of every database holds a thread's key.
pub const MAX_THREAD_ID: usize = 1_024;

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
/// use langgraph_checkpoint::check_thread_id;
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
