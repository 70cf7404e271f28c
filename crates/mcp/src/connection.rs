//! The connection to a server, which clients and tools share.

use std::error::Error;
use std::future::Future;
use std::time::Duration;

use rmcp::model::ErrorCode;
use rmcp::service::{Peer, RoleClient, RunningService, ServiceError};

use crate::McpError;
use crate::calls::{Calls, ClientService};
use crate::options::Options;

/// A connection to a server.
pub(crate) struct Connection {
    pub(crate) server: String,
    pub(crate) options: Options,
    pub(crate) service: RunningService<RoleClient, ClientService>,
    pub(crate) calls: Calls,
}

impl Connection {
    pub(crate) fn peer(&self) -> &Peer<RoleClient> {
        self.service.peer()
    }

    async fn within<T>(
        &self,
        doing: &str,
        work: impl Future<Output = Result<T, McpError>>,
    ) -> Result<T, McpError> {
        let limit = self.options.connect_timeout;
        in_time(&self.server, doing, limit, work).await
    }

    /// Lists what the server has. A server that knows no such list has nothing.
    pub(crate) async fn list<T>(
        &self,
        what: &'static str,
        listing: impl Future<Output = Result<Vec<T>, ServiceError>>,
    ) -> Result<Vec<T>, McpError> {
        let listing = async {
            match listing.await {
                Err(ServiceError::McpError(error)) if error.code == ErrorCode::METHOD_NOT_FOUND => {
                    Ok(Vec::new())
                }
                listed => listed.map_err(|error| McpError::List {
                    what,
                    server: self.server.clone(),
                    source: Box::new(error),
                }),
            }
        };
        self.within(what, listing).await
    }

    /// Reads one thing that the server has.
    pub(crate) async fn read<T>(
        &self,
        what: &str,
        reading: impl Future<Output = Result<T, ServiceError>>,
    ) -> Result<T, McpError> {
        let reading = async { reading.await.map_err(|error| self.read_error(what, error)) };
        self.within(what, reading).await
    }

    pub(crate) fn read_error(
        &self,
        what: &str,
        source: impl Into<Box<dyn Error + Send + Sync>>,
    ) -> McpError {
        McpError::Read {
            what: what.to_owned(),
            server: self.server.clone(),
            source: source.into(),
        }
    }

    /// Returns the error for a question outside of a tool's call, where no run could pause.
    pub(crate) fn input_required(&self, what: &str) -> McpError {
        self.read_error(
            what,
            "it requires an answer of the user, which only the call of a tool can give",
        )
    }
}

pub(crate) async fn in_time<T>(
    server: &str,
    doing: &str,
    limit: Duration,
    work: impl Future<Output = Result<T, McpError>>,
) -> Result<T, McpError> {
    let late = |_| McpError::TimedOut {
        server: server.to_owned(),
        doing: doing.to_owned(),
        limit,
    };
    tokio::time::timeout(limit, work).await.map_err(late)?
}
