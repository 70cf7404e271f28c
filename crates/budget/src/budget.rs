//! What a run, a thread or a customer may spend.

use std::any::Any;
use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use langgraph::error::NodeError;
use langgraph::node::Context;

use crate::{Account, Allowance, Amounts, BudgetItem, Ledger, MemoryLedger, Price, Prices, prices};

/// What a run, a thread or a customer may spend: tokens, model calls, tool calls, money, time.
///
/// It is a resource of a graph or a run. Every model call of `langgraph-agent` that has a context, and
/// every tool call, first reserves what it may need, and afterwards settles what it has used. So calls
/// side by side cannot spend the same rest twice. A call that is cut off counts as reserved.
///
/// What a call needs is an estimate: the tokens of the request, and its `max_tokens`, or
/// [`reserve_output`](Self::reserve_output). What it has used is what the provider says.
///
/// A remote agent is allowed what is left, and the account is charged with what the agent says that it
/// has spent. That is not reserved: agents that are asked side by side are each allowed all of the rest.
///
/// # Examples
///
/// [`Funds`](crate::Funds) has one. With a model:
///
/// ```
/// use std::sync::Arc;
/// use langgraph::prelude::*;
/// use langgraph_agent::{Budget, MessagesStateUpdate, ScriptedModel, react_agent};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), NodeError> {
/// let budget = Arc::new(Budget::per_thread().model_calls(1).tokens(10_000));
/// let agent = react_agent(ScriptedModel::new(["Hi!", "Hi again!"]), ()).compile()?;
/// # let agent = agent.checkpointer(Arc::new(langgraph::checkpoint::MemorySaver::new()));
/// let agent = agent.resource(Arc::clone(&budget));
///
/// let thread = agent.thread("ada");
/// thread.run(MessagesStateUpdate::user("Hi")).await?;
/// assert_eq!(budget.account("ada").await?.spent.model_calls, 1);
///
/// let error = thread.run(MessagesStateUpdate::user("Hi")).await.unwrap_err();
/// assert!(error.to_string().contains("the budget of model calls is spent"));
/// # Ok(())
/// # }
/// ```
pub struct Budget {
    pub(crate) key: Key,
    limits: Allowance,
    output: u64,
    prices: Prices,
    pub(crate) at_limit: AtLimit,
    instead: Option<(f64, Box<dyn Any + Send + Sync>)>,
    pub(crate) ledger: Arc<dyn Ledger>,
    /// Held while an account is read and written.
    pub(crate) gate: tokio::sync::Mutex<()>,
    /// When the latest runs began.
    runs: Mutex<VecDeque<(String, Instant)>>,
}

type Key = Box<dyn Fn(&Context) -> String + Send + Sync>;

/// What happens when a [`Budget`] is spent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum AtLimit {
    /// The node fails with [`BudgetExceeded`](crate::BudgetExceeded).
    #[default]
    Fail,
    /// A person is asked for more: an interrupt with a [`BudgetRequest`](crate::BudgetRequest), whose
    /// answer is a [`BudgetAnswer`](crate::BudgetAnswer). That needs a checkpointer and a thread.
    Ask,
}

/// The number of runs whose start is remembered.
const RUNS: usize = 4096;

impl Budget {
    /// Creates a budget without limits whose accounts are chosen by `key`: one for each user, for
    /// example.
    pub fn by(key: impl Fn(&Context) -> String + Send + Sync + 'static) -> Self {
        Self {
            key: Box::new(key),
            limits: Allowance::new(),
            output: 1024,
            prices: Prices::new(),
            at_limit: AtLimit::Fail,
            instead: None,
            ledger: Arc::new(MemoryLedger::new()),
            gate: tokio::sync::Mutex::new(()),
            runs: Mutex::default(),
        }
    }

    /// Creates a budget without limits for each call of `run` or `resume`: what a resume spends is an
    /// account of its own. A limit for a run together with its resumes is that of its thread:
    /// [`per_thread`](Self::per_thread).
    pub fn per_run() -> Self {
        Self::by(|cx| cx.run_id().to_owned())
    }

    /// Creates a budget without limits for each thread; for a run without a thread, as
    /// [`per_run`](Self::per_run).
    pub fn per_thread() -> Self {
        Self::by(|cx| cx.thread_id().unwrap_or_else(|| cx.run_id()).to_owned())
    }

