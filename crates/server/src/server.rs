//! The server: graphs, a file, an address.

use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use langgraph_budget::Prices;
use langgraph_http::serve;
use langgraph_store::StoreOptions;
use tokio::net::{TcpListener, ToSocketAddrs, lookup_host};
use tokio::sync::Semaphore;

use crate::app::App;
use crate::graph::ServedGraph;
use crate::guard::{Authenticate, Authorize, Limits, PerOwner, Sources};
use crate::metrics::Metrics;
use crate::routes;
use crate::rows::RowsError;
use crate::runs::{Retention, Runs};
use crate::server_error::ServerError;
use crate::storage::{Opened, Storage};
use crate::webhook::{Deliver, Webhooks};

/// How long the runs of a process stay its own without a renewal.
const LEASE: Duration = Duration::from_secs(30);

/// How long runs may take to stop when the process ends.
const DRAIN: Duration = Duration::from_secs(20);

/// A server of graphs; see the [example of the crate](crate).
///
/// The server gives each graph its checkpointer and its store.
#[derive(Default)]
#[must_use = "a server does nothing until it serves"]
pub struct Server {
    storage: Storage,
    graphs: Vec<(String, ServedGraph)>,
    authenticate: Option<Box<dyn Authenticate>>,
    authorize: Option<Box<dyn Authorize>>,
    limits: Limits,
    retention: Retention,
    sources: Sources,
    anonymous: bool,
    shows_errors: bool,
    webhooks: Option<(Arc<dyn Deliver>, String)>,
    prices: Prices,
    store: StoreOptions,
    lease: Option<Duration>,
    drain_time: Option<Duration>,
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("storage", &self.storage)
            .field("graphs", &self.graphs)
            .field("authenticates", &self.authenticate.is_some())
            .field("authorizes", &self.authorize.is_some())
            .field("limits", &self.limits)
            .field("retention", &self.retention)
            .field("sources", &self.sources)
            .field("webhooks", &self.webhooks.is_some())
            .field("lease", &self.lease)
            .finish_non_exhaustive()
    }
}

impl Server {
    /// Creates a server that keeps everything in memory.
    pub fn new() -> Self {
        Self::default()
    }

    /// Keeps threads, runs, assistants, checkpoints and the store in a SQLite file, which several
    /// processes of one machine may share.
    pub fn file(mut self, path: impl Into<PathBuf>) -> Self {
        self.storage = Storage::File(path.into());
        self
    }

    /// Keeps everything in a PostgreSQL database, which several processes may share: each of them
    /// answers for all threads, and carries out runs of all of them.
    #[cfg(feature = "postgres")]
    pub fn postgres(mut self, database: langgraph_postgres::Database) -> Self {
        self.storage = Storage::Postgres(database);
        self
    }

    /// Sets after which time the runs of a lost process are carried out by another; the default is
    /// 30 seconds. A process renews its leases every third of this time.
    pub fn lease(mut self, term: Duration) -> Self {
        self.lease = Some(term.max(Duration::from_millis(30)));
        self
    }

    /// Sets how long runs may take to stop when the process ends; the default is 20 seconds. Those
    /// that still run then are put back, and their last superstep is done again.
    pub fn drain_time(mut self, time: Duration) -> Self {
        self.drain_time = Some(time);
        self
    }

    /// Sends webhooks of runs that have ended, signed with a key that their receivers know: a text, or
    /// `whsec_…` in base64. The server does not start with a `whsec_` key that is not base64. Without this call, runs
    /// that name a webhook are refused.
    pub fn webhooks(mut self, deliver: impl Deliver, key: &str) -> Self {
        self.webhooks = Some((Arc::new(deliver), key.to_owned()));
        self
    }

    /// Sets what the tokens of models cost, for the `usage_metadata` of messages, tasks and runs, and for the
    /// Studio. A graph with a budget has its prices among its resources.
    ///
    /// ```
    /// use langgraph_budget::{Price, Prices};
    /// use langgraph_server::Server;
    ///
    /// let prices = Prices::new().model("big", Price::per_million(3.0, 15.0).cached(0.3));
    /// let server = Server::new().prices(prices);
    /// # let _ = server;
    /// ```
    pub fn prices(mut self, prices: Prices) -> Self {
        self.prices = prices;
        self
    }

