//! Errors of threads and their storage.

use std::error::Error;
use std::time::{Duration, SystemTime};

use super::FormatError;
use crate::checkpoint_id::CheckpointId;
use crate::head::Head;

/// Why a thread cannot be read or written.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// The storage failed.
    #[error("{0}")]
    Storage(#[source] Box<dyn Error + Send + Sync>),
    /// The stored data is damaged.
    #[error("what is stored is damaged: {0}")]
    Corrupt(String),
    /// A value cannot be encoded, or a stored value cannot be decoded.
    #[error("{0}")]
    Format(#[from] FormatError),
    /// A value of a run cannot be encoded.
    #[error("{what} cannot be stored on thread `{thread}`: {source}")]
    Unwritable {
        /// The thread.
        thread: String,
        /// The value.
        what: String,
        /// The cause.
        source: FormatError,
    },
    /// A value of a thread cannot be decoded.
    #[error("a value of thread `{thread}` cannot be read: {source}")]
    Unreadable {
        /// The thread.
        thread: String,
        /// The cause.
        source: FormatError,
    },
    /// The path to the log of a graph inside is too long to be a key of every database.
    #[error(
        "the graph in `{path}` cannot be stored: the path to it has {bytes} bytes, and at most 1536 are allowed; give its nodes shorter names, or nest fewer graphs"
    )]
    LongPath {
        /// The beginning of the path.
        path: String,
        /// How many bytes it has.
        bytes: usize,
    },
    /// A state type cannot be stored as bytes.
    #[error(
        "a graph over `{state}` cannot be stored as bytes: its update is not known to be `Serialize` and `DeserializeOwned`; if it is, attach the subgraph as `graph.storable()`"
    )]
    NotStorable {
        /// The type.
        state: &'static str,
    },
    /// The state type of a subgraph cannot be stored as bytes.
    #[error(
        "the graph in node `{node}` cannot be stored as bytes: the update of its state `{state}` is not known to be `Serialize` and `DeserializeOwned`; if it is, add it as `graph.storable()`"
    )]
    SubgraphNotStorable {
        /// The node.
        node: String,
        /// The type.
        state: &'static str,
    },
    /// The thread belongs to another graph.
    #[error(
        "thread `{thread}` is not {act}: graph `{owner}` has run on it last, and this is graph `{graph}`; use that graph, or `threads().of_all_graphs().thread(..)`"
    )]
    OtherGraph {
        /// The thread.
        thread: String,
        /// This graph.
        graph: String,
        /// The graph that has run on it last.
        owner: String,
        /// What was to be done, as a participle.
        act: &'static str,
    },
    /// The new thread's name is taken.
    #[error("thread `{0}` exists already")]
    ThreadExists(String),
    /// Another run holds the thread.
    #[error("another run holds thread `{thread}`{}{}", how_long(*.waited), left(*.until))]
    Held {
        /// The thread.
        thread: String,
        /// How long this run has waited.
        waited: Duration,
        /// When the other run's lease ends, unless it renews the lease.
        until: SystemTime,
    },
    /// The run has lost its lease of the thread: it could not renew the lease in time.
    #[error("the run has lost its hold on thread `{thread}`; what it has stored so far is kept")]
    LeaseLost {
        /// The thread.
        thread: String,
    },
    /// The graph has a checkpointer, or the run starts at a checkpoint, but the run names no
    /// thread.
    #[error(
        "a run of a graph that has a checkpointer, or that starts at a checkpoint, needs a thread: add `.thread(\"…\")`"
    )]
    NoThread,
    /// A thread cannot have this name.
    #[error("no thread can be called {thread:?}: {problem}")]
    InvalidThread {
        /// The name; of a long one its beginning, and `…`.
        thread: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The run names a thread, but the graph has no checkpointer.
    #[error(
        "thread `{0}` cannot be kept or read: the graph has no checkpointer; add one with `.checkpointer(..)`"
    )]
    NoCheckpointer(String),
    /// A node declares that it may interrupt, and the graph has no checkpointer.
    #[error(
        "`{0}` may interrupt, and the graph has no checkpointer, so nothing would wait for the answer; add one with `.checkpointer(..)`, and name the thread"
    )]
    InterruptsUnkept(String),
    /// A call needs [`Leases`](crate::checkpoint::Leases), and the checkpointer has none.
    #[error(
        "{0} needs leases, and this checkpointer has none; implement `Leases` for it, and return it from `Checkpointer::leases`"
    )]
    NoLeases(&'static str),
    /// A call needs [`Administration`](crate::checkpoint::Administration), and the checkpointer has none.
    #[error(
        "{0} needs administration, and this checkpointer has none; implement `Administration` for it, and return it from `Checkpointer::administration`"
    )]
    NoAdministration(&'static str),
    /// Another run has written to the thread in the meantime.
    #[error("another run has written to thread `{thread}` meanwhile (at {}, expected {}); load it again", text(*head), text(*known))]
    Conflict {
        /// The thread.
        thread: String,
        /// The head that the writer knew.
        known: Option<Head>,
        /// The current head.
        head: Option<Head>,
    },
    /// A checkpoint that the change needs was removed in the meantime.
    #[error(
        "checkpoint `{base}` of thread `{thread}`, which the change is based on, was removed meanwhile; load the thread again"
    )]
    BaseGone {
        /// The thread.
        thread: String,
        /// The checkpoint that is missing.
        base: CheckpointId,
    },
    /// The thread does not exist, so there is nothing to continue.
    #[error(
        "thread `{0}` does not exist, so there is nothing to go on with; start it with `run(input).thread(..)`"
    )]
    UnknownThread(String),
    /// The thread has no such checkpoint.
    #[error("thread `{thread}` has no checkpoint `{id}`")]
    UnknownCheckpoint {
        /// The thread.
        thread: String,
        /// The id.
        id: CheckpointId,
    },
    /// The answer matches no open interrupt.
    #[error("nothing on thread `{thread}` waits for {} (open: {open})", answer_to(.key))]
    NothingToResume {
        /// The thread.
        thread: String,
        /// The key or id of the answer; empty if it had none.
        key: String,
        /// The open interrupts.
        open: String,
    },
    /// The answer matches several interrupts.
    #[error(
        "several questions on thread `{thread}` wait for {}; answer by id: {open}",
        answer_to(.key)
    )]
    AmbiguousResume {
        /// The thread.
        thread: String,
        /// The key of the answer; empty if it had none.
        key: String,
        /// The ids of the matching interrupts.
        open: String,
    },
    /// The thread waits for a node that the graph does not have.
    #[error(
        "thread `{thread}` waits for node `{node}`, which graph `{graph}` does not have: the graph was changed since (from {stored:016x} to {now:016x}); give the node that took its place an alias, or move the thread on with `thread.update(..).as_node(..)` or `thread.clear_pending()`"
    )]
    UnknownNode {
        /// The thread.
        thread: String,
        /// The node.
        node: String,
        /// The graph.
        graph: String,
        /// The [fingerprint](langgraph_topology::Topology::fingerprint) of the graph that wrote it.
        stored: u64,
        /// The fingerprint of this graph.
        now: u64,
    },
    /// The thread belongs to a graph over another state type.
    #[error(
        "thread `{thread}` holds states of type {stored}, and this graph has {state}; use a thread of another name, or another saver; {remedy}"
    )]
    WrongType {
        /// The thread.
        thread: String,
        /// The type that is stored.
        stored: String,
        /// The type of this graph's state.
        state: String,
        /// The graph that the thread belongs to, if it has another name than this one: then the
        /// name of the thread is taken, and nothing is wrong with what is stored.
        graph: Option<String>,
        /// What to do if both are the same type.
        remedy: String,
    },
    /// An update from outside is empty.
    #[error("an update of a thread needs at least one superstep, and each superstep an update")]
    EmptyUpdate,
    /// An update from outside does not fit the thread.
    #[error("{0}")]
    InvalidUpdate(String),
}

