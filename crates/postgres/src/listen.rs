//! What other sessions notify.

use std::fmt;

use futures_util::{StreamExt, stream};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio_postgres::tls::{MakeTlsConnect, TlsConnect};
use tokio_postgres::{AsyncMessage, Client, Config, NoTls, Socket};

use crate::PostgresError;

/// How a connection is made that listens.
pub(crate) struct Listening {
    config: Config,
    #[cfg(feature = "rustls")]
    tls: Option<tokio_postgres_rustls::MakeRustlsConnect>,
}

impl Listening {
    pub(crate) fn plain(config: Config) -> Self {
        Self {
            config,
            #[cfg(feature = "rustls")]
            tls: None,
        }
    }

    #[cfg(feature = "rustls")]
    pub(crate) fn encrypted(config: Config, tls: tokio_postgres_rustls::MakeRustlsConnect) -> Self {
        Self {
            config,
            tls: Some(tls),
        }
    }

    pub(crate) async fn listen(&self, channel: &str) -> Result<Notifications, PostgresError> {
        #[cfg(feature = "rustls")]
        if let Some(tls) = &self.tls {
            return connect(&self.config, tls.clone(), channel).await;
        }
        connect(&self.config, NoTls, channel).await
    }

    pub(crate) async fn session(&self) -> Result<Session, PostgresError> {
        #[cfg(feature = "rustls")]
        if let Some(tls) = &self.tls {
            let (client, connection) = self.config.connect(tls.clone()).await?;
            tokio::spawn(connection);
            return Ok(Session { client });
        }
        let (client, connection) = self.config.connect(NoTls).await?;
        tokio::spawn(connection);
        Ok(Session { client })
    }
}

/// A connection of its own, which the runtime drives that has made it.
pub struct Session {
    client: Client,
}

impl Session {
    /// Runs statements.
    ///
    /// # Errors
    ///
    /// If one of them fails, or the connection is broken.
    pub async fn batch_execute(&self, sql: &str) -> Result<(), PostgresError> {
        Ok(self.client.batch_execute(sql).await?)
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").finish_non_exhaustive()
    }
}

/// What other sessions notify on a channel.
///
/// What was notified before is not there, nor what was notified while the connection was broken:
/// listen again then, and look at the tables.
pub struct Notifications {
    // The connection ends with it.
    _client: Client,
    payloads: UnboundedReceiver<String>,
}

impl Notifications {
    /// Returns the next payload; `None` when the connection is broken.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    pub async fn next(&mut self) -> Option<String> {
        self.payloads.recv().await
    }
}

impl fmt::Debug for Notifications {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Notifications").finish_non_exhaustive()
    }
}

async fn connect<T>(config: &Config, tls: T, channel: &str) -> Result<Notifications, PostgresError>
where
    T: MakeTlsConnect<Socket>,
    T::Stream: Send + 'static,
    T::TlsConnect: Send,
    <T::TlsConnect as TlsConnect<Socket>>::Future: Send,
{
    let (client, mut connection) = config.connect(tls).await?;
    let (sender, payloads) = unbounded_channel();
    tokio::spawn(async move {
        let mut messages = stream::poll_fn(move |cx| connection.poll_message(cx));
        while let Some(Ok(message)) = messages.next().await {
            if let AsyncMessage::Notification(notification) = message
                && sender.send(notification.payload().to_owned()).is_err()
            {
                return;
            }
        }
    });
    let quoted = channel.replace('"', "\"\"");
    client
        .batch_execute(&format!("LISTEN \"{quoted}\""))
        .await?;
    Ok(Notifications {
        _client: client,
        payloads,
    })
}
