//! The connection to a server.

use std::fmt;
use std::time::Duration;

use reqwest::header::{HeaderMap, HeaderValue, LOCATION};
use reqwest::redirect::Policy;
use reqwest::{Method, RequestBuilder, Response, Url};
use serde_json::Value;

use crate::ClientError;
use crate::attempts::{ATTEMPTS, pause};

/// The most redirects of one call.
const REDIRECTS: usize = 5;

/// A client of a server. Cheap to clone.
///
/// A call fails after one minute, and a stream comes again after 45 seconds without a byte; see
/// [`timeout`](Self::timeout) and [`idle_timeout`](Self::idle_timeout). It follows no redirect to another
/// host, so the key stays with the server that it is for.
#[derive(Clone)]
pub struct Client {
    http: reqwest::Client,
    url: String,
    key: Option<HeaderValue>,
    timeout: Duration,
    idle_timeout: Duration,
}

impl Client {
    /// Creates a client for the server at that address.
    ///
    /// # Errors
    ///
    /// [`ClientError::Address`].
    pub fn new(url: &str) -> Result<Self, ClientError> {
        let parsed = Url::parse(url).map_err(|_| ClientError::Address(url.to_owned()))?;
        if !matches!(parsed.scheme(), "http" | "https") {
            return Err(ClientError::Address(url.to_owned()));
        }
        let origin = parsed.origin();
        let redirects = Policy::custom(move |attempt| {
            if attempt.url().origin() != origin {
                attempt.error("a redirect to another host")
            } else if attempt.previous().len() > REDIRECTS {
                attempt.error("too many redirects")
            } else {
                attempt.follow()
            }
        });
        let http = reqwest::Client::builder()
            .redirect(redirects)
            .connect_timeout(Duration::from_secs(10))
            .tcp_keepalive(Duration::from_secs(15))
            .build()?;
        Ok(Self {
            http,
            url: url.trim_end_matches('/').to_owned(),
            key: None,
            timeout: Duration::from_secs(60),
            idle_timeout: Duration::from_secs(45),
        })
    }

    /// Sends a key with every request, as `X-Api-Key`. A key that no header can hold is not sent.
    #[must_use]
    pub fn api_key(mut self, key: &str) -> Self {
        self.key = HeaderValue::from_str(key).ok().map(|mut key| {
            key.set_sensitive(true);
            key
        });
        self
    }

    /// Limits the time of a call, and the time until a stream begins; one minute unless set. Calls that wait
    /// for the end of a run have no limit.
    #[must_use]
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.timeout = limit;
        self
    }

    /// Sets after how long without a byte a stream counts as broken; 45 seconds unless set. Servers send a
    /// heartbeat every 15 seconds.
    #[must_use]
    pub fn idle_timeout(mut self, limit: Duration) -> Self {
        self.idle_timeout = limit;
        self
    }

    pub(crate) fn idle(&self) -> Duration {
        self.idle_timeout
    }

    /// Returns the path of an address at this server; `None` for one at another server.
    pub(crate) fn path_of(&self, location: &str) -> Option<String> {
        let path = location.strip_prefix(&self.url).unwrap_or(location);
        path.starts_with('/').then(|| path.to_owned())
    }

    fn request(
        &self,
        method: Method,
        path: &str,
        headers: HeaderMap,
        body: Option<&Value>,
    ) -> RequestBuilder {
        let mut request = self.http.request(method, format!("{}{path}", self.url));
        request = request.headers(headers);
        if let Some(key) = &self.key {
            request = request.header("x-api-key", key.clone());
        }
        match body {
            Some(body) => request.json(body),
            None => request,
        }
    }

    /// Begins a stream; returns its answer if the status is one of success.
    pub(crate) async fn open(
        &self,
        method: Method,
        path: &str,
        headers: HeaderMap,
        body: Option<&Value>,
    ) -> Result<Response, ClientError> {
        let sent = self.request(method, path, headers, body).send();
        match tokio::time::timeout(self.timeout, sent).await {
            Ok(answer) => accepted(answer?).await,
            Err(_) => Err(ClientError::timed_out(self.timeout)),
        }
    }

    /// Sends a request, and returns the JSON of the answer; null without one.
    pub(crate) async fn call(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Value, ClientError> {
        let answer = self.call_and_wait(method, path, body);
        match tokio::time::timeout(self.timeout, answer).await {
            Ok(answer) => answer,
            Err(_) => Err(ClientError::timed_out(self.timeout)),
        }
    }

    /// As [`call`](Self::call), for calls that wait for the end of a run.
    pub(crate) async fn call_and_wait(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Value, ClientError> {
        let sent = self.request(method, path, HeaderMap::new(), body).send();
        value(sent.await?).await
    }

    /// Starts a run, and waits for its end. A run that goes on when the connection breaks, or the server stops, is joined.
    pub(crate) async fn run_and_wait(
        &self,
        path: &str,
        body: &Value,
    ) -> Result<Value, ClientError> {
        let sent = self.request(Method::POST, path, HeaderMap::new(), Some(body));
        let answer = sent.send().await?;
        let place = answer.headers().get(LOCATION);
        let place = place.and_then(|place| self.path_of(place.to_str().ok()?));
        let goes_on = body["on_disconnect"] != "cancel";
        match (value(answer).await, place) {
            (Err(error), Some(place))
                if goes_on && error.may_work_later() && place.ends_with("/join") =>
            {
                self.join_at(&place).await
            }
            (values, _) => values,
        }
    }

    /// Waits for the end of a run. If the connection breaks, or the server stops, it asks again, a few times.
    pub(crate) async fn join_at(&self, path: &str) -> Result<Value, ClientError> {
        for failures in 0..ATTEMPTS {
            match self.call_and_wait(Method::GET, path, None).await {
                Err(error) if error.may_work_later() => {
                    tokio::time::sleep(pause(failures)).await;
                }
                answer => return answer,
            }
        }
        self.call_and_wait(Method::GET, path, None).await
    }
}

/// Returns the JSON of an answer; null without one.
async fn value(answer: Response) -> Result<Value, ClientError> {
    let bytes = accepted(answer).await?.bytes().await?;
    if bytes.trim_ascii().is_empty() {
        return Ok(Value::Null);
    }
    serde_json::from_slice(&bytes).map_err(|error| ClientError::Unreadable(Box::new(error)))
}

/// Returns an answer whose status is one of success.
async fn accepted(answer: Response) -> Result<Response, ClientError> {
    let status = answer.status();
    if status.is_success() {
        return Ok(answer);
    }
    let text = answer.text().await.unwrap_or_default();
    let detail = serde_json::from_str::<Value>(&text).ok();
    let detail = detail.and_then(|detail| Some(detail["detail"].as_str()?.to_owned()));
    Err(ClientError::Refused {
        status: status.as_u16(),
        detail: detail.unwrap_or(text),
    })
}

/// Shows no key.
impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("has_key", &self.key.is_some())
            .finish_non_exhaustive()
    }
}