/// How long a run has waited for another one, in words.
fn how_long(waited: Duration) -> String {
    match waited.as_millis() {
        0..100 => String::new(),
        _ => format!(", and did not end within {:.1} s", waited.as_secs_f64()),
    }
}

/// How long a lease still lasts, in words.
fn left(until: SystemTime) -> String {
    let left = until
        .duration_since(crate::environment::now())
        .unwrap_or_default();
    let seconds = left.as_secs_f64().ceil();
    format!(
        "; its lease ends in {seconds} s unless it renews it; wait with `OnConflict::Wait`, or take the thread over with `OnConflict::Cancel`"
    )
}

impl CheckpointError {
    /// Returns true if what is stored of one thread cannot be read; others may be whole.
    pub fn is_damage(&self) -> bool {
        use CheckpointError::{Corrupt, Format, Unreadable};
        matches!(self, Corrupt(_) | Format(_) | Unreadable { .. })
    }

    /// Creates a failure of the storage.
    pub fn storage(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Storage(error.into())
    }
}

fn text(head: Option<Head>) -> String {
    head.map_or_else(
        || "the beginning".to_owned(),
        |head| format!("checkpoint `{}`, version {}", head.id, head.version),
    )
}

fn answer_to(key: &str) -> String {
    if key.is_empty() {
        "an answer".to_owned()
    } else {
        format!("an answer to `{key}`")
    }
}

crate::debug_is_message!(CheckpointError);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_is_held_says_how_long_in_words() {
        let text = |waited, ahead| {
            let held = CheckpointError::Held {
                thread: "t".to_owned(),
                waited: Duration::from_millis(waited),
                until: SystemTime::now() + Duration::from_millis(ahead),
            };
            held.to_string()
        };
        assert_eq!(
            text(0, 29_600),
            "another run holds thread `t`; its lease ends in 30 s unless it renews it; wait with `OnConflict::Wait`, or take the thread over with `OnConflict::Cancel`"
        );
        assert_eq!(
            text(2_540, 900),
            "another run holds thread `t`, and did not end within 2.5 s; its lease ends in 1 s unless it renews it; wait with `OnConflict::Wait`, or take the thread over with `OnConflict::Cancel`"
        );
        // The time has come since.
        assert!(text(0, 0).contains("; its lease ends in 0 s unless it renews it; "));
    }
}
