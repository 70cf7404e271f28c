//! The followers of a task.

use std::sync::Arc;

use a2a::StreamResponse;
use futures_util::stream::{self, BoxStream};

use super::{Entry, rests};

impl Entry {
    /// Follows the task until it rests: the task as it is now, then its events.
    pub(crate) fn follow(self: &Arc<Self>) -> BoxStream<'static, StreamResponse> {
        let (task, position) = self.position(None, true);
        let ended = task.status.state.is_terminal();
        let events = self.events(position, ended);
        Box::pin(futures_util::StreamExt::chain(
            stream::iter([StreamResponse::Task(task)]),
            events,
        ))
    }

    /// Follows the task from an event on, until it rests.
    fn events(
        self: &Arc<Self>,
        position: usize,
        ended: bool,
    ) -> BoxStream<'static, StreamResponse> {
        let state = (Arc::clone(self), self.changed.subscribe(), position, ended);
        Box::pin(stream::unfold(
            state,
            |(entry, mut changed, position, ended)| async move {
                if ended {
                    return None;
                }
                // The entry holds the sender, so this waits as long as it must.
                changed.wait_for(|events| *events > position).await.ok()?;
                let event = entry.inner().events.get(position).cloned()?;
                let ended = matches!(&event, StreamResponse::StatusUpdate(update)
                if rests(&update.status.state));
                Some((event, (entry, changed, position + 1, ended)))
            },
        ))
    }

    /// Waits until the task rests.
    pub(crate) async fn rest(&self) {
        let mut changed = self.changed.subscribe();
        loop {
            changed.borrow_and_update();
            if rests(&self.state()) {
                return;
            }
            if changed.changed().await.is_err() {
                return;
            }
        }
    }

    /// Returns the next event of a follower who stays until the very end: a webhook.
    pub(crate) async fn event(&self, position: usize) -> Option<StreamResponse> {
        let mut changed = self.changed.subscribe();
        loop {
            changed.borrow_and_update();
            {
                let inner = self.inner();
                if let Some(event) = inner.events.get(position) {
                    return Some(event.clone());
                }
                if inner.status.state.is_terminal() {
                    return None;
                }
            }
            changed.changed().await.ok()?;
        }
    }
}
