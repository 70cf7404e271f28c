//! Streams of threads that wait for the next run.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use tokio::sync::broadcast::{self, error::RecvError};

/// It wakes its receivers in their order, which a simulation can repeat. A `watch` does so in a random one.
type Sender = broadcast::Sender<()>;

/// The threads whose streams wait. A signal wakes those of its thread, and no others.
#[derive(Debug, Default)]
pub(crate) struct Watchers(Mutex<BTreeMap<String, Weak<Sender>>>);

/// Learns that a thread may have another run.
#[derive(Debug)]
pub(crate) struct Watcher {
    changes: broadcast::Receiver<()>,
    /// As long as it is held, the thread is watched.
    _sender: Arc<Sender>,
}

impl Watchers {
    fn map(&self) -> MutexGuard<'_, BTreeMap<String, Weak<Sender>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn of(&self, thread: &str) -> Watcher {
        let mut map = self.map();
        if map.len() > 64 && map.len().is_power_of_two() {
            map.retain(|_, sender| sender.strong_count() > 0);
        }
        let sender = map.get(thread).and_then(Weak::upgrade);
        let sender = sender.unwrap_or_else(|| {
            let sender = Arc::new(Sender::new(1));
            map.insert(thread.to_owned(), Arc::downgrade(&sender));
            sender
        });
        Watcher {
            changes: sender.subscribe(),
            _sender: sender,
        }
    }

    /// Wakes the streams of a thread.
    pub(super) fn wake(&self, thread: &str) {
        let sender = self.map().get(thread).and_then(Weak::upgrade);
        if let Some(sender) = sender {
            // It fails without a receiver, when the last stream has just ended.
            let _ = sender.send(());
        }
    }

    /// Wakes all streams: signals may be lost.
    pub(super) fn wake_all(&self) {
        let senders: Vec<_> = self.map().values().filter_map(Weak::upgrade).collect();
        for sender in senders {
            let _ = sender.send(());
        }
    }
}

impl Watcher {
    /// Waits until the thread may have another run.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: a change since the last call is not lost.
    pub(crate) async fn changed(&mut self) {
        // Behind those that were missed comes the last one. The sender is held here.
        while let Err(RecvError::Lagged(_)) = self.changes.recv().await {}
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_signal_wakes_the_streams_of_its_thread_and_no_others() {
        let watchers = Watchers::default();
        let (mut one, mut same, mut other) = (watchers.of("a"), watchers.of("a"), watchers.of("b"));
        watchers.wake("a");
        watchers.wake("a");
        watchers.wake("c");
        one.changed().await;
        same.changed().await;
        let wait = Duration::from_secs(60);
        assert!(tokio::time::timeout(wait, other.changed()).await.is_err());
        assert!(tokio::time::timeout(wait, one.changed()).await.is_err());
        watchers.wake_all();
        other.changed().await;
        drop((one, same, other));
        assert!(
            watchers
                .map()
                .values()
                .all(|sender| sender.strong_count() == 0)
        );
    }
}
