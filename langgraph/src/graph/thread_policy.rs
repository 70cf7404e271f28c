//! What happens when a call meets a thread that is not free for it.

use std::time::Duration;

/// What a run, an update or an added input does if another run is active on its thread.
///
/// The active run holds a lease of the thread, in its own process and for all others that share the
/// saver. It renews the lease while it lives. A lease that is not renewed expires after
/// [`CompiledStateGraph::lease_term`](crate::CompiledStateGraph::lease_term); a saver that sees
/// that the holder's process is gone frees it at once.
///
/// Two runs never write to a thread at the same time, whatever the policy. Each record names its
/// predecessor; the second run that writes after the same record fails with
/// [`CheckpointError::Conflict`](crate::error::CheckpointError::Conflict). With a saver
/// without leases, this is all that keeps two runs apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnConflict {
    /// The later one fails at its start, with
    /// [`CheckpointError::Held`](crate::error::CheckpointError::Held).
    #[default]
    Reject,
    /// Waits up to this long until the thread is free.
    Wait(Duration),
    /// Takes the thread over: the other run fails when it next stores a record or renews its lease.
    Cancel,
    /// Waits behind the active run, then runs its input, with its own options and its own stream. Calls
    /// run in the order in which they came, and each returns its own outcome when its run has ended. A
    /// call that is dropped while it waits does not run. One whose stream is not read holds up those
    /// behind it.
    ///
    /// The order is that of calls of this process on the same compiled graph. Behind a run of another
    /// process, an update, or a run that was dropped, each call waits until the thread is free.
    /// Updates and added inputs wait until then too.
    Enqueue,
    /// As [`Enqueue`](Self::Enqueue), but the active run merges the input into its state between two
    /// supersteps, and goes on. The call then returns the outcome of that run, whose stream has the
    /// events. The input waits while the messages hold a tool call without a result
    /// ([`State::dismiss`](crate::State::dismiss)), so that the history stays valid for every
    /// provider. An input with a `goto`, or one that comes too late to be merged, runs behind the
    /// active run.
    Join,
}

impl OnConflict {
    /// Returns the policy as a call writes it, for errors.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Reject => "`OnConflict::Reject`",
            Self::Wait(_) => "`OnConflict::Wait`",
            Self::Cancel => "`OnConflict::Cancel`",
            Self::Enqueue => "`OnConflict::Enqueue`",
            Self::Join => "`OnConflict::Join`",
        }
    }

    /// Returns true if an input goes to the active run.
    pub(crate) const fn hands_over(self) -> bool {
        matches!(self, Self::Enqueue | Self::Join)
    }
}

/// What a new input does when its thread waits for answers.
///
/// A thread can also have stopped without a question, in the middle of a superstep: its run has failed, or was
/// cancelled. A new input then closes open tool calls as [`Dismiss`](Self::Dismiss) does, unless the policy is
/// [`Drop`](Self::Drop), or the input answers one of them or removes the message that asks.
///
/// A run follows its graph's policy,
/// [`CompiledStateGraph::on_open_interrupt`](crate::CompiledStateGraph::on_open_interrupt), unless it
/// has [its own](crate::run::Run::on_open_interrupt). A run from an older checkpoint leaves the
/// questions at the head alone, whatever the policy is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnOpenInterrupt {
    /// The run fails with [`AgentError::InterruptsOpen`](crate::error::AgentError::InterruptsOpen).
    #[default]
    Refuse,
    /// The question stays open, and the input waits behind it: it is merged with what the answered
    /// task writes, after it. The run pauses at once with the same questions.
    Keep,
    /// The question is closed. What tasks beside it have finished is kept. Tool calls in the
    /// state's messages that have no result get one that says so
    /// ([`State::dismiss`](crate::State::dismiss)), so that the history stays valid for every
    /// provider. Then the input runs.
    Dismiss,
    /// As LangGraph for Python does: the pending superstep is dropped, with what its tasks have
    /// finished. Tool calls without a result stay in the messages.
    Drop,
}

/// The policies of a graph's threads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ThreadPolicy {
    pub(crate) on_conflict: OnConflict,
    pub(crate) on_open_interrupt: OnOpenInterrupt,
    /// The time after which a lease expires without renewal.
    pub(crate) lease_term: Duration,
}

impl Default for ThreadPolicy {
    fn default() -> Self {
        Self {
            on_conflict: OnConflict::default(),
            on_open_interrupt: OnOpenInterrupt::default(),
            lease_term: Duration::from_secs(30),
        }
    }
}