    /// Limits the number of model calls.
    #[must_use]
    pub fn model_calls(mut self, calls: u64) -> Self {
        self.limits = self.limits.with(BudgetItem::ModelCalls, calls);
        self
    }

    /// Limits the number of tool calls.
    #[must_use]
    pub fn tool_calls(mut self, calls: u64) -> Self {
        self.limits = self.limits.with(BudgetItem::ToolCalls, calls);
        self
    }

    /// Limits the tokens, of input and output together.
    #[must_use]
    pub fn tokens(mut self, tokens: u64) -> Self {
        self.limits = self.limits.with(BudgetItem::Tokens, tokens);
        self
    }

    /// Returns the price of a model.
    pub fn price(&self, model: &str) -> Option<&Price> {
        self.prices.get(model)
    }

    /// Limits the money, in the currency of the prices. A model without a price fails.
    #[must_use]
    pub fn money(mut self, amount: f64, prices: Prices) -> Self {
        let micros = prices::micros(amount);
        self.limits = self.limits.with(BudgetItem::Money, micros);
        self.prices = prices;
        self
    }

    /// Limits the time from the first call of a run to the start of its last.
    /// [`Run::timeout`](langgraph::run::Run::timeout) also stops calls that are under way.
    #[must_use]
    pub fn time(mut self, time: Duration) -> Self {
        self.limits = self.limits.with(BudgetItem::Time, prices::millis(time));
        self
    }

    /// Sets the output tokens that are reserved for a request without `max_tokens`; the default is
    /// 1,024.
    #[must_use]
    pub fn reserve_output(mut self, tokens: u64) -> Self {
        self.output = tokens;
        self
    }

    /// Sets what happens at the limit; the default is that the node fails.
    #[must_use]
    pub fn at_limit(mut self, at_limit: AtLimit) -> Self {
        self.at_limit = at_limit;
        self
    }

    /// Keeps what is used instead, from the call that would spend more than `share` of any limit.
    /// `cheaper_from` of `langgraph-agent` keeps a model.
    #[must_use]
    pub fn instead_from(mut self, share: f64, instead: impl Any + Send + Sync) -> Self {
        self.instead = Some((share, Box::new(instead)));
        self
    }

    /// Returns what is used instead, if a call with these needs would spend more than its share.
    ///
    /// # Errors
    ///
    /// Those of the ledger.
    pub async fn instead<T: Any>(
        &self,
        needs: &Amounts,
        cx: &Context,
    ) -> Result<Option<&T>, NodeError> {
        let Some((share, instead)) = &self.instead else {
            return Ok(None);
        };
        let instead = instead.downcast_ref();
        Ok(match instead {
            Some(_) if self.spends_more_than(*share, needs, cx).await? => instead,
            _ => None,
        })
    }

    /// Returns the output tokens that are reserved for a request without `max_tokens`.
    pub fn reserved_output(&self) -> u64 {
        self.output
    }

    /// Keeps the accounts in `ledger` instead of in memory.
    #[must_use]
    pub fn ledger(mut self, ledger: impl Ledger) -> Self {
        self.ledger = Arc::new(ledger);
        self
    }

    /// Returns the account of that key: the thread's name for a budget per thread.
    ///
    /// # Errors
    ///
    /// Those of the ledger.
    pub async fn account(&self, key: &str) -> Result<Account, NodeError> {
        self.ledger.read(key).await
    }

    /// Allows an account to spend more.
    ///
    /// # Errors
    ///
    /// Those of the ledger.
    pub async fn allow_more(
        &self,
        key: &str,
        item: BudgetItem,
        amount: u64,
    ) -> Result<(), NodeError> {
        let _gate = self.gate.lock().await;
        let mut account = self.ledger.read(key).await?;
        account.more.add_to(item, amount);
        self.ledger.write(key, &account).await
    }

    pub(crate) fn limit(&self, item: BudgetItem) -> Option<u64> {
        self.limits.of(item)
    }

    /// Returns for how long a run has made calls.
    pub(crate) fn elapsed(&self, run: &str) -> Duration {
        let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, since)) = runs.iter().find(|(known, _)| known == run) {
            return since.elapsed();
        }
        if runs.len() == RUNS {
            runs.pop_front();
        }
        runs.push_back((run.to_owned(), Instant::now()));
        Duration::ZERO
    }
}

impl fmt::Debug for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Budget")
            .field("limits", &self.limits)
            .field("at_limit", &self.at_limit)
            .finish_non_exhaustive()
    }
}
