//! The snapshots that tasks under way need.

use std::collections::BTreeMap;
use std::sync::Arc;

use langgraph::executor::SnapshotText;

use crate::QueueError;
use crate::link::Link;
use crate::protocol::{SnapshotAnswer, encode};

struct State {
    text: Arc<SnapshotText>,
    users: usize,
    stored: bool,
}

/// Snapshots by their ids, each as long as a task needs it.
#[derive(Default)]
pub(super) struct States(BTreeMap<String, State>);

impl States {
    /// Counts one more task that needs the snapshot.
    pub(super) fn hold(&mut self, text: Arc<SnapshotText>) {
        let new = |text| State {
            text,
            users: 0,
            stored: false,
        };
        match self.0.get_mut(&text.id) {
            Some(known) => known.users += 1,
            None => self.0.entry(text.id.clone()).or_insert(new(text)).users += 1,
        }
    }

    /// Counts one less.
    pub(super) fn release(&mut self, id: &str, link: &Arc<dyn Link>) {
        let Some(state) = self.0.get_mut(id) else {
            return;
        };
        state.users -= 1;
        if state.users > 0 {
            return;
        }
        if self.0.remove(id).is_some_and(|state| state.stored) {
            let (link, name) = (Arc::clone(link), format!("state-{id}"));
            tokio::spawn(async move { link.delete(name).await });
        }
    }

    /// Sends a snapshot to a worker, or stores it for the worker. Returns false if no task needs it.
    pub(super) async fn answer(
        &mut self,
        id: &str,
        reply: String,
        link: &Arc<dyn Link>,
    ) -> Result<bool, QueueError> {
        let Some(state) = self.0.get_mut(id) else {
            link.send(reply, None, encode(&SnapshotAnswer::Gone)?)
                .await?;
            return Ok(false);
        };
        let name = format!("state-{id}");
        if !state.stored {
            let text = encode(&SnapshotAnswer::Text(state.text.text.clone()))?;
            if text.len() < link.limit() {
                link.send(reply, None, text).await?;
                return Ok(true);
            }
        }
        let stored = std::mem::replace(&mut state.stored, true);
        let (link, text) = (Arc::clone(link), Arc::clone(&state.text));
        tokio::spawn(async move {
            let answer = async {
                if !stored {
                    link.put(name.clone(), text.text.clone().into()).await?;
                }
                link.send(reply, None, encode(&SnapshotAnswer::Stored(name))?)
                    .await
            };
            if let Err(error) = answer.await {
                tracing::error!(%error, "a state does not reach a worker");
            }
        });
        Ok(true)
    }
}
