//! The ingress of a Restate server.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use reqwest::{Response, StatusCode, Url};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tokio::time::{Instant, sleep};

use crate::{RemoteThread, RestateError, Tasks};

/// How long a call waits for a server that does not answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long a service may be missing. A server that has just started answers before it knows its services, and
/// one of several servers may know a new service only when it polls: every 10 s, unless its
/// `metadata-update-interval` says otherwise.
const UNKNOWN: Duration = Duration::from_secs(15);

/// How often it looks.
const PAUSE: Duration = Duration::from_millis(200);

/// A Restate server, by the address of its ingress.
///
/// Clones share their connections.
///
/// # Examples
///
/// ```no_run
/// use langgraph_restate::Restate;
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let anna = Restate::at("http://127.0.0.1:8080")?.thread("orders", "anna");
/// let state = anna.start(serde_json::json!({"item": "a book"})).await?;
/// if !state.is_done() {
///     println!("asks: {:?}", state.interrupts);
///     anna.answer(true).await?;
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Restate {
    http: reqwest::Client,
    ingress: Arc<Url>,
    patience: Duration,
}

impl Restate {
    /// Creates it for the address of an ingress. Nothing connects yet.
    ///
    /// # Errors
    ///
    /// [`RestateError::Address`].
    pub fn at(ingress: &str) -> Result<Self, RestateError> {
        let url = Url::parse(ingress)
            .ok()
            .filter(|url| !url.cannot_be_a_base());
        let address = || RestateError::Address {
            address: ingress.to_owned(),
        };
        Ok(Self {
            http: reqwest::Client::new(),
            ingress: Arc::new(url.ok_or_else(address)?),
            patience: PATIENCE,
        })
    }

    /// Sets how long a call tries to reach a server that does not answer, one minute unless set. A
    /// call that was accepted goes on meanwhile, and is not begun twice. For a service that the server does
    /// not know, a call waits that long too, but at most 15 seconds.
    #[must_use]
    pub fn patience(mut self, limit: Duration) -> Self {
        self.patience = limit;
        self
    }

    /// Returns a thread of a graph that an [`Endpoint`](crate::Endpoint) serves.
    pub fn thread(&self, graph: &str, id: &str) -> RemoteThread {
        RemoteThread::new(self.clone(), graph, id)
    }

    /// Returns the [executor](langgraph::executor::Executor) that gives tasks to Restate.
    pub fn tasks(&self) -> Tasks {
        Tasks::new(self.clone())
    }

    /// Calls a handler, and waits for its answer. The handler runs once for a key.
    pub(crate) async fn call<T: DeserializeOwned>(
        &self,
        path: &[&str],
        key: &str,
        body: Bytes,
    ) -> Result<T, RestateError> {
        let answer = self.post(path, key, body).await?;
        serde_json::from_slice(&answer).map_err(RestateError::json("the answer of Restate"))
    }

    /// Posts until the server has answered.
    pub(crate) async fn post(
        &self,
        path: &[&str],
        key: &str,
        body: Bytes,
    ) -> Result<Bytes, RestateError> {
        let mut url = Url::clone(&self.ingress);
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path);
        }
        let since = Instant::now();
        loop {
            let mut request = self.http.post(url.clone()).body(body.clone());
            if !body.is_empty() {
                request = request.header("content-type", "application/json");
            }
            if !key.is_empty() {
                request = request.header("idempotency-key", key);
            }
            match Self::answer(path, request.send().await).await {
                Answered::Yes(answer) => return answer,
                Answered::Unknown(failed) if since.elapsed() > UNKNOWN.min(self.patience) => {
                    return Err(failed);
                }
                Answered::No(source) if since.elapsed() > self.patience => {
                    let address = self.ingress.to_string();
                    return Err(RestateError::Unreachable { address, source });
                }
                Answered::Unknown(_) | Answered::No(_) => {}
            }
            sleep(PAUSE).await;
        }
    }

    async fn answer(path: &[&str], sent: Result<Response, reqwest::Error>) -> Answered {
        let response = match sent {
            Ok(response) => response,
            Err(error) => return Answered::No(error.into()),
        };
        let status = response.status();
        // An answer of the handler, or an error of Restate itself.
        let accepted = response.headers().contains_key("x-restate-id");
        let body = match response.bytes().await {
            Ok(body) => body,
            Err(error) => return Answered::No(error.into()),
        };
        if status.is_success() {
            return Answered::Yes(Ok(body));
        }
        let (message, by_ingress) = serde_json::from_slice(&body).map_or_else(
            |_| (String::from_utf8_lossy(&body).into_owned(), false),
            |Message { message, source }| (message, source == "ingress"),
        );
        if status.is_server_error() && !accepted {
            return Answered::No(format!("status {status}: {message}").into());
        }
        let failed = RestateError::Failed {
            target: path.join("/"),
            status: status.as_u16(),
            message,
        };
        if status == StatusCode::NOT_FOUND && by_ingress && !accepted {
            return Answered::Unknown(failed);
        }
        Answered::Yes(Err(failed))
    }
}

enum Answered {
    Yes(Result<Bytes, RestateError>),
    /// The ingress knows no such service.
    Unknown(RestateError),
    No(Box<dyn std::error::Error + Send + Sync>),
}

/// An error, as Restate writes it.
#[derive(Deserialize)]
struct Message {
    message: String,
    /// Which part of Restate says so.
    #[serde(default)]
    source: String,
}
