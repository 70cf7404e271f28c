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
    /// `None` while no worker has needed it.
    upload: Option<Upload>,
}

/// The upload of a large text.
#[derive(Clone)]
struct Upload {
    name: String,
    /// Set once it has ended.
    ended: Arc<OnceCell<()>>,
}

/// Snapshots by their ids, each as long as a task needs it.
#[derive(Default)]
pub(super) struct States {
    shared: BTreeMap<String, SharedState>,
    uploads: u64,
}

impl States {
    /// Counts one more task that needs the snapshot.
    pub(super) fn hold(&mut self, text: Arc<SnapshotText>) {
        let new = |text| SharedState {
            text,
            users: 0,
            upload: None,
        };
        match self.shared.get_mut(&text.id) {
            Some(known) => known.users += 1,
            None => {
                self.shared
                    .entry(text.id.clone())
                    .or_insert(new(text))
                    .users += 1;
            }
        }
    }

    /// Counts one less.
    pub(super) fn release(&mut self, id: &str, objects: &Objects) {
        let Some(state) = self.shared.get_mut(id) else {
            return;
        };
        state.users -= 1;
        if state.users > 0 {
            return;
        }
        let Some(Upload { name, ended }) = self.shared.remove(id).and_then(|state| state.upload)
        else {
            return;
        };
        let objects = objects.clone();
        tokio::spawn(async move {
            // An upload in flight ends first; one that has not begun never does.
            let uploaded = ended.get_or_try_init(|| std::future::ready(Err(())));
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
        let Some(state) = self.shared.get_mut(id) else {
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
        let upload = state.upload.get_or_insert_with(|| {
            self.uploads += 1;
            Upload {
                name: Objects::state(id, self.uploads),
                ended: Arc::default(),
            }
        });
        let Upload { name, ended } = upload.clone();
        let (link, objects) = (Arc::clone(link), objects.clone());
        let text = Arc::clone(&state.text);
        tokio::spawn(async move {
            // Workers that ask while the text is uploaded wait for the same upload.
            let put = || objects.put(name.clone(), text.text.clone().into());
            let answer = async {
                ended.get_or_try_init(put).await?;
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)] // a test fails by panicking

    use std::sync::Mutex;
    use std::time::Duration;

    use bytes::Bytes;
    use langgraph::executor::{Executor, Running, TaskCall};
    use langgraph::prelude::*;
    use tokio::sync::mpsc;
    use tokio::time::sleep;

    use super::*;
    use crate::link::{LinkFuture, Packet};
    use crate::protocol::decode;

    /// Keeps values, and deletes them late.
    #[derive(Debug)]
    struct Late {
        sent: mpsc::UnboundedSender<Bytes>,
        values: Mutex<BTreeMap<String, Bytes>>,
    }

    impl Link for Late {
        fn send(&self, _: String, _: Option<String>, payload: Bytes) -> LinkFuture<'_, ()> {
            self.sent.send(payload).unwrap();
            Box::pin(async { Ok(()) })
        }

        fn listen(&self, _: String) -> LinkFuture<'_, mpsc::Receiver<Packet>> {
            Box::pin(async { Err(QueueError::Ended) })
        }

        fn limit(&self) -> usize {
            1
        }

        fn put<'a>(&'a self, _: &'a str, name: String, value: Bytes) -> LinkFuture<'a, ()> {
            self.values.lock().unwrap().insert(name, value);
            Box::pin(async { Ok(()) })
        }

        fn get<'a>(&'a self, _: &'a str, name: String) -> LinkFuture<'a, Bytes> {
            let value = self.values.lock().unwrap().get(&name).cloned();
            Box::pin(async { value.ok_or(QueueError::Ended) })
        }

        fn delete<'a>(&'a self, _: &'a str, name: String) -> LinkFuture<'a, ()> {
            Box::pin(async move {
                sleep(Duration::from_secs(1)).await;
                self.values.lock().unwrap().remove(&name);
                Ok(())
            })
        }
    }

    /// Takes the snapshot of a task, and does not run it.
    struct Taker(mpsc::UnboundedSender<Arc<SnapshotText>>);

    impl Executor for Taker {
        fn run<'a>(&'a self, task: TaskCall<'a>) -> Running<'a> {
            self.0.send(task.snapshot().unwrap()).unwrap();
            Box::pin(async { Err(NodeError::msg("it does not run")) })
        }
    }

    async fn snapshot() -> Arc<SnapshotText> {
        let (taker, mut taken) = mpsc::unbounded_channel();
        let mut graph = StateGraph::<i64>::new();
        graph
            .add_node("work", (|n: &i64| *n).anywhere())
            .add_sequence(&["work"]);
        let graph = graph.compile().unwrap().executor(Taker(taker));
        graph.run(7).await.unwrap_err();
        taken.recv().await.unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn a_state_that_is_needed_again_outlives_the_deletion_of_its_last_upload() {
        let (sent, mut answers) = mpsc::unbounded_channel();
        let values = Mutex::default();
        let link: Arc<dyn Link> = Arc::new(Late { sent, values });
        let objects = Objects::new(Arc::clone(&link), "queue");
        let (text, mut states) = (snapshot().await, States::default());
        // A task needs it, and no other one until that has ended.
        for _ in 0..2 {
            states.hold(Arc::clone(&text));
            let asked = states.answer(&text.id, "worker".to_owned(), &link, &objects);
            assert!(asked.await.unwrap());
            let answer = decode(&answers.recv().await.unwrap()).unwrap();
            let SnapshotAnswer::Stored(name) = answer else {
                panic!("it fits into a message");
            };
            sleep(Duration::from_millis(1_500)).await;
            assert_eq!(objects.get(name).await.unwrap(), text.text);
            states.release(&text.id, &objects);
        }
        sleep(Duration::from_secs(2)).await;
        assert!(states.shared.is_empty());
    }
}
