//! The events of a run, as its clients in this process see them.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use serde_json::Value;
use tokio::sync::watch;

use super::frame::Frame;

/// The events of a run so far, shared by all of its streams. A slow stream holds no copy of them.
#[derive(Debug)]
pub(crate) struct Feed {
    pub(crate) run: String,
    /// Events have ids: they are stored, and can be replayed.
    pub(crate) resumable: bool,
    /// This process carries out the run; else the events come from the database.
    local: AtomicBool,
    frames: Mutex<Vec<Arc<Frame>>>,
    /// How many frames there are, and whether more may come.
    state: watch::Sender<(usize, bool)>,
    result: Mutex<Option<Value>>,
    /// One task at a time reads the database.
    pub(super) reading: tokio::sync::Mutex<()>,
}

impl Feed {
    fn new(run: &str, resumable: bool) -> Self {
        Self {
            run: run.to_owned(),
            resumable,
            local: AtomicBool::new(false),
            frames: Mutex::default(),
            state: watch::Sender::new((0, true)),
            result: Mutex::default(),
            reading: tokio::sync::Mutex::default(),
        }
    }

    fn frames(&self) -> MutexGuard<'_, Vec<Arc<Frame>>> {
        self.frames.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds events, which get the next numbers.
    pub(crate) fn push(&self, added: impl IntoIterator<Item = Frame>) {
        let mut frames = self.frames();
        for mut frame in added {
            frame.seq = i64::try_from(frames.len()).unwrap_or(i64::MAX);
            frames.push(Arc::new(frame));
        }
        self.state.send_modify(|state| state.0 = frames.len());
    }

    /// Adds the events of the database behind those that are here.
    pub(crate) fn extend(&self, stored: Vec<Frame>) {
        let mut frames = self.frames();
        for frame in stored {
            if usize::try_from(frame.seq).is_ok_and(|number| number == frames.len()) {
                frames.push(Arc::new(frame));
            }
        }
        self.state.send_modify(|state| state.0 = frames.len());
    }

    pub(crate) fn len(&self) -> usize {
        self.frames().len()
    }

    /// Returns true if the end of the run has been told.
    pub(super) fn has_ended(&self) -> bool {
        self.frames().last().is_some_and(|last| last.is_hidden())
    }

    pub(crate) fn is_local(&self) -> bool {
        self.local.load(Ordering::Acquire)
    }

    pub(super) fn set_local(&self, local: bool) {
        self.local.store(local, Ordering::Release);
    }

    pub(crate) fn is_open(&self) -> bool {
        self.state.borrow().1
    }

    /// Sets the result, and ends the streams of the run.
    pub(crate) fn end(&self, result: Option<Value>) {
        let mut known = self.result.lock().unwrap_or_else(PoisonError::into_inner);
        if known.is_none() {
            *known = result;
        }
        drop(known);
        self.state.send_modify(|state| state.1 = false);
    }

    /// Returns the event of that number; waits for it. `None` if the run ends before.
    pub(crate) async fn wait_for(&self, index: usize) -> Option<Arc<Frame>> {
        let mut state = self.state.subscribe();
        let reached = state.wait_for(|(len, open)| *len > index || !open);
        // What it returns holds the lock of the state, which `push` waits for with that of the
        // frames: it must not live any longer than this line.
        let reached = reached.await.is_ok();
        self.frames().get(index).filter(|_| reached).cloned()
    }

    /// Returns true if the streams here have ended, and the run has not.
    pub(crate) fn goes_on(&self) -> bool {
        let result = self.result.lock().unwrap_or_else(PoisonError::into_inner);
        result.is_none() && !self.is_open()
    }

    /// Waits for the end, and returns the result; `None` if the run goes on elsewhere.
    pub(crate) async fn result(&self) -> Option<Value> {
        let mut state = self.state.subscribe();
        let _ = state.wait_for(|(_, open)| !open).await;
        let result = self.result.lock().unwrap_or_else(PoisonError::into_inner);
        result.clone()
    }
}

/// The feeds that somebody holds.
#[derive(Debug, Default)]
pub(crate) struct Feeds(Mutex<HashMap<String, Weak<Feed>>>);

impl Feeds {
    fn map(&self) -> MutexGuard<'_, HashMap<String, Weak<Feed>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the feed of a run, if somebody holds it.
    pub(crate) fn get(&self, run: &str) -> Option<Arc<Feed>> {
        self.map().get(run)?.upgrade()
    }

    /// Returns the feed of a run. A new one is empty.
    pub(crate) fn of(&self, run: &str, resumable: bool) -> Arc<Feed> {
        let mut map = self.map();
        if let Some(feed) = map.get(run).and_then(Weak::upgrade)
            && feed.is_open()
        {
            return feed;
        }
        // Those that nobody holds go away some time.
        if map.len() > 64 && map.len().is_power_of_two() {
            map.retain(|_, feed| feed.strong_count() > 0);
        }
        let feed = Arc::new(Feed::new(run, resumable));
        map.insert(run.to_owned(), Arc::downgrade(&feed));
        feed
    }

    /// Returns all feeds.
    pub(crate) fn all(&self) -> Vec<Arc<Feed>> {
        self.map().values().filter_map(Weak::upgrade).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use serde_json::json;

    use super::*;

    #[test]
    fn events_come_in_while_a_stream_takes_them_out() {
        const EVENTS: usize = 100_000;
        let (ended, has_ended) = channel();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread();
            let runtime = { runtime }.worker_threads(2).build().unwrap();
            let feed = Arc::new(Feed::new("run", false));
            let pushes = runtime.spawn({
                let feed = Arc::clone(&feed);
                async move {
                    for number in 0..EVENTS {
                        feed.push([Frame::new("custom", "custom", &json!(number))]);
                    }
                }
            });
            runtime.block_on(async {
                for number in 0..EVENTS {
                    feed.wait_for(number).await.unwrap();
                }
                pushes.await.unwrap();
            });
            ended.send(()).unwrap();
        });
        // The threads of a deadlock stay; the test ends without them.
        has_ended.recv_timeout(Duration::from_secs(30)).unwrap();
    }
}
