//! The events of a run, as its clients in this process see them.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;

use langgraph_http::Backlog;
use serde_json::Value;
use tokio::sync::Notify;

use super::{EndStatus, StreamEvent};

/// How many events of a run are in memory at most, and how many bytes. Older ones are in the
/// database; a run whose events are not stored waits for its readers.
const EVENTS: usize = 1024;
const BYTES: usize = 8 << 20;

/// How long a run waits for a reader that takes nothing. Then the reader is cut off.
const SLOWEST_READER: Duration = Duration::from_secs(30);

/// The newest events of a run, shared by all of its readers in this process.
#[derive(Debug)]
pub(crate) struct Feed {
    pub(crate) run: String,
    /// Events have ids: they are stored, and can be replayed.
    pub(crate) is_stored: bool,
    /// This process carries out the run; else the events come from the database.
    local: AtomicBool,
    /// The run was in the database: if it is not there, it was removed, and is not yet to come.
    was_seen: AtomicBool,
    pub(super) events: Arc<Backlog<Arc<StreamEvent>>>,
    /// How the run has ended, if its last event is among them, or before them.
    end_status: OnceLock<EndStatus>,
    end: Mutex<FeedEnd>,
    ended: Notify,
    /// One task at a time reads the database.
    reading: tokio::sync::Mutex<()>,
}

/// Whether more events come.
#[derive(Clone, Debug, PartialEq)]
enum FeedEnd {
    Open,
    /// This process no longer follows the run, which goes on in another one.
    Left,
    /// The run has ended, with this result.
    Ended(Value),
}

impl Feed {
    fn new(run: &str, is_stored: bool, last: Option<&StreamEvent>) -> Self {
        let first = last.map_or(0, |last| last.number.saturating_add(1));
        let first = u64::try_from(first).unwrap_or_default();
        Self {
            run: run.to_owned(),
            is_stored,
            local: AtomicBool::new(false),
            was_seen: AtomicBool::new(false),
            events: Arc::new(Backlog::starting_at(first, EVENTS, BYTES)),
            end_status: last
                .and_then(StreamEvent::end_status)
                .map_or_else(OnceLock::new, OnceLock::from),
            end: Mutex::new(FeedEnd::Open),
            ended: Notify::new(),
            reading: tokio::sync::Mutex::default(),
        }
    }

    /// Adds an event, which gets the next number. A run whose events are not stored waits until
    /// each reader has seen what this one pushes out.
    pub(crate) async fn push(&self, event: StreamEvent) {
        let room = std::future::poll_fn(|cx| self.events.poll_room(cx));
        if tokio::time::timeout(SLOWEST_READER, room).await.is_err() {
            self.events.drop_slow_readers();
        }
        self.add(event);
    }

    /// Shows an event that is stored, if those of the run are.
    pub(crate) async fn show(&self, event: StreamEvent) {
        if self.is_stored {
            self.add(event);
        } else {
            self.push(event).await;
        }
    }

    /// Adds an event, which gets the next number, and drops the oldest one if there is no room.
    pub(crate) fn add(&self, mut event: StreamEvent) {
        event.number = self.next_number();
        self.keep(event);
    }

    fn keep(&self, event: StreamEvent) {
        if let Some(status) = event.end_status() {
            // The first end is the one that is seen.
            let _ = self.end_status.set(status);
        }
        let size = event.size();
        self.events.push(Arc::new(event), size);
    }

    /// Returns true if the last event of the run was added or stored.
    pub(crate) fn has_end(&self) -> bool {
        self.end_status().is_some()
    }

    /// Returns how the run has ended, if its last event was added or stored.
    pub(crate) fn end_status(&self) -> Option<EndStatus> {
        self.end_status.get().copied()
    }

    /// Waits until no other task reads the database for the feed.
    pub(crate) async fn reading(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.reading.lock().await
    }

    /// Adds events of the database that follow those that are here.
    pub(crate) fn extend(&self, stored: Vec<StreamEvent>) {
        for event in stored {
            if event.number == self.next_number() {
                self.keep(event);
            }
        }
    }

