//! Webhooks: requests that say that a run has ended.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Value, json};

use crate::error::{ApiError, ApiResult};
use crate::rows::Run;
use crate::wire::time::now;

/// Sends what the server says of a run that has ended to the address that its request names.
///
/// The server sends no requests by itself: the program that starts it says how, and which addresses
/// are allowed. Otherwise a client could have the server call any address that it reaches.
///
/// # Examples
///
/// ```
/// use langgraph_server::{Deliver, Server};
/// use serde_json::Value;
///
/// struct Print;
///
/// #[langgraph::async_trait]
/// impl Deliver for Print {
///     fn allows(&self, url: &str) -> bool {
///         url.starts_with("https://hooks.example.com/")
///     }
///
///     async fn deliver(&self, url: &str, body: &Value) -> Result<(), String> {
///         println!("{url}: {}", body["status"]);
///         Ok(())
///     }
/// }
///
/// let server = Server::new().webhooks(Print);
/// # let _ = server;
/// ```
#[async_trait]
pub trait Deliver: Send + Sync + 'static {
    /// Returns true if runs may name the address. The server asks when it accepts the run.
    fn allows(&self, url: &str) -> bool;

    /// Sends the body as JSON with `POST`. A failure is repeated twice, and then logged.
    async fn deliver(&self, url: &str, body: &Value) -> Result<(), String>;
}

/// The webhooks of a server, if it has any.
#[derive(Clone, Default)]
pub(crate) struct Webhooks(pub(crate) Option<Arc<dyn Deliver>>);

impl Webhooks {
    /// Refuses an address that runs may not name.
    pub(crate) fn allow(&self, url: &str) -> ApiResult<()> {
        match &self.0 {
            None => Err(ApiError::invalid("this server sends no webhooks")),
            Some(deliver) if deliver.allows(url) => Ok(()),
            Some(_) => Err(ApiError::invalid("the webhook's address is not allowed")),
        }
    }

    /// Sends the webhook of a run that has ended, in the background.
    pub(crate) fn send(&self, row: &Run, status: &str, result: &Value) {
        let (Some(deliver), Some(url)) = (&self.0, row.kwargs.webhook.as_deref()) else {
            return;
        };
        let mut body = row.json();
        body["status"] = json!(status);
        body["values"] = match &result["__error__"] {
            Value::Null => result.clone(),
            _ => Value::Null,
        };
        body["error"] = result["__error__"].clone();
        body["webhook_sent_at"] = json!(now());
        let (deliver, url) = (Arc::clone(deliver), url.to_owned());
        tokio::spawn(async move {
            for pause in [1, 5, 0] {
                match deliver.deliver(&url, &body).await {
                    Ok(()) => return,
                    Err(error) => tracing::warn!(%error, "a webhook failed"),
                }
                tokio::time::sleep(std::time::Duration::from_secs(pause)).await;
            }
        });
    }
}

impl fmt::Debug for Webhooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Webhooks").field(&self.0.is_some()).finish()
    }
}
