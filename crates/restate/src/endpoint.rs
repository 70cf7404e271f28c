//! What a program serves to Restate.

use std::fmt;
use std::net::SocketAddr;
use std::num::NonZero;
use std::sync::Arc;
use std::time::Duration;

use langgraph::run::Run;
use langgraph::{CompiledStateGraph, State};
use restate_sdk::endpoint::{self, ServiceOptions};
use restate_sdk::http_server::HttpServer;
use restate_sdk::service::ServiceDefinition;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::net::{TcpListener, TcpSocket, ToSocketAddrs, lookup_host};

use crate::service::{Kind, define, name_of};
use crate::tasks::{self, Notes, TaskService};
use crate::threads::{HANDLERS, Served, ThreadObject};
use crate::{Restate, RestateError};

/// The graphs that a program serves to Restate.
///
/// Any number of processes of the same program serve behind one address, which is registered with
/// Restate once: `restate deployments register http://127.0.0.1:9080`.
///
/// # Examples
///
/// See the [crate](crate).
#[derive(Default)]
pub struct Endpoint {
    services: Vec<Result<ServiceDefinition, RestateError>>,
    slots: Option<usize>,
}

impl Endpoint {
    /// Creates an endpoint without graphs.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets how many tasks of each graph run at a time in this process; unless set, as many as the
    /// machine has cores. Set it before [`tasks`](Self::tasks).
    #[must_use]
    pub fn slots(mut self, tasks: usize) -> Self {
        self.slots = Some(tasks.max(1));
        self
    }

    /// Serves the threads of a graph, as virtual objects of the graph's name. The graph needs a
    /// checkpointer that all processes share.
    #[must_use]
    pub fn threads<S>(self, graph: &CompiledStateGraph<S>) -> Self
    where
        S: State,
        S::Update: Serialize + DeserializeOwned,
    {
        self.threads_with(graph, |run| run)
    }

    /// As [`threads`](Self::threads); each run has the options that the function sets: a step limit, say, or a
    /// time limit.
    ///
    /// # Examples
    ///
    /// ```
    /// # use langgraph_restate::Endpoint;
    /// # fn serve(graph: langgraph::CompiledStateGraph<i64>) {
    /// let endpoint = Endpoint::new().threads_with(&graph, |run| run.limit(50));
    /// # }
    /// ```
    #[must_use]
    pub fn threads_with<S>(
        mut self,
        graph: &CompiledStateGraph<S>,
        options: impl Fn(Run<S>) -> Run<S> + Send + Sync + 'static,
    ) -> Self
    where
        S: State,
        S::Update: Serialize + DeserializeOwned,
    {
        let service = name_of(&graph.topology().name);
        let object = ThreadObject {
            service: service.clone(),
            threads: Arc::new(Served::new(graph.clone(), Box::new(options))),
        };
        let options = ServiceOptions::new();
        self.services
            .push(define(&service, Kind::Object, &HANDLERS, options, object));
        self
    }

    /// Serves the tasks of a graph's nodes that may run
    /// [anywhere](langgraph::graph::NodeExt::anywhere), for programs whose graph has the executor
    /// [`Restate::tasks`].
    #[must_use]
    pub fn tasks<S>(mut self, graph: &CompiledStateGraph<S>, restate: &Restate) -> Self
    where
        S: State,
        S::Update: Serialize + DeserializeOwned,
    {
        let cores = || std::thread::available_parallelism().map_or(1, NonZero::get);
        let slots = self.slots.unwrap_or_else(cores);
        let topology = graph.topology();
        let notes = tasks::notes_name(&topology.name);
        // Their journals are of no use once they have ended, and their replies for as long as a
        // driver may ask for them again.
        let brief = ServiceOptions::new()
            .journal_retention(Duration::ZERO)
            .idempotency_retention(Duration::from_secs(3_600));
        let service = tasks::service_name(&topology.name, topology.fingerprint());
        let host = TaskService::new(graph.task_host(), restate.clone(), notes.clone(), slots);
        self.services.push(define(
            &service,
            Kind::Plain,
            &tasks::HANDLERS,
            brief.clone(),
            host,
        ));
        self.services
            .push(define(&notes, Kind::Object, &tasks::NOTES, brief, Notes));
        self
    }

    /// Serves at an address, until the process is interrupted by ctrl-c.
    ///
    /// # Errors
    ///
    /// [`RestateError::Listen`]; [`RestateError::Name`] if Restate does not take the name of a graph.
    pub async fn serve(self, address: impl ToSocketAddrs) -> Result<(), RestateError> {
        let listener = listen(address).await.map_err(RestateError::Listen)?;
        self.serve_on(listener).await
    }

    /// As [`serve`](Self::serve), with a listener. Give it `TCP_NODELAY`: without it, calls take longer.
    ///
    /// # Errors
    ///
    /// [`RestateError::Name`].
    pub async fn serve_on(self, listener: TcpListener) -> Result<(), RestateError> {
        let mut builder = endpoint::Endpoint::builder();
        for service in self.services {
            builder = builder.bind(service?);
        }
        HttpServer::new(builder.build()).serve(listener).await;
        Ok(())
    }
}

async fn listen(address: impl ToSocketAddrs) -> std::io::Result<TcpListener> {
    let mut failed = std::io::Error::from(std::io::ErrorKind::AddrNotAvailable);
    for address in lookup_host(address).await? {
        let socket = match address {
            SocketAddr::V4(_) => TcpSocket::new_v4()?,
            SocketAddr::V6(_) => TcpSocket::new_v6()?,
        };
        socket.set_reuseaddr(true)?;
        // Connections inherit it on Linux. Without it, small frames wait for an acknowledgement.
        socket.set_nodelay(true)?;
        match socket.bind(address).and_then(|()| socket.listen(1_024)) {
            Ok(listener) => return Ok(listener),
            Err(error) => failed = error,
        }
    }
    Err(failed)
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint")
            .field("services", &self.services.len())
            .field("slots", &self.slots)
            .finish()
    }
}
