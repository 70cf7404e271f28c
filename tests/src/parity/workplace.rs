//! Where the tasks of cases run.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use langgraph::executor::{Executor, Running, TaskCall};
use langgraph::{CompiledStateGraph, State};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::task::AbortHandle;

#[cfg(feature = "restate")]
use super::on_restate::{Server, Services};
use super::state::Dynamic;
use crate::Loopback;

/// Distinguishes cases that run on the same server.
static CASES: AtomicU64 = AtomicU64::new(0);

/// Where the tasks of cases run.
#[derive(Clone, Debug, Default)]
pub enum Workplace {
    /// In this process, those of a superstep side by side.
    #[default]
    Parallel,
    /// In this process, one after the other.
    Inline,
    /// As if in another process: all that travels is written down and read again.
    Loopback,
    /// With workers of a NATS server.
    #[cfg(feature = "nats")]
    Nats(langgraph_nats::Nats),
    /// As calls of services of a Restate server, whose virtual objects are the threads.
    #[cfg(feature = "restate")]
    Restate(Server),
}

impl Workplace {
    /// The workplace of that name: `parallel`, `inline`, `loopback`, `nats`, whose server `NATS_URL` names,
    /// or `restate`, whose server `RESTATE_URL` and `RESTATE_ADMIN_URL` name.
    ///
    /// # Errors
    ///
    /// When there is none, this build has none, or its server does not answer.
    pub async fn open(name: &str) -> Result<Self, String> {
        match name {
            "parallel" => Ok(Self::Parallel),
            "inline" => Ok(Self::Inline),
            "loopback" => Ok(Self::Loopback),
            #[cfg(feature = "nats")]
            "nats" => {
                let url = crate::variable("NATS_URL")?;
                let nats = langgraph_nats::Nats::connect(&url).await;
                nats.map(Self::Nats).map_err(|error| error.to_string())
            }
            #[cfg(feature = "restate")]
            "restate" => Server::open().map(Self::Restate),
            #[cfg(not(feature = "nats"))]
            "nats" => Err("this build is without NATS; add `--features nats`".to_owned()),
            #[cfg(not(feature = "restate"))]
            "restate" => Err("this build is without Restate; add `--features restate`".to_owned()),
            other => Err(format!(
                "no workplace `{other}`; there are `parallel`, `inline`, `loopback`, `nats` and `restate`"
            )),
        }
    }

    /// Prepares the workplace for one case.
    pub(super) fn site(&self) -> Site {
        Site {
            workplace: self.clone(),
            case: CASES.fetch_add(1, Ordering::Relaxed),
            graphs: AtomicU64::new(0),
            workers: Mutex::default(),
            #[cfg(feature = "restate")]
            services: Services::default(),
        }
    }
}

/// An executor of any kind.
pub(super) struct AnyExecutor(Box<dyn Executor>);

impl Executor for AnyExecutor {
    fn run<'a>(&'a self, task: TaskCall<'a>) -> Running<'a> {
        self.0.run(task)
    }

    fn at_once(&self) -> Option<usize> {
        self.0.at_once()
    }
}

/// Where the tasks of one case run.
#[derive(Debug)]
pub(super) struct Site {
    pub(super) workplace: Workplace,
    case: u64,
    graphs: AtomicU64,
    /// They end with the case.
    workers: Mutex<Vec<AbortHandle>>,
    #[cfg(feature = "restate")]
    pub(super) services: Services,
}

impl Site {
    /// Returns a name that no other graph has.
    pub(super) fn name(&self) -> String {
        let graph = self.graphs.fetch_add(1, Ordering::Relaxed);
        format!("parity-{}-{}-{graph}", std::process::id(), self.case)
    }

    /// Returns the graph with its tasks here.
    pub(super) fn with_tasks(
        &self,
        graph: CompiledStateGraph<Dynamic>,
    ) -> CompiledStateGraph<Dynamic> {
        #[cfg(feature = "restate")]
        if let Workplace::Restate(server) = &self.workplace {
            self.services.add_tasks(&graph, server);
            return graph.executor(server.restate.tasks());
        }
        match self.executor(&graph) {
            Some(executor) => graph.executor(executor),
            None => graph,
        }
    }

    /// Returns an executor whose worker serves the graph, if tasks travel. Services on Restate are only those of
    /// [`with_tasks`](Self::with_tasks).
    pub(super) fn executor<S: State>(&self, graph: &CompiledStateGraph<S>) -> Option<AnyExecutor>
    where
        S::Update: Serialize + DeserializeOwned,
    {
        match &self.workplace {
            Workplace::Parallel | Workplace::Inline => None,
            Workplace::Loopback => Some(AnyExecutor(Box::new(Loopback::of(graph)))),
            #[cfg(feature = "nats")]
            Workplace::Nats(nats) => {
                let queue = nats.clone().queue(&self.name());
                let (worker, offered) = (langgraph_nats::Worker::new(graph), queue.clone());
                // The cases expect that all tasks of a superstep begin.
                let work = async move { worker.slots(64).serve(&offered).await };
                self.keep(tokio::spawn(work).abort_handle());
                Some(AnyExecutor(Box::new(queue)))
            }
            #[cfg(feature = "restate")]
            Workplace::Restate(_) => None,
        }
    }

    /// Waits until the tasks and threads of all graphs of the case can run.
    ///
    /// # Errors
    ///
    /// When the server does not take them.
    pub(super) async fn open(&self) -> Result<(), String> {
        #[cfg(feature = "restate")]
        if let Workplace::Restate(server) = &self.workplace {
            self.keep(self.services.open(server).await?);
        }
        Ok(())
    }

    /// True if at most one task runs at a time.
    pub(super) fn is_inline(&self) -> bool {
        matches!(self.workplace, Workplace::Inline)
    }

    #[cfg_attr(not(any(feature = "nats", feature = "restate")), allow(dead_code))]
    fn keep(&self, work: AbortHandle) {
        let mut workers = self.workers.lock().unwrap_or_else(PoisonError::into_inner);
        workers.push(work);
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        let workers = self.workers.lock().unwrap_or_else(PoisonError::into_inner);
        workers.iter().for_each(AbortHandle::abort);
    }
}

/// A site, as all graphs of a case share it.
pub(super) type SharedSite = Arc<Site>;