    /// Sets the options of the store: with an embedder, items are found by their meaning.
    ///
    /// ```
    /// use langgraph_server::Server;
    /// use langgraph_store::{HashingEmbedder, StoreOptions};
    ///
    /// let options = StoreOptions::default().embedder(HashingEmbedder::new(256)).fields(["text"]);
    /// let server = Server::new().store(options);
    /// # let _ = server;
    /// ```
    pub fn store(mut self, options: StoreOptions) -> Self {
        self.store = options;
        self
    }

    /// Adds a graph under a name, which is also the name of its default assistant.
    pub fn graph(mut self, name: impl Into<String>, graph: impl Into<ServedGraph>) -> Self {
        self.graphs.push((name.into(), graph.into()));
        self
    }

    /// Asks who sends each request: users do not see what belongs to others.
    ///
    /// Threads, runs, assistants and crons belong to the [owner](crate::User::owner) who has
    /// created them, and each owner has a part of the store. Without this call, everyone who
    /// reaches the server sees everything: so it serves the addresses of this machine only, and
    /// refuses pages of other hosts.
    pub fn authenticate(mut self, hook: impl Authenticate) -> Self {
        self.authenticate = Some(Box::new(hook));
        self
    }

    /// Asks what each user may do, and what each sees of what their owner has. It needs
    /// [authentication](Self::authenticate): without a user, nothing is asked.
    pub fn authorize(mut self, hook: impl Authorize) -> Self {
        self.authorize = Some(Box::new(hook));
        self
    }

    /// Sets how long what is over is kept.
    pub fn retention(mut self, retention: Retention) -> Self {
        self.retention = retention;
        self
    }

    /// Limits what clients may ask for.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Serves other addresses than those of this machine although the server does not
    /// [authenticate](Self::authenticate): everyone who reaches the address sees and changes
    /// everything.
    pub fn allow_anonymous(mut self) -> Self {
        self.anonymous = true;
        self
    }

    /// Lets pages of that origin call the server, for example `https://app.example.com`. Pages of
    /// this machine (`http://localhost:3000`) may do so anyway.
    ///
    /// A server that authenticates lets pages of every origin call it until an origin is added.
    pub fn allow_origin(mut self, origin: impl Into<String>) -> Self {
        self.sources.origins.push(origin.into());
        self
    }

    /// Lets pages of every origin call the server.
    pub fn allow_any_origin(mut self) -> Self {
        self.sources.any_origin = true;
        self
    }

    /// Answers under that name, for example `agents.internal`, also without authentication.
    /// `localhost` and addresses need not be added. Another name in `Host` is refused: its owner
    /// may point it at this machine, and so call the server from a page.
    pub fn allow_host(mut self, name: impl Into<String>) -> Self {
        self.sources.hosts.push(name.into());
        self
    }

    /// Sends the texts of errors and panics of nodes to clients. Without this call, a client learns
    /// which node failed; why is in the log of the program, because such a text may hold a secret.
    pub fn show_node_errors(mut self) -> Self {
        self.shows_errors = true;
        self
    }

    /// Starts to carry out runs, for a program that has an HTTP server already.
    ///
    /// # Errors
    ///
    /// If the database cannot be used, two graphs have the same name, or the key of the webhooks is not base64.
    pub async fn start(self) -> Result<Serving, ServerError> {
        let failed = |error: RowsError| ServerError::Rows(Box::new(error));
        let webhooks = match self.webhooks {
            Some((deliver, key)) => Webhooks::new(deliver, &key)?,
            None => Webhooks::default(),
        };
        let Opened { rows, saver, store } = self.storage.open(self.store.clone()).await?;
        let mut graphs = BTreeMap::new();
        for (name, handle) in self.graphs {
            let graph = handle.attach(saver.plain(), Arc::clone(&store), self.shows_errors);
            if graphs.insert(name.clone(), graph).is_some() {
                return Err(ServerError::DuplicateGraph(name));
            }
        }
        let lease = self.lease.unwrap_or(LEASE);
        let streams = self.limits.streams.min(Semaphore::MAX_PERMITS);
        let secret = rows.secret().await.map_err(failed)?;
        let mut sources = self.sources;
        let has_hook = self.authenticate.is_some();
        sources.any_origin |= has_hook && sources.origins.is_empty();
        let app = App {
            sources,
            shows_errors: self.shows_errors,
            rows: Arc::new(rows),
            secret,
            saver,
            store,
            graphs,
            runs: Runs::new(self.limits.runs, lease),
            authenticate: self.authenticate,
            authorize: self.authorize,
            limits: self.limits,
            retention: self.retention,
            webhooks,
            metrics: Metrics::default(),
            prices: Arc::new(self.prices),
            embeds: self.store.has_embedder(),
            streams: Arc::new(Semaphore::new(streams)),
            owner_streams: PerOwner::default(),
        };
        Ok(Serving {
            app: app.start().await.map_err(failed)?,
        })
    }

