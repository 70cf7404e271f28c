//! A thread, for its clients.

use std::collections::BTreeMap;

use bytes::Bytes;
use serde::Serialize;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::service::name_of;
use crate::{Restate, RestateError, ThreadState};

/// A thread on Restate; [`Restate::thread`] creates it.
///
/// Calls of one thread queue up: Restate lets one after the other onto it. A call that was accepted
/// runs to its end, whatever happens to the caller; [`state`](Self::state) reads at any time.
///
/// Any other HTTP client can do the same: each method posts to the handler of its name.
#[derive(Clone, Debug)]
pub struct RemoteThread {
    restate: Restate,
    service: String,
    id: String,
}

impl RemoteThread {
    pub(crate) fn new(restate: Restate, graph: &str, id: &str) -> Self {
        Self {
            restate,
            service: name_of(graph),
            id: id.to_owned(),
        }
    }

    /// Returns the name of the thread.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Runs the graph on an input, until it is done or waits.
    ///
    /// # Errors
    ///
    /// [`RestateError::Failed`] if the run has failed, with the status of the error's
    /// [kind](langgraph::error::ErrorKind::http_status).
    pub async fn start(&self, input: impl Serialize) -> Result<ThreadState, RestateError> {
        self.call("start", input).await
    }

    /// Starts a run, and returns when Restate has taken it.
    ///
    /// # Errors
    ///
    /// [`RestateError::Unreachable`].
    pub async fn submit(&self, input: impl Serialize) -> Result<(), RestateError> {
        let path = [&*self.service, &*self.id, "start", "send"];
        let body = body(&input)?;
        self.restate.post(&path, &key(), body).await?;
        Ok(())
    }

    /// Answers the only open interrupt, and goes on.
    ///
    /// # Errors
    ///
    /// As [`start`](Self::start).
    pub async fn answer(&self, answer: impl Serialize) -> Result<ThreadState, RestateError> {
        self.call("answer", answer).await
    }

    /// Answers several interrupts, by key or id, and goes on.
    ///
    /// # Errors
    ///
    /// As [`start`](Self::start).
    pub async fn resume<K: Into<String>>(
        &self,
        answers: impl IntoIterator<Item = (K, impl Serialize)>,
    ) -> Result<ThreadState, RestateError> {
        let mut all = BTreeMap::new();
        for (key, answer) in answers {
            let answer = serde_json::to_value(answer).map_err(RestateError::json("an answer"))?;
            all.insert(key.into(), answer);
        }
        self.call("resume", all).await
    }

    /// Goes on where the thread stands: after a breakpoint, a failure or a cancellation.
    ///
    /// # Errors
    ///
    /// As [`start`](Self::start).
    pub async fn proceed(&self) -> Result<ThreadState, RestateError> {
        self.call("proceed", Value::Null).await
    }

    /// Reports an event to nodes that wait for it
    /// ([`wait_for`](langgraph_wait::WaitExt::wait_for)).
    ///
    /// # Errors
    ///
    /// As [`start`](Self::start).
    pub async fn signal(
        &self,
        event: &str,
        payload: impl Serialize,
    ) -> Result<ThreadState, RestateError> {
        let payload = serde_json::to_value(payload).map_err(RestateError::json("an event"))?;
        self.call("signal", json!({"event": event, "payload": payload}))
            .await
    }

    /// Cancels the run that is under way. Returns false if there is none.
    ///
    /// # Errors
    ///
    /// [`RestateError::Unreachable`].
    pub async fn cancel(&self) -> Result<bool, RestateError> {
        self.shared("cancel").await
    }

    /// Returns how the thread stands; `None` if there is none of that name. While a run is under way,
    /// that is what it has stored.
    ///
    /// # Errors
    ///
    /// [`RestateError::Unreachable`].
    pub async fn state(&self) -> Result<Option<ThreadState>, RestateError> {
        self.shared("state").await
    }

    async fn shared<T: serde::de::DeserializeOwned>(
        &self,
        handler: &str,
    ) -> Result<T, RestateError> {
        let path = [&*self.service, &*self.id, handler];
        self.restate.call(&path, "", Bytes::new()).await
    }

    async fn call(
        &self,
        handler: &str,
        given: impl Serialize,
    ) -> Result<ThreadState, RestateError> {
        let path = [&*self.service, &*self.id, handler];
        self.restate.call(&path, &key(), body(&given)?).await
    }
}

fn key() -> String {
    Uuid::new_v4().to_string()
}

fn body(given: &impl Serialize) -> Result<Bytes, RestateError> {
    let body = serde_json::to_vec(given).map_err(RestateError::json("what a thread is given"))?;
    Ok(body.into())
}
