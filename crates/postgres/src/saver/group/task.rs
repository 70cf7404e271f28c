//! What can share a commit: a batch, a lease that is taken, one that is released.

use std::sync::Arc;

use deadpool_postgres::Client;
use langgraph_core::checkpoint::HeldBy;
use langgraph_sql::LogName;
use tokio::sync::oneshot;

use super::super::leases::{self, Hold, Term};
use super::super::put::{self, Lines, Put};
use crate::PostgresError;

#[allow(clippy::large_enum_variant)] // almost all are batches
pub(super) enum Task {
    Put(Batch),
    Take(Hold, Term),
    Release(Hold),
}

/// A batch with its log.
pub(in super::super) struct Batch {
    pub(in super::super) name: LogName,
    pub(in super::super) lines: Lines,
    /// Who has to have the lease of the thread.
    pub(in super::super) holder: Option<Arc<str>>,
}

/// A task that waits for others.
pub(super) struct Waiting {
    pub(super) task: Task,
    pub(super) done: oneshot::Sender<Result<Done, PostgresError>>,
}

/// What became of a task.
pub(super) enum Done {
    /// What it asked for.
    Stored,
    Refused(Put),
    HeldBy(HeldBy),
}

impl Done {
    pub(super) fn put(self) -> Put {
        match self {
            Self::Refused(put) => put,
            Self::Stored | Self::HeldBy(_) => Put::Stored,
        }
    }

    pub(super) fn held_by(self) -> Option<HeldBy> {
        match self {
            Self::HeldBy(held_by) => Some(held_by),
            Self::Stored | Self::Refused(_) => None,
        }
    }
}

impl Task {
    /// Stores it in a commit of its own.
    pub(super) async fn alone(&self, client: &Client) -> Result<Done, PostgresError> {
        Ok(match self {
            Self::Put(batch) => {
                let holder = batch.holder.as_deref();
                match put::put(client, &batch.name, &batch.lines, holder).await? {
                    Put::Stored => Done::Stored,
                    refused => Done::Refused(refused),
                }
            }
            Self::Take(hold, term) => match leases::take(client, hold, *term).await? {
                Some(held_by) => Done::HeldBy(held_by),
                None => Done::Stored,
            },
            Self::Release(hold) => {
                leases::release(client, hold).await?;
                Done::Stored
            }
        })
    }
}
