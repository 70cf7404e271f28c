//! The head of a log, to which a run and its tasks append.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use langgraph_core::Lock;
use tokio::sync::Notify;

use super::box_future::BoxFuture;
use super::run_guard::{Recording, RunGuard};
use super::unbroken::Unbroken;
use langgraph_core::checkpoint::{
    Batch, Checkpointer, GrowingLinks, Head, Owner, Payload, RunStatus, ThreadKey,
};
use langgraph_core::error::CheckpointError;

/// The head of a log. Writers wait for each other.
pub(crate) struct LogHead {
    /// The saver.
    pub(crate) saver: Arc<dyn Checkpointer>,
    /// The log.
    pub(crate) key: ThreadKey,
    /// True if values are encoded before they reach the saver.
    encodes: bool,
    /// Taken by the writer that appends. As a rule there is one, and it waits for none.
    end: Lock<Option<KnownEnd>>,
    /// Wakes a writer that waits for the end.
    returned: Notify,
    guard: Option<Arc<RunGuard>>,
}

/// What a run knows about the head of its log.
struct KnownEnd {
    head: Option<Head>,
    /// The links behind it, which the run adds without asking for the end.
    links: Option<Arc<dyn GrowingLinks>>,
    /// What the log belongs to, until that is stored.
    owner: Option<Arc<Owner>>,
    /// Why a record could not be stored; it may be stored all the same.
    last_error: Option<String>,
}

impl LogHead {
    /// Creates the head of a log, which is at `head`.
    pub(crate) fn new(
        saver: Arc<dyn Checkpointer>,
        key: ThreadKey,
        head: Option<Head>,
        encodes: bool,
    ) -> Self {
        Self {
            encodes: encodes && saver.formats().is_some(),
            saver,
            key,
            guard: None,
            end: Lock::new(Some(KnownEnd {
                head,
                links: None,
                owner: None,
                last_error: None,
            })),
            returned: Notify::new(),
        }
    }

    /// Names the owner of the log with the next record.
    pub(crate) fn with_owner(self, owner: Option<Arc<Owner>>) -> Self {
        if let Some(end) = &mut *self.end.lock() {
            end.owner = owner;
        }
        self
    }

    /// Notes the statuses that are stored, and stores no more once the run has ended.
    pub(crate) fn with_guard(mut self, guard: Option<Arc<RunGuard>>) -> Self {
        self.guard = guard;
        self
    }

    /// Returns how the run ends that writes.
    pub(crate) fn guard(&self) -> Option<&Arc<RunGuard>> {
        self.guard.as_ref()
    }

    /// Returns true if values are encoded before they reach the saver.
    pub(crate) fn encodes(&self) -> bool {
        self.encodes
    }

    /// Encodes a payload if the saver needs it.
    #[inline]
    pub(crate) fn encode(
        &self,
        payload: Payload,
        what: impl FnOnce() -> String,
    ) -> Result<Payload, CheckpointError> {
        if !self.encodes {
            return Ok(payload);
        }
        let Some(formats) = self.saver.formats() else {
            return Ok(payload);
        };
        match payload.encode(formats) {
            Ok(encoded) => Ok(encoded.into()),
            Err(source) => Err(CheckpointError::Unwritable {
                thread: self.key.thread.clone(),
                what: what(),
                source,
            }),
        }
    }

