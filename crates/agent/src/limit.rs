//! Limits that all runs of a process share.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use langgraph::error::NodeError;
use langgraph::node::NodeRun;
use langgraph::policy::{Middleware, NodeCall};
use langgraph::state::State;

/// Returns the limit of that name, which all graphs and runs of the process share: at most
/// `at_once` calls at a time.
///
/// A name has one limit. If it is asked for with another number, the limit that is returned lets no
/// call start: [`acquire`](Limit::acquire) fails, and so does every call behind it.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use langgraph::prelude::*;
/// use langgraph_agent::{ChatModelExt, ScriptedModel, limit, react_agent};
///
/// // Five requests at a time, and sixty a minute, from all callers.
/// let openai = limit("openai", 5).rate(60, Duration::from_secs(60));
/// let agent = react_agent(ScriptedModel::new(["hi"]).limited(openai.clone()), ());
///
/// // A node, or a worker, of any graph.
/// let mut graph = StateGraph::<i64>::new();
/// graph.add_node("ask", (|n: &i64| n + 1).middleware(openai));
/// # let _ = agent.compile();
/// ```
pub fn limit(name: impl Into<String>, at_once: usize) -> Limit {
    static LIMITS: OnceLock<Mutex<HashMap<String, Limit>>> = OnceLock::new();
    let limits = LIMITS.get_or_init(Mutex::default);
    let mut limits = limits.lock().unwrap_or_else(PoisonError::into_inner);
    let name = name.into();
    let new = || Limit::new(name.clone(), at_once);
    let limit = limits.entry(name.clone()).or_insert_with(new).clone();
    if limit.0.calls_at_once == calls_at_once(at_once) {
        return limit;
    }
    limit.in_conflict(&format!("{at_once} calls at a time"))
}

fn calls_at_once(number: usize) -> usize {
    number.clamp(1, Semaphore::MAX_PERMITS)
}

/// A limit on calls at a time, and on calls in a time. Clones are the same limit.
///
/// [`limit`] makes one that is known by its name. It is a [`Middleware`] of nodes, and
/// [`ChatModelExt::limited`](crate::ChatModelExt::limited) puts a model behind it.
#[derive(Clone)]
pub struct Limit(Arc<Shared>, Option<Arc<str>>);

struct Shared {
    name: String,
    calls_at_once: usize,
    at_once: Arc<Semaphore>,
    rate: Mutex<Rate>,
}

#[derive(Default)]
struct Rate {
    limit: Option<(usize, Duration)>,
    /// When the latest calls started.
    started: VecDeque<Instant>,
}

/// The right to make a call; dropping it lets the next call start.
#[derive(Debug)]
#[must_use = "the limit counts calls that hold their permit"]
pub struct Permit(#[allow(dead_code)] OwnedSemaphorePermit);

impl Limit {
    /// Creates a limit of its own. 0 calls at a time count as 1.
    pub fn new(name: impl Into<String>, at_once: usize) -> Self {
        let calls_at_once = calls_at_once(at_once);
        let shared = Shared {
            name: name.into(),
            calls_at_once,
            at_once: Arc::new(Semaphore::new(calls_at_once)),
            rate: Mutex::default(),
        };
        Self(Arc::new(shared), None)
    }

    /// Also starts at most `calls` in any span of that length. A limit has one rate: with another one
    /// than before, no call starts. 0 calls count as 1.
    #[must_use]
    pub fn rate(self, calls: usize, span: Duration) -> Self {
        let wanted = (calls.max(1), span);
        if *self.rates().limit.get_or_insert(wanted) == wanted {
            return self;
        }
        self.in_conflict(&format!("{calls} calls in {span:?}"))
    }

    /// Returns a limit that lets no call start, because it is not the one of its name.
    fn in_conflict(&self, wanted: &str) -> Self {
        let Shared {
            name,
            calls_at_once,
            ..
        } = &*self.0;
        let rate = match self.rates().limit {
            Some((calls, span)) => format!(" and {calls} in {span:?}"),
            None => String::new(),
        };
        let text = format!(
            "limit `{name}` allows {calls_at_once} calls at a time{rate}, and it is also asked for with {wanted}; use one definition, or another name"
        );
        Self(Arc::clone(&self.0), Some(text.into()))
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Waits until a call may start, in the order of the calls.
    ///
    /// # Errors
    ///
    /// If the limit of that name was asked for with other numbers.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future gives up the place in the queue.
    pub async fn acquire(&self) -> Result<Permit, NodeError> {
        if let Some(conflict) = &self.1 {
            return Err(NodeError::msg(&**conflict));
        }
        let permit = Arc::clone(&self.0.at_once).acquire_owned().await;
        let permit = permit.map_err(NodeError::from)?;
        while let Some(wait) = self.start() {
            tokio::time::sleep_until(wait).await;
        }
        Ok(Permit(permit))
    }

    /// Notes the start of a call, or returns when one may start.
    fn start(&self) -> Option<Instant> {
        let mut rate = self.rates();
        let (calls, span) = rate.limit?;
        let now = Instant::now();
        while rate
            .started
            .front()
            .is_some_and(|start| *start + span <= now)
        {
            rate.started.pop_front();
        }
        if rate.started.len() < calls {
            rate.started.push_back(now);
            return None;
        }
        let first = rate.started.len() - calls;
        rate.started.get(first).map(|start| *start + span)
    }

    fn rates(&self) -> std::sync::MutexGuard<'_, Rate> {
        self.0.rate.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Each attempt at the node waits for its turn.
impl<S: State> Middleware<S> for Limit {
    fn around<'a>(&'a self, call: NodeCall<'a, S>) -> NodeRun<'a, S> {
        NodeRun::future(async move {
            let _permit = self.acquire().await?;
            call.run().await
        })
    }
}

impl fmt::Debug for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Limit")
            .field("name", &self.name())
            .field("free", &self.0.at_once.available_permits())
            .finish_non_exhaustive()
    }
}
