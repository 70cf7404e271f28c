//! Connections to a PostgreSQL database.

use std::fmt;
use std::future::Future;
#[cfg(feature = "rustls")]
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::{
    Client, Hook, HookError, Manager, ManagerConfig, Pool, RecyclingMethod, Runtime, Transaction,
};
use tokio_postgres::config::SslMode;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Config, NoTls};

use crate::PostgresError;
use crate::listen::{Listening, Notifications, Session};
use crate::migrate::{MIGRATIONS, migrate};

/// The options of a connection pool.
///
/// # Examples
///
/// ```no_run
/// use langgraph_postgres::{Database, Options};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let options = Options::default().schema("assistants").max_connections(4);
/// let database = Database::connect_with("postgres://me@localhost/app", options).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    schema: String,
    max_connections: usize,
    timeout: Duration,
    #[cfg(feature = "rustls")]
    root_certificates: Option<PathBuf>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            schema: "langgraph".to_owned(),
            max_connections: 8,
            timeout: Duration::from_secs(30),
            #[cfg(feature = "rustls")]
            root_certificates: None,
        }
    }
}

impl Options {
    /// Sets the schema of the tables; the default is `langgraph`. It is created if it does not
    /// exist.
    #[must_use]
    pub fn schema(mut self, name: impl Into<String>) -> Self {
        self.schema = name.into();
        self
    }

    /// Limits the number of connections; the default is 8, and the minimum 1.
    #[must_use]
    pub fn max_connections(mut self, connections: usize) -> Self {
        self.max_connections = connections.max(1);
        self
    }

    /// Limits the wait for a connection, whether a new or a free one; the default is 30 seconds.
    #[must_use]
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.timeout = limit;
        self
    }

    /// Sets a PEM file with the root certificates to trust, instead of those of the operating
    /// system; elsewhere this is `sslrootcert`. Needs the feature `rustls`.
    #[cfg(feature = "rustls")]
    #[must_use]
    pub fn root_certificates(mut self, file: impl Into<PathBuf>) -> Self {
        self.root_certificates = Some(file.into());
        self
    }
}

/// A PostgreSQL database with the tables of this crate. Cheap to clone: clones share their
/// connections.
///
/// The tables have a schema of their own. Each new connection sets its `search_path` to it, so a
/// pooler in front of the server has to keep sessions (`pool_mode = session`).
///
/// Connections are encrypted for URLs with `sslmode=require` or `sslmode=verify-full`, which needs
/// the feature `rustls`. In both cases the server must have a trusted certificate for its host
/// name. Other connections are not encrypted: use them for a server on this machine, on a private
/// network, or behind a tunnel.
#[derive(Clone)]
pub struct Database {
    pool: Pool,
    schema: String,
    listening: Arc<Listening>,
}

impl Database {
    /// Connects, and creates missing tables.
    ///
    /// A connection whose host is gone without a word fails within a minute. The URL can set other times:
    /// `tcp_user_timeout`, `keepalives_idle`.
    ///
    /// # Errors
    ///
    /// If the URL is wrong, the server cannot be reached, or a later version of this crate created
    /// the tables.
    pub async fn connect(url: &str) -> Result<Self, PostgresError> {
        Self::connect_with(url, Options::default()).await
    }

