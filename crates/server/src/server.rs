//! The server: graphs, a file, an address.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;
use langgraph_sqlite::{Database, SqliteError, SqliteSaver, SqliteStore};
use langgraph_store::Store;
use tokio::net::{TcpListener, ToSocketAddrs};

use crate::app::App;
use crate::graph::GraphHandle;
use crate::guard::{Authenticate, Limits};
use crate::routes;
use crate::rows::Rows;

/// A server of graphs; see the [example of the crate](crate).
///
/// The server gives each graph its checkpointer and its store.
#[derive(Default)]
#[must_use = "a server does nothing until it serves"]
pub struct Server {
    file: Option<PathBuf>,
    graphs: Vec<(String, GraphHandle)>,
    authenticate: Option<Box<dyn Authenticate>>,
    limits: Limits,
}

/// Why a server did not start, or stopped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerError {
    /// Two graphs have the same name.
    #[error("two graphs have the name `{0}`")]
    DuplicateGraph(String),
    /// The database of the checkpoints did not open.
    #[error(transparent)]
    Database(#[from] SqliteError),
    /// The rows of the server cannot be read or written.
    #[error("the rows of the server: {0}")]
    Rows(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The address cannot be served.
    #[error("cannot serve: {0}")]
    Io(#[from] std::io::Error),
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("file", &self.file)
            .field("graphs", &self.graphs)
            .field("authenticates", &self.authenticate.is_some())
            .field("limits", &self.limits)
            .finish()
    }
}

impl Server {
    /// Creates a server that keeps everything in memory.
    pub fn new() -> Self {
        Self::default()
    }

    /// Keeps threads, runs, assistants, checkpoints and the store in a SQLite file.
    pub fn file(mut self, path: impl Into<PathBuf>) -> Self {
        self.file = Some(path.into());
        self
    }

    /// Adds a graph under a name, which is also the name of its default assistant.
    pub fn graph(mut self, name: impl Into<String>, graph: impl Into<GraphHandle>) -> Self {
        self.graphs.push((name.into(), graph.into()));
        self
    }

    /// Asks who sends each request: nobody sees what belongs to others.
    ///
    /// Threads, runs, assistants and crons belong to the [owner](crate::User::owner) who has
    /// created them, and each owner has a part of the store. Without this call, everyone who
    /// reaches the server sees everything.
    pub fn authenticate(mut self, hook: impl Authenticate) -> Self {
        self.authenticate = Some(Box::new(hook));
        self
    }

    /// Limits what clients may ask for.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Returns the routes, for a program that has a server already.
    ///
    /// Call it inside a Tokio runtime: runs are tasks of it.
    ///
    /// # Errors
    ///
    /// If the file does not open, or two graphs have the same name.
    pub fn router(self) -> Result<Router, ServerError> {
        let (database, rows) = match &self.file {
            Some(path) => (Database::open(path)?, Rows::open(path)),
            None => (Database::in_memory()?, Rows::in_memory()),
        };
        let rows = rows.map_err(|error| ServerError::Rows(Box::new(error)))?;
        let store: Arc<dyn Store> = Arc::new(SqliteStore::new(database.clone()));
        let saver = Arc::new(SqliteSaver::new(database));
        let mut graphs = BTreeMap::new();
        for (name, handle) in self.graphs {
            let graph = handle.attach(Arc::clone(&saver), Arc::clone(&store));
            if graphs.insert(name.clone(), graph).is_some() {
                return Err(ServerError::DuplicateGraph(name));
            }
        }
        let app = App::start(rows, store, graphs, self.authenticate, self.limits)
            .map_err(|error| ServerError::Rows(Box::new(error)))?;
        Ok(routes::router(Arc::new(app)))
    }

    /// Serves until the future is dropped.
    ///
    /// # Errors
    ///
    /// As [`router`](Self::router), and if the address is not free.
    pub async fn serve(self, address: impl ToSocketAddrs) -> Result<(), ServerError> {
        self.serve_on(TcpListener::bind(address).await?).await
    }

    /// Serves on a listener.
    ///
    /// # Errors
    ///
    /// As [`router`](Self::router).
    pub async fn serve_on(self, listener: TcpListener) -> Result<(), ServerError> {
        Ok(axum::serve(listener, self.router()?).await?)
    }
}
