//! The options that a graph sets for its runs, and a run for itself.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::Breakpoints;
use super::thread_policy::{OnConflict, OnOpenInterrupt, ThreadPolicy};
use crate::checkpoint::Durability;
use crate::node::{CancelToken, Metadata};

/// The options of a run: as the defaults of a graph, by
/// [`CompiledStateGraph::options`](crate::CompiledStateGraph::options), or for one run, by
/// [`Run::options`](crate::run::Run::options). What a run sets takes precedence.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
///
/// use langgraph::prelude::*;
/// use langgraph::run::RunOptions;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut graph = StateGraph::<i64>::new();
/// graph.add_node("double", |n: &i64| n * 2).add_sequence(&["double"]);
/// let defaults = RunOptions::new().limit(10).timeout(Duration::from_secs(5));
/// let graph = graph.compile()?.options(defaults);
///
/// assert_eq!(graph.invoke(21).await?, 42);
/// let longer = graph.run(21).timeout(Duration::from_secs(60));
/// assert_eq!(longer.await?.finished()?, 42);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
#[must_use = "options do nothing until a graph or a run gets them"]
pub struct RunOptions {
    pub(crate) durability: Option<Durability>,
    pub(crate) on_conflict: Option<OnConflict>,
    pub(crate) on_open_interrupt: Option<OnOpenInterrupt>,
    pub(crate) lease_term: Option<Duration>,
    pub(crate) metadata: Metadata,
    pub(crate) limit: Option<usize>,
    pub(crate) max_concurrency: Option<usize>,
    pub(crate) fail_fast: bool,
    pub(crate) cancel: Option<CancelToken>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) interrupt_before: Option<Breakpoints>,
    pub(crate) interrupt_after: Option<Breakpoints>,
}

/// Defines the setters of [`RunOptions`]: with one name for options, graphs and runs.
macro_rules! run_option_setters {
    ($self:ident => $options:expr) => {
        /// Limits the supersteps of a run; the default is 1,000. Reaching the limit is an error only if
        /// tasks remain: with 0, no node runs. Each call of a subgraph has a count of its own.
        pub fn limit(mut $self, supersteps: usize) -> Self {
            $options.limit = Some(supersteps);
            $self
        }

        /// Ends a run with [`AgentError::TimedOut`](crate::error::AgentError::TimedOut) after this time.
        pub fn timeout(mut $self, limit: std::time::Duration) -> Self {
            $options.timeout = Some(limit);
            $self
        }

        /// Limits the parallel tasks of a superstep; the default is no limit, and 0 counts as 1.
        pub fn max_concurrency(mut $self, tasks: usize) -> Self {
            $options.max_concurrency = Some(tasks);
            $self
        }

        /// Lets the first failing node stop the nodes in parallel, also in subgraphs; see
        /// [`StateGraph::fail_fast`](crate::StateGraph::fail_fast).
        pub fn fail_fast(mut $self) -> Self {
            $options.fail_fast = true;
            $self
        }

        /// Sets when a run on a thread is stored; the default is after every step.
        pub fn durability(mut $self, durability: $crate::checkpoint::Durability) -> Self {
            $options.durability = Some(durability);
            $self
        }

        /// Sets what happens when another run is active on the thread. Updates and added inputs
        /// follow the graph's policy, unless they have one of their own.
        pub fn on_conflict(mut $self, policy: $crate::graph::thread_policy::OnConflict) -> Self {
            $options.on_conflict = Some(policy);
            $self
        }

        /// Sets what a new input does on a thread that waits for answers. It is refused unless set.
        ///
        /// # Examples
        ///
        /// ```
        /// use std::sync::Arc;
        /// use langgraph::checkpoint::MemorySaver;
        /// use langgraph::prelude::*;
        /// use langgraph::thread::OnOpenInterrupt;
        ///
        /// # #[tokio::main(flavor = "current_thread")]
        /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
        /// fn confirm(n: &i64, cx: &Context) -> Result<i64, NodeError> {
        ///     let sure: bool = cx.interrupt("sure?", n)?;
        ///     Ok(if sure { *n } else { 0 })
        /// }
        ///
        /// let mut graph = StateGraph::<i64>::new();
        /// graph.add_node("confirm", confirm).add_sequence(&["confirm"]);
        /// let graph = graph.compile()?.checkpointer(Arc::new(MemorySaver::new()));
        /// let thread = graph.thread("t");
        /// thread.run(1).await?; // interrupts
        ///
        /// let refused = thread.run(2).await.unwrap_err();
        /// assert!(matches!(refused, AgentError::InterruptsOpen { .. }));
        ///
        /// thread.run(2).on_open_interrupt(OnOpenInterrupt::Dismiss).await?; // interrupts anew
        /// assert_eq!(thread.answer(true).await?.finished()?, 2);
        /// # Ok(())
        /// # }
        /// ```
        pub fn on_open_interrupt(mut $self, policy: $crate::graph::thread_policy::OnOpenInterrupt) -> Self {
            $options.on_open_interrupt = Some(policy);
            $self
        }

        /// Sets the time after which a run's lease of its thread expires if the run does not renew
        /// it; 30 seconds unless set. A run renews its lease every third of this time.
        ///
        /// After a crash, the thread is busy for this long, where the saver cannot see that the
        /// process is gone.
        pub fn lease_term(mut $self, term: std::time::Duration) -> Self {
            $options.lease_term = Some(term);
            $self
        }

        /// Sets a metadata entry of a run, which nodes read with
        /// [`Context::metadata`](crate::Context::metadata).
        pub fn metadata(
            mut $self,
            key: impl Into<String>,
            value: impl Into<serde_json::Value>,
        ) -> Self {
            let metadata = $options.metadata.get_or_insert_default();
            std::sync::Arc::make_mut(metadata).insert(key.into(), value.into());
            $self
        }

        /// Lets `token` cancel a run.
        pub fn cancel(mut $self, token: $crate::node::cancel::CancelToken) -> Self {
            $options.cancel = Some(token);
            $self
        }

        /// Pauses before these nodes. Overrides the breakpoints of the graph's builder.
        ///
        /// A node of a subgraph is named by its path, `research:search`; then the subgraph pauses.
        pub fn interrupt_before(mut $self, nodes: impl Into<$crate::graph::Breakpoints>) -> Self {
            $options.interrupt_before = Some(nodes.into());
            $self
        }

        /// Pauses after these nodes, which are named as in [`interrupt_before`](Self::interrupt_before).
        /// Overrides the breakpoints of the graph's builder.
        pub fn interrupt_after(mut $self, nodes: impl Into<$crate::graph::Breakpoints>) -> Self {
            $options.interrupt_after = Some(nodes.into());
            $self
        }
    };
}

