//! Webhooks: requests that say that a run has ended.

use std::sync::Arc;

use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::error::{ApiError, ApiResult};
use crate::queue::{Notice, Outgoing};
use crate::rows::Run;
use crate::server_error::ServerError;
use crate::wire::time::{now, now_ms};

/// Sends what the server says of a run that has ended to the address that its request names.
///
/// The program that starts the server says how, and which addresses are allowed: otherwise a client
/// could have the server call any address that it reaches. The feature `webhooks` has a
/// ready-made sender, which calls no address of a private network.
///
/// # Examples
///
/// ```
/// use langgraph_server::{Deliver, Server, Webhook};
///
/// struct Print;
///
/// #[langgraph::async_trait]
/// impl Deliver for Print {
///     fn allows(&self, url: &str) -> bool {
///         url.starts_with("https://hooks.example.com/")
///     }
///
///     async fn deliver(&self, webhook: &Webhook) -> Result<(), String> {
///         println!("{}: {}", webhook.url(), webhook.body());
///         Ok(())
///     }
/// }
///
/// let server = Server::new().webhooks(Print, "a long random text that receivers know");
/// # let _ = server;
/// ```
#[async_trait]
pub trait Deliver: Send + Sync + 'static {
    /// Returns true if runs may name the address. The server asks when it accepts the run.
    fn allows(&self, url: &str) -> bool;

    /// Sends the body with `POST`, the content type `application/json` and the
    /// [headers](Webhook::headers). After an error it is sent again, with growing pauses, also
    /// after a restart of the server; a receiver knows a repetition by its id.
    async fn deliver(&self, webhook: &Webhook) -> Result<(), String>;
}

/// A webhook that is sent now.
#[derive(Clone, Debug)]
pub struct Webhook {
    url: String,
    body: String,
    headers: [(&'static str, String); 3],
}

impl Webhook {
    /// Returns the address.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns the body: JSON.
    pub fn body(&self) -> &str {
        &self.body
    }

    /// Returns the headers of [Standard Webhooks](https://www.standardwebhooks.com/): `webhook-id`, the
    /// same for each attempt, `webhook-timestamp`, and `webhook-signature`, by which a receiver knows
    /// that the server has sent it.
    pub fn headers(&self) -> &[(&'static str, String)] {
        &self.headers
    }

    fn signed(outgoing: &Outgoing, key: &[u8], seconds: i64) -> Self {
        let (id, body) = (&outgoing.id, &outgoing.notice.body);
        let content = format!("{id}.{seconds}.{body}");
        let mac = hmac_sha256::HMAC::mac(content.as_bytes(), key);
        Self {
            url: outgoing.notice.url.clone(),
            body: body.clone(),
            headers: [
                ("webhook-id", id.clone()),
                ("webhook-timestamp", seconds.to_string()),
                ("webhook-signature", format!("v1,{}", STANDARD.encode(mac))),
            ],
        }
    }
}

/// The webhooks of a server, if it has any.
#[derive(Clone, Default)]
pub(crate) struct Webhooks(Option<(Arc<dyn Deliver>, Vec<u8>)>);

impl Webhooks {
    /// Sends webhooks, signed with a key. It is a text, or in the usual form `whsec_…` in base64.
    pub(crate) fn new(deliver: Arc<dyn Deliver>, key: &str) -> Result<Self, ServerError> {
        let key = match key.strip_prefix("whsec_") {
            // The error of the decoder shows a part of the key.
            Some(encoded) => STANDARD
                .decode(encoded)
                .map_err(|_| ServerError::WebhookKey)?,
            None => key.as_bytes().to_vec(),
        };
        Ok(Self(Some((deliver, key))))
    }

    pub(crate) fn are_sent(&self) -> bool {
        self.0.is_some()
    }

    /// Refuses an address that runs may not name.
    pub(crate) fn allow(&self, url: &str) -> ApiResult<()> {
        match &self.0 {
            None => Err(ApiError::invalid("this server sends no webhooks")),
            Some((deliver, _)) if deliver.allows(url) => Ok(()),
            Some(_) => Err(ApiError::invalid("the webhook's address is not allowed")),
        }
    }

    /// Returns what is sent when a run ends like this; `None` if it names no address.
    pub(crate) fn notice(&self, row: &Run, status: &str, result: &Value) -> Option<Notice> {
        let url = row.kwargs.webhook.clone().filter(|_| self.are_sent())?;
        let mut body = row.json();
        body["status"] = json!(status);
        body["values"] = match &result["__error__"] {
            Value::Null => result.clone(),
            _ => Value::Null,
        };
        body["error"] = result["__error__"].clone();
        body["webhook_sent_at"] = json!(now());
        Some(Notice {
            url,
            body: body.to_string(),
        })
    }

    /// Sends a webhook.
    pub(crate) async fn send(&self, outgoing: &Outgoing) -> Result<(), String> {
        let Some((deliver, key)) = &self.0 else {
            return Err("this server sends no webhooks".to_owned());
        };
        if !deliver.allows(&outgoing.notice.url) {
            return Err("the address is not allowed any more".to_owned());
        }
        let webhook = Webhook::signed(outgoing, key, now_ms() / 1_000);
        deliver.deliver(&webhook).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_that_of_standard_webhooks() {
        struct Nowhere;

        #[async_trait]
        impl Deliver for Nowhere {
            fn allows(&self, _: &str) -> bool {
                true
            }

            async fn deliver(&self, _: &Webhook) -> Result<(), String> {
                Ok(())
            }
        }

        let key = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
        let Ok(Webhooks(Some((_, key)))) = Webhooks::new(Arc::new(Nowhere), key) else {
            panic!("no key");
        };
        let outgoing = Outgoing {
            id: "msg_p5jXN8AQM9LWM0D4loKWxJek".to_owned(),
            run: "r".to_owned(),
            notice: Notice {
                url: String::new(),
                body: r#"{"test": 2432232314}"#.to_owned(),
            },
            attempt: 1,
        };
        // The example of the standard's libraries.
        let webhook = Webhook::signed(&outgoing, &key, 1_614_265_330);
        let expected = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
        assert_eq!(webhook.headers()[2].1, expected);
    }
}