    /// Starts, and returns the routes.
    ///
    /// Serve them with `into_make_service()`: without it, axum copies the table of the routes for
    /// each connection, which takes 80 KB of memory.
    ///
    /// # Errors
    ///
    /// As [`start`](Self::start).
    pub async fn router(self) -> Result<Router, ServerError> {
        Ok(self.start().await?.router())
    }

    /// Serves until the process receives Ctrl-C or SIGTERM, and then [drains](Serving::drain).
    ///
    /// # Errors
    ///
    /// As [`start`](Self::start), if the address is not free, and if it can be reached from other
    /// machines while the server neither [authenticates](Self::authenticate) nor
    /// [allows everyone](Self::allow_anonymous).
    pub async fn serve(self, address: impl ToSocketAddrs) -> Result<(), ServerError> {
        let addresses: Vec<SocketAddr> = lookup_host(address).await?.collect();
        let listener = TcpListener::bind(&*addresses).await;
        let listener = listener.map_err(|source| ServerError::Bind { addresses, source })?;
        self.serve_on(listener).await
    }

    /// As [`serve`](Self::serve), on a listener.
    ///
    /// # Errors
    ///
    /// As [`start`](Self::start).
    pub async fn serve_on(self, listener: TcpListener) -> Result<(), ServerError> {
        self.serve_until(listener, stop_requested()).await
    }

    /// As [`serve_on`](Self::serve_on), until `stopped` ends instead of a signal.
    ///
    /// # Errors
    ///
    /// As [`serve`](Self::serve).
    pub async fn serve_until(
        self,
        listener: TcpListener,
        stopped: impl Future<Output = ()>,
    ) -> Result<(), ServerError> {
        let address = listener.local_addr()?;
        let is_open = self.authenticate.is_none() && !self.anonymous;
        if is_open && !address.ip().is_loopback() {
            return Err(ServerError::Open(address));
        }
        let drain_time = self.drain_time.unwrap_or(DRAIN);
        let serving = self.start().await?;
        let router = serving.router();
        let timeout = serving.app.limits.client_timeout;
        let until_stopped = async move {
            stopped.await;
            tracing::info!("the server drains");
            serving.drain(drain_time).await;
        };
        serve(listener, router, timeout, until_stopped).await;
        Ok(())
    }
}

/// Waits until the process is told to end.
async fn stop_requested() {
    let interrupted = async {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    #[cfg(unix)]
    let terminated = async {
        match tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
            Ok(mut signal) => drop(signal.recv().await),
            Err(_) => std::future::pending().await,
        }
    };
    #[cfg(not(unix))]
    let terminated = std::future::pending::<()>();
    tokio::select! {
        () = interrupted => {}
        () = terminated => {}
    }
}

/// A server that carries out runs. It goes on as long as its routes are held.
#[derive(Clone)]
pub struct Serving {
    pub(crate) app: Arc<App>,
}

impl Serving {
    /// Returns the routes.
    pub fn router(&self) -> Router {
        routes::router(Arc::clone(&self.app))
    }

    /// Stops taking up runs. Those that run stop at the end of their superstep and go back to the
    /// queue, where another process finds them, or this one when it starts again; no retry is
    /// counted. After `at_most`, those that still run go back as well, and their last superstep is
    /// done again.
    ///
    /// Streams end; their clients come again with the id of their last event.
    pub async fn drain(&self, at_most: Duration) {
        crate::runs::drain(&self.app, at_most).await;
    }
}

impl fmt::Debug for Serving {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Serving").finish_non_exhaustive()
    }
}
