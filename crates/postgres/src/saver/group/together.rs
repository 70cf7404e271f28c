//! A group in one transaction, which is sent as a whole.

use std::sync::Arc;

use deadpool_postgres::Client;
use futures_util::future::{join_all, join5};

use super::super::leases::{self, Hold, Term};
use super::super::put;
use super::super::put::supersteps::{self, Superstep};
use super::task::{Batch, Done, Task, Waiting};
use crate::{Database, PostgresError};

/// Stores a group, and reports to each caller.
pub(super) async fn store(database: &Database, group: Vec<Waiting>) {
    let client = match database.client().await {
        Ok(client) => client,
        Err(error) => return fail(group, error),
    };
    let stored = match &*group {
        [_] => Ok(vec![false]),
        _ => together(&client, &Group::of(&group)).await,
    };
    let stored = match stored {
        Ok(stored) => stored,
        Err(error) => return fail(group, error),
    };
    for (stored, waiting) in stored.into_iter().zip(group) {
        // By itself, a task says why it is refused, or follows another one of its thread.
        let done = if stored {
            Ok(Done::Stored)
        } else {
            waiting.task.alone(&client).await
        };
        let _ = waiting.done.send(done);
    }
}

/// The tasks of a group by their statements, each with its index.
#[derive(Default)]
struct Group<'a> {
    count: usize,
    released: Vec<(usize, &'a Hold)>,
    taken: Vec<(usize, &'a Hold, Term)>,
    supersteps: Vec<(usize, Superstep<'a>)>,
    others: Vec<(usize, &'a Batch)>,
}

impl<'a> Group<'a> {
    fn of(waiting: &'a [Waiting]) -> Self {
        let mut group = Self {
            count: waiting.len(),
            ..Self::default()
        };
        for (index, Waiting { task, .. }) in waiting.iter().enumerate() {
            match task {
                Task::Release(hold) => group.released.push((index, hold)),
                Task::Take(hold, term) => group.taken.push((index, hold, *term)),
                Task::Put(batch) => {
                    match Superstep::of(&batch.name, &batch.lines, batch.holder.as_deref()) {
                        Some(superstep) => group.supersteps.push((index, superstep)),
                        None => group.others.push((index, batch)),
                    }
                }
            }
        }
        // Two groups that have the same rows wait for one another in one order only: those of leases, of logs and of
        // owners. Logs that are begun together have one owner, as a rule.
        group.released.sort_by_key(|(_, hold)| &hold.thread);
        group.supersteps.sort_by_key(|(_, step)| step.log());
        group
            .others
            .sort_by_key(|(_, batch)| (batch.lines.owner(), &batch.name));
        group
    }

    /// Returns what begins the transaction. Leases need not reach the disk.
    fn begin(&self) -> &'static str {
        if self.released.len() + self.taken.len() == self.count {
            leases::BEGIN_UNSYNCED
        } else {
            supersteps::BEGIN
        }
    }

    /// Prepares the statements, unless the connection has them. What is prepared is sent at once, and in order.
    async fn prepare(&self, client: &Client) -> Result<(), PostgresError> {
        leases::prepare(client, !self.released.is_empty(), !self.taken.is_empty()).await?;
        if !self.supersteps.is_empty() {
            supersteps::prepare(client).await?;
        }
        for (_, batch) in &self.others {
            put::prepare(client, &batch.lines, batch.holder.is_some()).await?;
        }
        Ok(())
    }
}

/// Returns which tasks are stored: those whose head or lease is as they expect it; none, if a statement has failed.
///
/// # Errors
///
/// If the connection breaks, or the commit fails.
async fn together(client: &Client, group: &Group<'_>) -> Result<Vec<bool>, PostgresError> {
    group.prepare(client).await?;
    let others = group.others.iter().map(|(index, batch)| async {
        let holder = batch.holder.as_deref();
        let stored = put::store(client, &batch.name, &batch.lines, holder).await?;
        Ok::<_, PostgresError>(stored.then_some(*index))
    });
    let (begun, leases, advanced, others, committed) = join5(
        client.batch_execute(group.begin()),
        leases::change(client, &group.released, &group.taken),
        supersteps::store(client, &group.supersteps),
        join_all(others),
        client.batch_execute("COMMIT"),
    )
    .await;
    begun?;
    committed?;
    let mut stored = vec![false; group.count];
    let others: Result<Vec<_>, _> = others.into_iter().collect();
    let (leases, advanced, others) = match (leases, advanced, others) {
        (Ok(leases), Ok(advanced), Ok(others)) => (leases, advanced, others),
        (Err(error), ..) | (_, Err(error), _) | (.., Err(error)) if client.is_closed() => {
            return Err(error);
        }
        // Another transaction made the server abort this one, for example.
        _ => return Ok(stored),
    };
    let others = others.into_iter().flatten();
    for index in leases.into_iter().chain(advanced).chain(others) {
        if let Some(stored) = stored.get_mut(index) {
            *stored = true;
        }
    }
    Ok(stored)
}

/// Reports an error to all callers.
fn fail(group: Vec<Waiting>, error: PostgresError) {
    let error = Arc::new(error);
    for waiting in group {
        let error = Box::new(Arc::clone(&error));
        let _ = waiting.done.send(Err(PostgresError::Postgres(error)));
    }
}
