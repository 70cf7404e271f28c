//! Supersteps of several threads in one commit.
//!
//! Few batches are stored by their callers, as they come. Those that come meanwhile wait for one of
//! them to end, and are then sent together: one round trip and one commit for all, and one statement for supersteps.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use deadpool_postgres::Client;
use futures_util::future::{join_all, join4};
use langgraph_sql::LogName;
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use super::put::supersteps::{self, Superstep};
use super::put::{self, Lines, Put};
use crate::{Database, PostgresError};

/// So many batches, or groups of them, are stored at once.
const AT_ONCE: usize = 4;

/// At most so many batches share a commit. `join_all` polls that many in their order.
const GROUP: usize = 30;

type Stored = Result<Put, PostgresError>;

/// A batch with its log.
pub(super) struct Task {
    pub(super) name: LogName,
    pub(super) lines: Lines,
    /// Who has to have the lease of the thread.
    pub(super) holder: Option<Arc<str>>,
}

/// Stores batches, and groups those that wait.
#[derive(Clone, Default)]
pub(super) struct Groups(Arc<Mutex<Queue>>);

#[derive(Default)]
struct Queue {
    active: usize,
    waiting: Vec<Waiting>,
}

struct Waiting {
    task: Task,
    stored: oneshot::Sender<Stored>,
}

impl Groups {
    /// Stores a batch, alone or with others.
    ///
    /// # Errors
    ///
    /// If the database fails.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the batch may be stored or not.
    pub(super) async fn put(&self, database: &Database, task: Task) -> Result<Put, PostgresError> {
        match self.begin(database, task) {
            Ok((_turn, task)) => task.put(&database.client().await?).await,
            Err(wait) => wait.await.unwrap_or_else(|_| Err(ended())),
        }
    }

    /// Begins a turn, or waits with others.
    fn begin(
        &self,
        database: &Database,
        task: Task,
    ) -> Result<(Turn, Task), oneshot::Receiver<Stored>> {
        let mut queue = self.lock();
        if queue.active < AT_ONCE {
            queue.active += 1;
            let (groups, database) = (self.clone(), database.clone());
            return Ok((Turn { groups, database }, task));
        }
        let (stored, wait) = oneshot::channel();
        queue.waiting.push(Waiting { task, stored });
        Err(wait)
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the batches that wait; without any, the turn ends.
    fn next(&self) -> Option<Vec<Waiting>> {
        let mut queue = self.lock();
        if queue.waiting.is_empty() {
            queue.active -= 1;
            return None;
        }
        let count = queue.waiting.len().min(GROUP);
        let mut group: Vec<_> = queue.waiting.drain(..count).collect();
        // Two groups that add the same owners wait for one another in one order only.
        group.sort_by_key(|waiting| waiting.task.lines.owner());
        Some(group)
    }
}

/// A caller that stores its own batch.
struct Turn {
    groups: Groups,
    database: Database,
}

impl Drop for Turn {
    fn drop(&mut self) {
        let Some(group) = self.groups.next() else {
            return;
        };
        let lead = Lead {
            groups: self.groups.clone(),
            ended: false,
        };
        let lead = lead.run(self.database.clone(), group);
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(lead);
        }
    }
}

/// What stores groups until none waits.
struct Lead {
    groups: Groups,
    ended: bool,
}

impl Lead {
    async fn run(mut self, database: Database, mut group: Vec<Waiting>) {
        loop {
            store(&database, group).await;
            match self.groups.next() {
                Some(next) => group = next,
                None => break,
            }
        }
        self.ended = true;
    }
}

impl Drop for Lead {
    /// If the runtime shuts down, callers from other ones get an error.
    fn drop(&mut self) {
        if !self.ended {
            let mut queue = self.groups.lock();
            queue.active -= 1;
            queue.waiting.clear();
        }
    }
}

fn ended() -> PostgresError {
    PostgresError::Postgres("the runtime that stores the record has shut down".into())
}

impl Task {
    async fn put(&self, client: &Client) -> Stored {
        put::put(client, &self.name, &self.lines, self.holder.as_deref()).await
    }
}

/// Stores a group, and reports to each caller.
async fn store(database: &Database, group: Vec<Waiting>) {
    let client = match database.client().await {
        Ok(client) => client,
        Err(error) => return fail(group, error),
    };
    let stored = match &*group {
        [_] => Ok(vec![false]),
        _ => together(&client, &group).await,
    };
    let stored = match stored {
        Ok(stored) => stored,
        Err(error) => return fail(group, error),
    };
    for (stored, waiting) in stored.into_iter().zip(group) {
        // By itself, a batch says why it is refused, or follows another one of its thread.
        let stored = if stored {
            Ok(Put::Stored)
        } else {
            waiting.task.put(&client).await
        };
        let _ = waiting.stored.send(stored);
    }
}

/// Stores a group in one transaction, which is sent as a whole. Returns which batches are stored:
/// those whose head is as they expect it; none, if a statement has failed.
///
/// # Errors
///
/// If the connection breaks, or the commit fails.
async fn together(client: &Client, group: &[Waiting]) -> Result<Vec<bool>, PostgresError> {
    let (mut supersteps, mut indices, mut others) = (Vec::new(), Vec::new(), Vec::new());
    for (index, Waiting { task, .. }) in group.iter().enumerate() {
        match Superstep::of(&task.name, &task.lines, task.holder.as_deref()) {
            Some(superstep) => {
                supersteps.push(superstep);
                indices.push(index);
            }
            None => others.push((index, task)),
        }
    }
    // What is prepared is sent at once, and in order.
    if !supersteps.is_empty() {
        supersteps::prepare(client).await?;
    }
    for (_, task) in &others {
        put::prepare(client, &task.lines, task.holder.is_some()).await?;
    }
    let statements = others
        .iter()
        .map(|(_, task)| put::store(client, &task.name, &task.lines, task.holder.as_deref()));
    let (begun, advanced, stored, committed) = join4(
        client.batch_execute(supersteps::BEGIN),
        supersteps::store(client, &supersteps),
        join_all(statements),
        client.batch_execute("COMMIT"),
    )
    .await;
    begun?;
    committed?;
    let mut all = vec![false; group.len()];
    let stored: Result<Vec<_>, _> = stored.into_iter().collect();
    let (advanced, stored) = match (advanced, stored) {
        (Ok(advanced), Ok(stored)) => (advanced, stored),
        (Err(error), _) | (_, Err(error)) if client.is_closed() => return Err(error),
        // Another transaction made the server abort this one, for example.
        _ => return Ok(all),
    };
    let advanced = advanced
        .iter()
        .filter_map(|step| indices.get(*step).copied());
    let others = others.iter().zip(stored);
    let others = others.filter_map(|((index, _), stored)| stored.then_some(*index));
    for index in advanced.chain(others) {
        if let Some(stored) = all.get_mut(index) {
            *stored = true;
        }
    }
    Ok(all)
}

/// Reports an error to all callers.
fn fail(group: Vec<Waiting>, error: PostgresError) {
    let error = Arc::new(error);
    for waiting in group {
        let error = Box::new(Arc::clone(&error));
        let _ = waiting.stored.send(Err(PostgresError::Postgres(error)));
    }
}