pub(crate) use run_option_setters;

impl RunOptions {
    /// Creates options that set nothing.
    pub fn new() -> Self {
        Self::default()
    }

    run_option_setters!(self => self);

    /// Fills in what these options leave open.
    #[inline]
    pub(crate) fn or(&mut self, defaults: Option<&Self>) {
        if let Some(defaults) = defaults {
            self.fill(defaults);
        }
    }

    fn fill(&mut self, defaults: &Self) {
        let Self {
            durability,
            on_conflict,
            on_open_interrupt,
            lease_term,
            metadata,
            limit,
            max_concurrency,
            fail_fast,
            cancel,
            timeout,
            interrupt_before,
            interrupt_after,
        } = self;
        *durability = durability.or(defaults.durability);
        *on_conflict = on_conflict.or(defaults.on_conflict);
        *on_open_interrupt = on_open_interrupt.or(defaults.on_open_interrupt);
        *lease_term = lease_term.or(defaults.lease_term);
        *limit = limit.or(defaults.limit);
        *max_concurrency = max_concurrency.or(defaults.max_concurrency);
        *fail_fast |= defaults.fail_fast;
        *timeout = timeout.or(defaults.timeout);
        fill_metadata(metadata, defaults.metadata.as_ref());
        fill(cancel, defaults.cancel.as_ref());
        fill(interrupt_before, defaults.interrupt_before.as_ref());
        fill(interrupt_after, defaults.interrupt_after.as_ref());
    }

    pub(crate) fn thread_policy(&self) -> ThreadPolicy {
        let standard = ThreadPolicy::default();
        ThreadPolicy {
            on_conflict: self.on_conflict.unwrap_or(standard.on_conflict),
            on_open_interrupt: self.on_open_interrupt.unwrap_or(standard.on_open_interrupt),
            lease_term: self.lease_term.unwrap_or(standard.lease_term),
        }
    }
}

fn fill_metadata(metadata: &mut Metadata, defaults: Option<&Arc<BTreeMap<String, Value>>>) {
    let (Some(own), Some(defaults)) = (&mut *metadata, defaults) else {
        return fill(metadata, defaults);
    };
    let own = Arc::make_mut(own);
    for (key, value) in &**defaults {
        own.entry(key.clone()).or_insert_with(|| value.clone());
    }
}

fn fill<T: Clone>(option: &mut Option<T>, default: Option<&T>) {
    if option.is_none() {
        *option = default.cloned();
    }
}