    /// As [`connect`](Self::connect), with options.
    ///
    /// # Errors
    ///
    /// As [`connect`](Self::connect); also if the name of the schema is not a plain name.
    pub async fn connect_with(url: &str, options: Options) -> Result<Self, PostgresError> {
        let refused = |reason: String| PostgresError::Url {
            url: without_password(url),
            reason,
        };
        let mut config: Config = verified(url)
            .parse()
            .map_err(|error: tokio_postgres::Error| refused(error.to_string()))?;
        let encrypted = config.get_ssl_mode() == SslMode::Require;
        if encrypted && !cfg!(feature = "rustls") {
            let reason = "`sslmode=require` needs the feature `rustls` of langgraph-postgres";
            return Err(refused(reason.to_owned()));
        }
        if config.get_application_name().is_none() {
            config.application_name("langgraph");
        }
        config.connect_timeout(options.timeout);
        notice_lost_host(&mut config);
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        let schema = options.schema;
        if schema.is_empty() || schema.len() > 63 || !schema.chars().all(plain) {
            return Err(PostgresError::Schema(schema));
        }
        let recycling = ManagerConfig {
            recycling_method: RecyclingMethod::Fast,
        };
        let (manager, listening) = match encrypted {
            #[cfg(feature = "rustls")]
            true => {
                let tls = crate::tls::connector(options.root_certificates.as_deref())?;
                let listening = Listening::encrypted(config.clone(), tls.clone());
                (Manager::from_config(config, tls, recycling), listening)
            }
            _ => {
                // `prefer` would encrypt without knowing who answers.
                config.ssl_mode(SslMode::Disable);
                let listening = Listening::plain(config.clone());
                (Manager::from_config(config, NoTls, recycling), listening)
            }
        };
        let path = format!("SET search_path TO \"{schema}\"");
        let pool = Pool::builder(manager)
            .max_size(options.max_connections)
            .runtime(Runtime::Tokio1)
            .wait_timeout(Some(options.timeout))
            .create_timeout(Some(options.timeout))
            .post_create(Hook::async_fn(move |client, _| {
                let path = path.clone();
                Box::pin(async move {
                    let set = client.batch_execute(&path).await;
                    set.map_err(HookError::Backend)
                })
            }))
            .build()
            .map_err(|error| PostgresError::Connect(Box::new(error)))?;
        let database = Self {
            pool,
            schema,
            listening: Arc::new(listening),
        };
        database
            .transaction(|transaction| {
                let schema = database.schema.clone();
                Box::pin(async move { migrate(transaction, &schema, MIGRATIONS).await })
            })
            .await?;
        Ok(database)
    }

    /// Returns the schema of the tables.
    pub fn schema(&self) -> &str {
        &self.schema
    }

    /// Returns a connection of its own, beyond those of the pool. The runtime in which this is called
    /// drives it.
    ///
    /// # Errors
    ///
    /// If the server cannot be reached.
    pub async fn session(&self) -> Result<Session, PostgresError> {
        let session = self.listening.session().await?;
        let path = format!("SET search_path TO \"{}\"", self.schema);
        session.batch_execute(&path).await?;
        Ok(session)
    }

    /// Returns what other sessions notify on `channel`, on a connection of its own.
    ///
    /// # Errors
    ///
    /// If the server cannot be reached.
    pub async fn listen(&self, channel: &str) -> Result<Notifications, PostgresError> {
        self.listening.listen(channel).await
    }

    /// Returns how many connections are in use, and how many there may be.
    pub fn connections(&self) -> (usize, usize) {
        let status = self.pool.status();
        (
            status.size.saturating_sub(status.available),
            status.max_size,
        )
    }

    /// Returns a connection whose `search_path` is the schema; for the crates of this workspace.
    ///
    /// # Errors
    ///
    /// If none can be had in time.
    #[doc(hidden)]
    pub async fn client(&self) -> Result<Client, PostgresError> {
        let client = self.pool.get().await;
        client.map_err(|error| PostgresError::Connect(Box::new(error)))
    }

    /// Runs `job` in a transaction, which is committed if it returns `Ok`, and rolled back if it
    /// returns `Err`. If the server aborts the transaction for another one (a deadlock, for
    /// example), the job runs again. So it is a `Fn`, and its future owns what it needs.
    pub(crate) async fn transaction<T, E>(
        &self,
        job: impl for<'a> Fn(&'a Transaction<'a>) -> Job<'a, T, E> + Send + Sync,
    ) -> Result<T, E>
    where
        T: Send,
        E: From<PostgresError> + std::error::Error + Send + 'static,
    {
        let mut client = self.client().await?;
        let mut attempts = 5;
        loop {
            attempts -= 1;
            let transaction = client.transaction().await.map_err(PostgresError::from)?;
            let answer = job(&transaction).await;
            let error = match answer {
                Ok(value) => match transaction.commit().await {
                    Ok(()) => return Ok(value),
                    Err(error) => PostgresError::from(error).into(),
                },
                Err(error) => {
                    // The error of the job takes precedence; a broken connection is discarded.
                    let _ = transaction.rollback().await;
                    error
                }
            };
            if attempts == 0 || !gave_way(&error) {
                return Err(error);
            }
        }
    }
}

/// The future of a job in a transaction.
pub(crate) type Job<'a, T, E> = Pin<Box<dyn Future<Output = Result<T, E>> + Send + 'a>>;

