//! A server at an address.

use std::convert::Infallible;
use std::fmt::{self, Display};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http_body::Body;
use http_body_util::combinators::BoxBody;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tower_service::Service;

use super::sessions::BoundedSessions;
use super::{McpServer, ServerService};

impl McpServer {
    /// Serves clients at an address, at every path, until the future is dropped. Requests must name a
    /// host of this machine; for others, put [`service`](Self::service) into a web server.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future closes all connections and stops their runs.
    pub async fn listen(self, listener: TcpListener) {
        let timeout = self.client_timeout;
        let service = self.service(Vec::<String>::new());
        langgraph_http::serve(listener, service, timeout, std::future::pending()).await;
    }

    /// Returns the server as a `tower` service, such as for `axum`'s `nest_service`. Requests must name
    /// one of `hosts`, or one of this machine: so a web page cannot reach the server of its user.
    pub fn service(self, hosts: impl IntoIterator<Item = impl Into<String>>) -> McpService {
        let sessions = BoundedSessions::new(self.max_sessions);
        let handler = ServerService(Arc::new(self));
        let mut config = StreamableHttpServerConfig::default();
        config
            .allowed_hosts
            .extend(hosts.into_iter().map(Into::into));
        McpService(StreamableHttpService::new(
            move || Ok(handler.clone()),
            Arc::new(sessions),
            config,
        ))
    }
}

/// An [`McpServer`] as a `tower` service.
#[derive(Clone)]
pub struct McpService(StreamableHttpService<ServerService, BoundedSessions>);

type Response = http::Response<BoxBody<bytes::Bytes, Infallible>>;

impl<B> Service<http::Request<B>> for McpService
where
    B: Body + Send + 'static,
    B::Error: Display,
    B::Data: Send + 'static,
{
    type Response = Response;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<B>) -> Self::Future {
        let service = self.0.clone();
        Box::pin(async move { Ok(service.handle(request).await) })
    }
}

impl fmt::Debug for McpService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("McpService")
    }
}