    /// Stores a batch, after those of the writers before this one, and empties it: at once if the saver
    /// never waits.
    ///
    /// # Errors
    ///
    /// Errors of the saver; and if the run has ended.
    ///
    /// # Cancel safety
    ///
    /// Once the saver has begun, it ends in the background if the future is dropped: a saver may go on
    /// with a write that nothing awaits any more. The next writer, and a run that is stopped, wait for it.
    pub(crate) fn put(self: &Arc<Self>, batch: &mut Batch) -> Putting<'static> {
        if let Some(stored) = self.put_now(batch) {
            return Putting::stored(stored);
        }
        let put = Arc::clone(self).put_later(std::mem::take(batch));
        Putting::Waits(Box::pin(put))
    }

    /// Stores a batch without waiting, if the saver can and no other writer appends.
    fn put_now(&self, batch: &mut Batch) -> Option<Result<(), CheckpointError>> {
        let mut end = self.end.lock();
        let end = end.as_mut()?;
        let guard = self.guard.as_deref();
        let record = guard.map(RunGuard::record);
        if matches!(record, Some(None)) {
            return Some(Err(outlived()));
        }
        end.begin(batch);
        let (next, status) = (batch.next_head(), batch.status);
        let stored = self.saver.put_now(&self.key, batch)?;
        if stored.is_err() {
            *batch = Batch::default();
        }
        Some(self.note(end, stored, next, status))
    }

    /// Shares links behind the head while a run is active. They are not taken if the saver has none, or another
    /// writer appends.
    ///
    /// # Errors
    ///
    /// Errors of the saver; and if the run has ended.
    pub(crate) fn share_links<L: GrowingLinks + 'static>(
        &self,
        links: &Arc<L>,
    ) -> Result<bool, CheckpointError> {
        let mut end = self.end.lock();
        let Some(end) = end.as_mut().filter(|end| end.owner.is_none()) else {
            return Ok(false);
        };
        end.close_links();
        let Some(head) = end.head else {
            return Ok(false);
        };
        let record = self.guard.as_deref().map(RunGuard::record);
        if matches!(record, Some(None)) {
            return Err(outlived());
        }
        let links = Arc::clone(links) as Arc<dyn GrowingLinks>;
        let shared = self.saver.share_links(&self.key, head, Arc::clone(&links));
        let shared = shared.map_err(|error| end.failed(error))?;
        end.links = shared.then_some(links);
        Ok(shared)
    }

    async fn put_later(self: Arc<Self>, batch: Batch) -> Result<(), CheckpointError> {
        let turn = self.turn().await;
        let record = self.begin_record()?;
        turn.put(batch, record).await
    }

    /// Stores what is done already. As [`put`](Self::put), but it is under way from now on, also while it waits for
    /// other writers: the end of the run waits for it.
    pub(crate) fn put_done(self: &Arc<Self>, mut batch: Batch) -> Putting<'static> {
        if let Some(stored) = self.put_now(&mut batch) {
            return Putting::stored(stored);
        }
        let record = match self.begin_record() {
            Ok(record) => record,
            Err(error) => return Putting::stored(Err(error)),
        };
        let log = Arc::clone(self);
        Putting::Waits(Box::pin(async move {
            let turn = log.turn().await;
            turn.put(batch, record).await
        }))
    }

    /// Begins a record; `None` if the run does not count them.
    ///
    /// # Errors
    ///
    /// If the run has ended.
    fn begin_record(&self) -> Result<Option<Recording<Arc<RunGuard>>>, CheckpointError> {
        match self.guard.clone().map(RunGuard::record) {
            Some(None) => Err(outlived()),
            record => Ok(record.flatten()),
        }
    }

    /// Notes what is stored, or why it could not be stored.
    fn note(
        &self,
        end: &mut KnownEnd,
        stored: Result<(), CheckpointError>,
        next: Option<Head>,
        status: RunStatus,
    ) -> Result<(), CheckpointError> {
        stored.map_err(|error| end.failed(error))?;
        end.head = next;
        end.owner = None;
        end.last_error = None;
        if let (Some(guard), true) = (&self.guard, self.key.namespace.is_empty()) {
            guard.stored(status);
        }
        Ok(())
    }

    /// Waits until no other writer appends.
    async fn turn(self: &Arc<Self>) -> Turn {
        loop {
            if let Some(end) = self.end.lock().take() {
                let log = Arc::clone(self);
                return Turn { log, end };
            }
            self.returned.notified().await;
        }
    }
}

impl KnownEnd {
    /// Takes the links into account; the run adds no more to them.
    fn close_links(&mut self) {
        let Some(links) = self.links.take() else {
            return;
        };
        let links = links.close();
        let count = links.count();
        let newest = count.checked_sub(1).and_then(|last| links.id(last));
        if let (Some(id), Some(head)) = (newest, self.head) {
            self.head = Some(Head::new(id, head.version + count as u64));
        }
    }

    /// Places a batch behind the end.
    fn begin(&mut self, batch: &mut Batch) {
        self.close_links();
        batch.head = self.head;
        batch.owner.clone_from(&self.owner);
    }

    /// Notes that a record could not be stored, and returns why.
    fn failed(&mut self, error: CheckpointError) -> CheckpointError {
        match (&error, &self.last_error) {
            // The conflicting record is this run's own.
            (CheckpointError::Conflict { .. }, Some(last_error)) => CheckpointError::storage(
                format!("an earlier record could not be stored: {last_error}"),
            ),
            (CheckpointError::Conflict { .. }, None) => error,
            _ => {
                self.last_error = Some(error.to_string());
                error
            }
        }
    }
}

fn outlived() -> CheckpointError {
    CheckpointError::storage("the run has ended; a task that outlived it writes nothing")
}