    /// Returns the number of the next event.
    pub(crate) fn next_number(&self) -> i64 {
        i64::try_from(self.events.next()).unwrap_or(i64::MAX)
    }

    pub(crate) fn is_local(&self) -> bool {
        self.local.load(Ordering::Acquire)
    }

    pub(crate) fn set_local(&self, local: bool) {
        self.local.store(local, Ordering::Release);
    }

    /// Returns true if the run was in the database.
    pub(crate) fn was_seen(&self) -> bool {
        self.was_seen.load(Ordering::Acquire)
    }

    /// Notes that the run is in the database.
    pub(crate) fn see(&self) {
        self.was_seen.store(true, Ordering::Release);
    }

    fn end_state(&self) -> MutexGuard<'_, FeedEnd> {
        self.end.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn is_open(&self) -> bool {
        *self.end_state() == FeedEnd::Open
    }

    /// Returns true if the result of the run is known.
    pub(crate) fn has_result(&self) -> bool {
        matches!(*self.end_state(), FeedEnd::Ended(_))
    }

    /// Ends the streams of the run, which has this result; without one, it goes on in another
    /// process.
    pub(crate) fn end(&self, result: Option<Value>) {
        let mut end = self.end_state();
        match (&*end, result) {
            (FeedEnd::Ended(_), _) | (FeedEnd::Left, None) => {}
            (_, Some(result)) => *end = FeedEnd::Ended(result),
            (FeedEnd::Open, None) => *end = FeedEnd::Left,
        }
        drop(end);
        self.ended.notify_waiters();
        self.events.end();
    }

    /// Returns true if the streams here have ended, and the run has not.
    pub(crate) fn goes_on(&self) -> bool {
        *self.end_state() == FeedEnd::Left
    }

    /// Waits for the end, and returns the result; `None` if the run goes on in another process.
    pub(crate) async fn result(&self) -> Option<Value> {
        loop {
            // Before the look: an end in between wakes it.
            let ended = self.ended.notified();
            match &*self.end_state() {
                FeedEnd::Open => {}
                FeedEnd::Ended(result) => return Some(result.clone()),
                FeedEnd::Left => return None,
            }
            ended.await;
        }
    }
}

/// The feeds that a reader or a run holds.
#[derive(Debug, Default)]
pub(crate) struct Feeds(Mutex<FeedMap>);

#[derive(Debug, Default)]
struct FeedMap {
    feeds: BTreeMap<String, Weak<Feed>>,
    /// This process follows no run any more.
    has_left: bool,
}

impl Feeds {
    fn held(&self) -> MutexGuard<'_, FeedMap> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the feed of a run, if it is held.
    pub(crate) fn get(&self, run: &str) -> Option<Arc<Feed>> {
        self.held().feeds.get(run)?.upgrade()
    }

    /// Returns the feed of a run. A new one begins after that event.
    pub(crate) fn of(&self, run: &str, is_stored: bool, last: Option<&StreamEvent>) -> Arc<Feed> {
        let mut held = self.held();
        let has_left = held.has_left;
        let map = &mut held.feeds;
        if let Some(feed) = map.get(run).and_then(Weak::upgrade)
            && (feed.is_open() || has_left)
        {
            return feed;
        }
        if map.len() > 64 && map.len().is_power_of_two() {
            map.retain(|_, feed| feed.strong_count() > 0);
        }
        let feed = Arc::new(Feed::new(run, is_stored, last));
        if has_left {
            feed.end(None);
        }
        map.insert(run.to_owned(), Arc::downgrade(&feed));
        feed
    }

    /// Returns all feeds.
    pub(crate) fn all(&self) -> Vec<Arc<Feed>> {
        let held = self.held();
        held.feeds.values().filter_map(Weak::upgrade).collect()
    }

    /// Ends the streams of all runs, also those that begin later: the process stops, and another one has the runs.
    pub(crate) fn leave(&self) {
        self.held().has_left = true;
        for feed in self.all() {
            feed.end(None);
        }
    }
}
