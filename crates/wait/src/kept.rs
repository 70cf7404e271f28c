//! Events that came before a node waited for them.
//!
//! They are in a log of their own, which is part of the thread: it is copied and deleted with it. An event
//! is first given to one interrupt, and then answers it. So a program that dies in between gives it to the
//! same interrupt again, and to no other.

use std::collections::BTreeMap;

use langgraph::checkpoint::{Batch, CheckpointRecord, Checkpointer, Head, ThreadKey};
use langgraph::error::CheckpointError;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::wait::Wait;

/// The key of the log.
const LOG: &str = "langgraph-wait";

/// The metadata of its records.
const EVENTS: &str = "events";

/// A kept event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct KeptEvent {
    name: String,
    payload: Value,
    /// The interrupt that it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    answers: Option<String>,
}

/// The kept events of a thread.
pub(crate) struct KeptEvents<'a> {
    saver: &'a dyn Checkpointer,
    key: ThreadKey,
}

impl<'a> KeptEvents<'a> {
    pub(crate) fn of(saver: &'a dyn Checkpointer, thread: &str) -> Self {
        let key = ThreadKey::per_thread(thread, LOG);
        Self { saver, key }
    }

    /// Keeps an event.
    pub(crate) async fn add(&self, name: &str, payload: &Value) -> Result<(), CheckpointError> {
        self.change(|events| {
            events.push(KeptEvent {
                name: name.to_owned(),
                payload: payload.clone(),
                answers: None,
            });
            true
        })
        .await
    }

    /// Gives kept events to the waits that take them, oldest first. Returns the answers, by interrupt.
    pub(crate) async fn give(
        &self,
        waits: &[Wait],
    ) -> Result<Vec<(String, Value)>, CheckpointError> {
        let mut answers = Vec::new();
        if self.saver.head(&self.key).await?.is_none() {
            return Ok(answers);
        }
        self.change(|events| {
            answers.clear();
            let before = events.clone();
            let is_open = |id: &String| waits.iter().any(|wait| wait.interrupt == *id);
            events.retain(|event| event.answers.as_ref().is_none_or(is_open));
            for wait in waits {
                let given =
                    |event: &&mut KeptEvent| event.answers.as_ref() == Some(&wait.interrupt);
                let free =
                    |event: &&mut KeptEvent| event.answers.is_none() && wait.takes(&event.name);
                let known = events.iter_mut().find(given).is_some();
                let event = if known {
                    events.iter_mut().find(given)
                } else {
                    events.iter_mut().find(free)
                };
                if let Some(event) = event {
                    event.answers = Some(wait.interrupt.clone());
                    let answer = wait.answer_with(&event.name, event.payload.clone());
                    answers.push((wait.interrupt.clone(), answer));
                }
            }
            *events != before
        })
        .await?;
        Ok(answers)
    }

    /// Changes the list, and stores it if `change` says so.
    async fn change(
        &self,
        mut change: impl FnMut(&mut Vec<KeptEvent>) -> bool + Send,
    ) -> Result<(), CheckpointError> {
        loop {
            let (head, mut events) = self.read().await?;
            if !change(&mut events) {
                return Ok(());
            }
            match self.saver.put(&self.key, batch(head, &events)?).await {
                // Another program was faster.
                Err(CheckpointError::Conflict { .. }) => {}
                result => return result,
            }
        }
    }

    async fn read(&self) -> Result<(Option<Head>, Vec<KeptEvent>), CheckpointError> {
        let Some(position) = self.saver.load_state(&self.key, None, &mut |_| ()).await? else {
            return Ok((None, Vec::new()));
        };
        let stored = position.checkpoint.map(|stored| stored.checkpoint.metadata);
        let events = stored.and_then(|metadata| metadata.get(EVENTS).cloned());
        let events = match events {
            Some(events) => serde_json::from_value(events).map_err(CheckpointError::storage)?,
            None => Vec::new(),
        };
        Ok((Some(position.head), events))
    }
}

fn batch(head: Option<Head>, events: &[KeptEvent]) -> Result<Batch, CheckpointError> {
    let previous = head.map(|head| head.id);
    let events = serde_json::to_value(events).map_err(CheckpointError::storage)?;
    let metadata = BTreeMap::from([(EVENTS.to_owned(), events)]);
    let record = CheckpointRecord::of_metadata(previous, metadata);
    Ok(Batch {
        head,
        checkpoints: vec![record],
        ..Batch::default()
    })
}
