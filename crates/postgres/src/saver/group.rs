//! Supersteps and leases of several threads in one commit.
//!
//! Few tasks are stored by their callers, as they come. Those that come meanwhile wait until they are as many as are
//! being stored, or until nothing is; then they are sent together: one round trip and one commit for all. A commit waits
//! for the disk, whatever it holds, so many small ones would only wait for one another.

use std::mem;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use langgraph_core::checkpoint::HeldBy;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::leases::{Hold, Term};
use super::put::Put;
use crate::{Database, PostgresError};
use task::{Batch, Done, Task, Waiting};

pub(super) mod task;
mod together;

/// So many tasks, or groups of them, are stored at once.
const AT_ONCE: usize = 4;

/// At most so many tasks share a commit. `join_all` polls that many in their order.
const GROUP: usize = 30;

/// Longer than a disk takes for a commit.
const LONG: Duration = Duration::from_millis(100);

/// Stores tasks, and groups those that wait.
#[derive(Clone, Default)]
pub(super) struct Groups(Arc<Mutex<Queue>>);

#[derive(Default)]
struct Queue {
    /// How many turns there are.
    active: usize,
    /// How many tasks they store, except for those that take long.
    in_flight: usize,
    waiting: Vec<Waiting>,
}

impl Queue {
    /// Returns true if so many that wait are to be stored now. Without a turn, they are: none waits for ever.
    fn is_due(&self, waiting: usize) -> bool {
        self.active < AT_ONCE && waiting >= self.in_flight.min(GROUP)
    }

    fn begin(&mut self, count: usize) {
        self.active += 1;
        self.in_flight += count;
    }

    /// Begins a turn of tasks that wait, if they are due.
    fn next(&mut self) -> Option<Vec<Waiting>> {
        if self.waiting.is_empty() || !self.is_due(self.waiting.len()) {
            return None;
        }
        let count = self.waiting.len().min(GROUP);
        self.begin(count);
        Some(self.waiting.drain(..count).collect())
    }
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
    /// If the future is dropped, the batch may be stored or not. So it is with leases.
    pub(super) async fn put(
        &self,
        database: &Database,
        batch: Batch,
    ) -> Result<Put, PostgresError> {
        self.run(database, Task::Put(batch)).await.map(Done::put)
    }

    /// Takes or renews a lease; returns who holds the thread instead.
    pub(super) async fn take(
        &self,
        database: &Database,
        hold: Hold,
        term: Term,
    ) -> Result<Option<HeldBy>, PostgresError> {
        let done = self.run(database, Task::Take(hold, term)).await;
        done.map(Done::held_by)
    }

    /// Releases a lease, if its holder has it.
    pub(super) async fn release(
        &self,
        database: &Database,
        hold: Hold,
    ) -> Result<(), PostgresError> {
        let done = self.run(database, Task::Release(hold)).await;
        done.map(|_| ())
    }

    async fn run(&self, database: &Database, task: Task) -> Result<Done, PostgresError> {
        match self.begin(database, task) {
            Ok((mut turn, task)) => {
                let storing = async { task.alone(&database.client().await?).await };
                turn.take(storing).await
            }
            Err(wait) => wait.await.unwrap_or_else(|_| Err(ended())),
        }
    }

    /// Begins a turn, or waits with others.
    fn begin(
        &self,
        database: &Database,
        task: Task,
    ) -> Result<(Turn, Task), oneshot::Receiver<Result<Done, PostgresError>>> {
        let mut queue = self.lock();
        if queue.waiting.is_empty() && queue.is_due(1) {
            queue.begin(1);
            return Ok((Turn::new(self, database, 1), task));
        }
        let (done, wait) = oneshot::channel();
        queue.waiting.push(Waiting { task, done });
        let group = queue.next();
        drop(queue);
        self.spawn(database, group);
        Err(wait)
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stores a group whose turn has begun. If the runtime shuts down, its callers get an error.
    fn spawn(&self, database: &Database, group: Option<Vec<Waiting>>) {
        let Some(group) = group else { return };
        let mut turn = Turn::new(self, database, group.len());
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(async move {
                let database = turn.database.clone();
                turn.take(together::store(&database, group)).await;
            });
        }
    }
}

/// What stores a task, or a group. Behind it, the next ones are stored.
struct Turn {
    groups: Groups,
    database: Database,
    /// How many tasks others wait for.
    count: usize,
}

impl Turn {
    fn new(groups: &Groups, database: &Database, count: usize) -> Self {
        Self {
            groups: groups.clone(),
            database: database.clone(),
            count,
        }
    }

    /// Stores. If that takes long, perhaps for a lock, others no longer wait to be as many.
    async fn take<T>(&mut self, storing: impl Future<Output = T>) -> T {
        let mut storing = pin!(storing);
        if let Ok(stored) = timeout(LONG, &mut storing).await {
            return stored;
        }
        let next = {
            let mut queue = self.groups.lock();
            queue.in_flight -= mem::take(&mut self.count);
            queue.next()
        };
        self.groups.spawn(&self.database, next);
        storing.await
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let next = {
            let mut queue = self.groups.lock();
            queue.active -= 1;
            queue.in_flight -= self.count;
            queue.next()
        };
        self.groups.spawn(&self.database, next);
    }
}

fn ended() -> PostgresError {
    PostgresError::Postgres("the runtime that stores the record has shut down".into())
}
