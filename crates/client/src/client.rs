//! The connection to a server.

use std::fmt;

use reqwest::header::{HeaderMap, HeaderValue};
use reqwest::{Method, Response, Url};
use serde_json::Value;

use crate::ClientError;

/// A client of a server. Cheap to clone.
#[derive(Clone)]
pub struct Client {
    http: reqwest::Client,
    url: String,
    key: Option<HeaderValue>,
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
        Ok(Self {
            http: reqwest::Client::new(),
            url: url.trim_end_matches('/').to_owned(),
            key: None,
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

    /// Sends a request; returns the answer if it is one of success.
    pub(crate) async fn send(
        &self,
        method: Method,
        path: &str,
        headers: HeaderMap,
        body: Option<&Value>,
    ) -> Result<Response, ClientError> {
        let mut request = self.http.request(method, format!("{}{path}", self.url));
        request = request.headers(headers);
        if let Some(key) = &self.key {
            request = request.header("x-api-key", key.clone());
        }
        if let Some(body) = body {
            request = request.json(body);
        }
        let answer = request.send().await?;
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

    /// Sends a request, and returns the JSON of the answer; null without one.
    pub(crate) async fn call(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Value, ClientError> {
        let answer = self.send(method, path, HeaderMap::new(), body).await?;
        let bytes = answer.bytes().await?;
        if bytes.is_empty() {
            return Ok(Value::Null);
        }
        serde_json::from_slice(&bytes).map_err(|error| ClientError::Unreadable(Box::new(error)))
    }
}

/// Shows no key.
impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("has_key", &self.key.is_some())
            .finish_non_exhaustive()
    }
}