/// Returns true if the server aborted the transaction for another one.
fn gave_way(error: &(dyn std::error::Error + 'static)) -> bool {
    let mut cause = Some(error);
    while let Some(error) = cause {
        let code = error
            .downcast_ref::<tokio_postgres::Error>()
            .and_then(tokio_postgres::Error::code);
        if let Some(code) = code {
            return *code == SqlState::T_R_DEADLOCK_DETECTED
                || *code == SqlState::T_R_SERIALIZATION_FAILURE;
        }
        cause = error.source();
    }
    false
}

/// Rewrites the URL for the driver: in this crate, `require` means `verify`.
fn verified(url: &str) -> String {
    let (place, parameters) = match url.split_once('?') {
        Some((place, parameters)) => (format!("{place}?"), parameters),
        None if url.contains("://") => return url.to_owned(),
        None => (String::new(), url),
    };
    place + &parameters.replace("sslmode=verify-full", "sslmode=require")
}

/// Lets a connection fail in a minute whose host is gone without a word, as after a loss of power. The
/// system would wait for two hours, or a quarter of an hour with data under way.
fn notice_lost_host(config: &mut Config) {
    let (system, minute) = (Config::new(), Duration::from_secs(60));
    if config.get_tcp_user_timeout().is_none() {
        config.tcp_user_timeout(minute);
    }
    if config.get_keepalives_idle() == system.get_keepalives_idle() {
        config.keepalives_idle(minute / 2);
    }
    if config.get_keepalives_interval().is_none() {
        config.keepalives_interval(minute / 6);
    }
    if config.get_keepalives_retries().is_none() {
        config.keepalives_retries(3);
    }
}

/// Returns the URL without its password, for display.
fn without_password(url: &str) -> String {
    let hidden = |rest: &str, at: usize| {
        let (user, host) = rest.split_at(at);
        match user.split_once(':') {
            Some((user, _)) => format!("{user}:***{host}"),
            None => rest.to_owned(),
        }
    };
    match url.split_once("://") {
        Some((scheme, rest)) => match rest.rfind('@') {
            Some(at) => format!("{scheme}://{}", hidden(rest, at)),
            None => url.to_owned(),
        },
        // `host=… password=…`: show nothing rather than a secret.
        None if url.contains("password") => "…".to_owned(),
        None => url.to_owned(),
    }
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Database")
            .field("schema", &self.schema)
            .field("connections", &self.pool.status().size)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Config, notice_lost_host, verified, without_password};

    #[test]
    fn what_requires_encryption_is_verified_in_full() {
        let same = [
            "postgres://me:sslmode=verify-full@host/db",
            "postgres://me@host/db?sslmode=disable",
            "host=a sslmode=prefer",
        ];
        for url in same {
            assert_eq!(verified(url), url);
        }
        let url = "postgres://me@host/db?sslmode=verify-full&connect_timeout=1";
        let expected = "postgres://me@host/db?sslmode=require&connect_timeout=1";
        assert_eq!(verified(url), expected);
        assert_eq!(
            verified("host=a sslmode=verify-full"),
            "host=a sslmode=require"
        );
    }

    #[test]
    fn a_lost_host_is_noticed_in_a_minute_unless_the_url_says_otherwise() {
        let shown = |url: &str| {
            let mut config: Config = url.parse().unwrap();
            notice_lost_host(&mut config);
            let timeout = config.get_tcp_user_timeout().copied();
            (timeout, config.get_keepalives_idle())
        };
        let seconds = Duration::from_secs;
        assert_eq!(shown("postgres://h/db"), (Some(seconds(60)), seconds(30)));
        let own = "postgres://h/db?tcp_user_timeout=5&keepalives_idle=7";
        assert_eq!(shown(own), (Some(seconds(5)), seconds(7)));
    }

    #[test]
    fn a_password_is_not_shown() {
        let shown = [
            ("postgres://me:secret@host/db", "postgres://me:***@host/db"),
            ("postgres://me:s@cret@host/db", "postgres://me:***@host/db"),
            ("postgres://me@host/db", "postgres://me@host/db"),
            ("postgres://host/db", "postgres://host/db"),
            ("host=a password=secret", "…"),
        ];
        for (url, expected) in shown {
            assert_eq!(without_password(url), expected);
        }
    }
}
