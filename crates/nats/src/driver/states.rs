//! The snapshots that tasks in flight need.

use std::collections::BTreeMap;
use std::sync::Arc;

use langgraph::executor::SnapshotText;
use tokio::sync::OnceCell;

use crate::QueueError;
use crate::link::Link;
use crate::objects::Objects;
use crate::protocol::{SnapshotAnswer, encode};

struct SharedState {
    text: Arc<SnapshotText>,
    users: usize,
    /// Set once the upload of a large text has ended; `None` while no worker has needed it.
    upload: Option<Arc<OnceCell<()>>>,
}

/// Snapshots by their ids, each as long as a task needs it.
#[derive(Default)]
pub(super) struct States(BTreeMap<String, SharedState>);

impl States {
    /// Counts one more task that needs the snapshot.
    pub(super) fn hold(&mut self, text: Arc<SnapshotText>) {
        let new = |text| SharedState {
            text,
            users: 0,
            upload: None,
        };
        match self.0.get_mut(&text.id) {
            Some(known) => known.users += 1,
            None => self.0.entry(text.id.clone()).or_insert(new(text)).users += 1,
        }
    }

    /// Counts one less.
    pub(super) fn release(&mut self, id: &str, objects: &Objects) {
        let Some(state) = self.0.get_mut(id) else {
            return;
        };
        state.users -= 1;
        if state.users > 0 {
            return;
        }
        let Some(upload) = self.0.remove(id).and_then(|state| state.upload) else {
            return;
        };
        let (objects, name) = (objects.clone(), Objects::state(id));
        tokio::spawn(async move {
            // An upload in flight ends first; one that has not begun never does.
            let uploaded = upload.get_or_try_init(|| std::future::ready(Err(())));
            if uploaded.await.is_ok() {
                objects.discard(name);
            }
        });
    }

    /// Sends a snapshot to a worker, or stores it and sends its name. Returns false if no task needs it.
    pub(super) async fn answer(
        &mut self,
        id: &str,
        reply: String,
        link: &Arc<dyn Link>,
        objects: &Objects,
    ) -> Result<bool, QueueError> {
        let Some(state) = self.0.get_mut(id) else {
            link.send(reply, None, encode(&SnapshotAnswer::Gone)?)
                .await?;
            return Ok(false);
        };
        if state.upload.is_none() {
            let text = encode(&SnapshotAnswer::Text(state.text.text.clone()))?;
            if text.len() < link.limit() {
                link.send(reply, None, text).await?;
                return Ok(true);
            }
        }
        let upload = Arc::clone(state.upload.get_or_insert_default());
        let (link, objects) = (Arc::clone(link), objects.clone());
        let (name, text) = (Objects::state(id), Arc::clone(&state.text));
        tokio::spawn(async move {
            // Workers that ask while the text is uploaded wait for the same upload.
            let put = || objects.put(name.clone(), text.text.clone().into());
            let answer = async {
                upload.get_or_try_init(put).await?;
                let stored = SnapshotAnswer::Stored(name.clone());
                link.send(reply, None, encode(&stored)?).await
            };
            if let Err(error) = answer.await {
                tracing::error!(%error, "failed to send a state to a worker");
            }
        });
        Ok(true)
    }
}
