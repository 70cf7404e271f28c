//! Names of logs.

use langgraph_core::checkpoint::ThreadKey;
use langgraph_core::error::CheckpointError;

/// The stored name of a log.
///
/// # Examples
///
/// ```
/// use langgraph_core::checkpoint::ThreadKey;
/// use langgraph_sql::LogName;
///
/// # fn main() -> Result<(), langgraph_core::error::CheckpointError> {
/// let name = LogName::of(&ThreadKey::root("t"))?;
/// assert_eq!(name.namespace, LogName::ROOT);
/// assert_eq!(name.key()?, ThreadKey::root("t"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LogName {
    /// The thread.
    pub thread: String,
    /// The labels of the namespace as JSON, which separates them whatever they hold.
    pub namespace: String,
}

impl LogName {
    /// The namespace of the root graph's log.
    pub const ROOT: &str = "[]";

    /// Returns the name of that log.
    ///
    /// # Errors
    ///
    /// None: labels are text.
    pub fn of(key: &ThreadKey) -> Result<Self, CheckpointError> {
        let namespace = serde_json::to_string(&key.namespace);
        Ok(Self {
            thread: key.thread.clone(),
            namespace: namespace.map_err(CheckpointError::storage)?,
        })
    }

    /// Returns the log of that name.
    ///
    /// # Errors
    ///
    /// [`CheckpointError::Corrupt`] if the namespace cannot be read.
    pub fn key(self) -> Result<ThreadKey, CheckpointError> {
        let Self { thread, namespace } = self;
        let labels = serde_json::from_str(&namespace).map_err(|error| {
            CheckpointError::Corrupt(format!("`{namespace}` is no namespace: {error}"))
        });
        Ok(ThreadKey {
            thread,
            namespace: labels?,
        })
    }

    /// Returns the logs of a thread from their namespaces, in order.
    ///
    /// # Errors
    ///
    /// As [`key`](Self::key).
    pub fn keys(
        thread: &str,
        namespaces: impl IntoIterator<Item = String>,
    ) -> Result<Vec<ThreadKey>, CheckpointError> {
        let keys = namespaces.into_iter().map(|namespace| {
            let thread = thread.to_owned();
            Self { thread, namespace }.key()
        });
        let mut keys: Vec<_> = keys.collect::<Result<_, _>>()?;
        keys.sort();
        Ok(keys)
    }
}