/// A batch that is being stored: as a rule, a saver in memory has stored it already. It is small,
/// because it is moved.
#[must_use = "a batch that waits is stored only if this is awaited"]
pub(crate) enum Putting<'a> {
    /// Stored, or not for this reason.
    Ended(Option<Box<CheckpointError>>),
    Waits(BoxFuture<'a, Result<(), CheckpointError>>),
}

impl Putting<'_> {
    pub(crate) fn stored(stored: Result<(), CheckpointError>) -> Self {
        Self::Ended(stored.err().map(Box::new))
    }
}

impl Future for Putting<'_> {
    type Output = Result<(), CheckpointError>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut *self {
            Self::Ended(error) => Poll::Ready(error.take().map_or(Ok(()), |error| Err(*error))),
            Self::Waits(put) => put.as_mut().poll(cx),
        }
    }
}

/// The turn of a writer, who returns the end when it is dropped.
struct Turn {
    log: Arc<LogHead>,
    end: KnownEnd,
}

impl Turn {
    async fn put(
        mut self,
        mut batch: Batch,
        record: Option<Recording<Arc<RunGuard>>>,
    ) -> Result<(), CheckpointError> {
        self.end.begin(&mut batch);
        let (next, status) = (batch.next_head(), batch.status);
        let Some(record) = record else {
            // What writes later, or at the end of the run, knows itself what is stored.
            let stored = self.log.saver.put(&self.log.key, batch).await;
            return self.note(stored, next, status);
        };
        let write = async move {
            let log = Arc::clone(&self.log);
            let stored = log.saver.put(&log.key, batch).await;
            self.note(stored, next, status)
        };
        Unbroken::new(write, record).await
    }

    fn note(
        &mut self,
        stored: Result<(), CheckpointError>,
        next: Option<Head>,
        status: RunStatus,
    ) -> Result<(), CheckpointError> {
        self.log.note(&mut self.end, stored, next, status)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let end = KnownEnd {
            head: self.end.head,
            links: self.end.links.take(),
            owner: self.end.owner.take(),
            last_error: self.end.last_error.take(),
        };
        *self.log.end.lock() = Some(end);
        self.log.returned.notify_one();
    }
}

impl fmt::Debug for LogHead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LogHead")
            .field("key", &self.key)
            .field("encodes", &self.encodes)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // a test fails by panicking

    use async_trait::async_trait;
    use langgraph_core::checkpoint::{
        CheckpointId, MemorySaver, OnceRecord, TaskRecord, forward_checkpointer,
    };
    use tokio::sync::Semaphore;

    use super::*;

    /// A saver that stores a record when it may.
    struct Slow {
        saver: Arc<dyn Checkpointer>,
        may_store: Semaphore,
        stored: Lock<usize>,
    }

    #[async_trait]
    impl Checkpointer for Slow {
        async fn put(&self, _: &ThreadKey, _: Batch) -> Result<(), CheckpointError> {
            self.may_store.acquire().await.unwrap().forget();
            *self.stored.lock() += 1;
            Ok(())
        }

        forward_checkpointer!(saver);
    }

    fn done_once(key: &str) -> Batch {
        let once = OnceRecord {
            key: key.to_owned(),
            arguments: 0,
            value: "1".to_owned(),
        };
        let task = TaskRecord::done_once(CheckpointId::after(None), 0, once);
        Batch {
            tasks: vec![task],
            ..Batch::default()
        }
    }

    #[tokio::test]
    async fn the_end_of_a_run_waits_for_work_that_is_done_and_waits_for_other_records() {
        let slow = Arc::new(Slow {
            saver: Arc::new(MemorySaver::new()),
            may_store: Semaphore::new(0),
            stored: Lock::default(),
        });
        let guard = Arc::new(RunGuard::default());
        let log = LogHead::new(Arc::clone(&slow) as _, ThreadKey::root("t"), None, false);
        let log = Arc::new(log.with_guard(Some(Arc::clone(&guard))));
        let first = tokio::spawn(log.put_done(done_once("first")));
        tokio::task::yield_now().await;
        // Its turn has not come when the run is stopped.
        let second = tokio::spawn(log.put_done(done_once("second")));
        let stopped = tokio::spawn(async move { guard.drained().await });
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
        assert!(!stopped.is_finished());
        let late = log.put_done(done_once("late")).await;
        assert!(late.is_err());
        slow.may_store.add_permits(2);
        stopped.await.unwrap();
        assert_eq!(*slow.stored.lock(), 2);
        assert!(first.await.unwrap().is_ok() && second.await.unwrap().is_ok());
    }
}
