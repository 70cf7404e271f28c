//! What a run, a thread or a customer may spend.

mod account;
mod exceeded;
mod ledger;
mod prices;
mod request;
mod reservation;

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use langgraph::node::{Context, NodeError};

use crate::ChatModel;

pub use account::{Account, Amounts, BudgetItem};
pub use exceeded::BudgetExceeded;
pub use ledger::{Ledger, MemoryLedger};
pub use prices::{Price, Prices};
pub use request::{BudgetAnswer, BudgetRequest};
pub(crate) use reservation::refused;

/// What a run, a thread or a customer may spend: tokens, model calls, tool calls, money, time.
///
/// It is a resource of a graph or a run. Every model call through [`ChatModelExt`] and the
/// ready-made nodes, and every tool call, first reserves what it may need, and afterwards settles
/// what it has used. So calls side by side cannot spend the same rest twice. A call that is cut off
/// counts as reserved.
///
/// What a call needs is an estimate: the tokens of the request (see
/// [`ChatModel::count_tokens`]), and its `max_tokens`, or [`reserve_output`](Self::reserve_output).
/// What it has used is what the provider says.
///
/// [`ChatModelExt`]: crate::ChatModelExt
///
/// # Examples
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
    key: Key,
    limits: Limits,
    time: Option<Duration>,
    output: u64,
    prices: Prices,
    at_limit: AtLimit,
    cheaper: Option<(f64, Arc<dyn ChatModel>)>,
    ledger: Arc<dyn Ledger>,
    /// Held while an account is read and written.
    gate: tokio::sync::Mutex<()>,
    /// When the latest runs began.
    runs: Mutex<VecDeque<(String, Instant)>>,
}

type Key = Box<dyn Fn(&Context) -> String + Send + Sync>;

#[derive(Clone, Copy, Default)]
struct Limits {
    model_calls: Option<u64>,
    tool_calls: Option<u64>,
    tokens: Option<u64>,
    micros: Option<u64>,
}

/// What happens when a [`Budget`] is spent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum AtLimit {
    /// The node fails with [`BudgetExceeded`].
    #[default]
    Fail,
    /// A person is asked for more: an interrupt with a [`BudgetRequest`], whose answer is a
    /// [`BudgetAnswer`]. That needs a checkpointer and a thread.
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
            limits: Limits::default(),
            time: None,
            output: 1024,
            prices: Prices::new(),
            at_limit: AtLimit::Fail,
            cheaper: None,
            ledger: Arc::new(MemoryLedger::new()),
            gate: tokio::sync::Mutex::new(()),
            runs: Mutex::default(),
        }
    }

    /// Creates a budget without limits for each run. A resumed run is a new one.
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
        self.limits.model_calls = Some(calls);
        self
    }

    /// Limits the number of tool calls.
    #[must_use]
    pub fn tool_calls(mut self, calls: u64) -> Self {
        self.limits.tool_calls = Some(calls);
        self
    }

    /// Limits the tokens, of input and output together.
    #[must_use]
    pub fn tokens(mut self, tokens: u64) -> Self {
        self.limits.tokens = Some(tokens);
        self
    }

    /// Returns the price of a model.
    #[cfg(feature = "tracing")]
    pub(crate) fn price(&self, model: &str) -> Option<&Price> {
        self.prices.get(model)
    }

    /// Limits the money, in the currency of the prices. A model without a price fails.
    #[must_use]
    pub fn money(mut self, amount: f64, prices: Prices) -> Self {
        self.limits.micros = Some(prices::micros(amount));
        self.prices = prices;
        self
    }

    /// Limits the time from the first call of a run to the start of its last.
    /// [`Run::timeout`](langgraph::run::Run::timeout) also stops calls that are under way.
    #[must_use]
    pub fn time(mut self, time: Duration) -> Self {
        self.time = Some(time);
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

    /// Calls `model` instead, from the call that would spend more than `share` of any limit:
    /// `0.8` for the last fifth.
    #[must_use]
    pub fn cheaper_from(mut self, share: f64, model: impl ChatModel + 'static) -> Self {
        self.cheaper = Some((share, Arc::new(model)));
        self
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

    fn limit(&self, item: BudgetItem) -> Option<u64> {
        match item {
            BudgetItem::ModelCalls => self.limits.model_calls,
            BudgetItem::ToolCalls => self.limits.tool_calls,
            BudgetItem::Tokens => self.limits.tokens,
            BudgetItem::Money => self.limits.micros,
            BudgetItem::Time => self.time.map(prices::millis),
        }
    }

    /// Returns for how long a run has made calls.
    fn elapsed(&self, run: &str) -> Duration {
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
            .field("model_calls", &self.limits.model_calls)
            .field("tool_calls", &self.limits.tool_calls)
            .field("tokens", &self.limits.tokens)
            .field("micros", &self.limits.micros)
            .field("time", &self.time)
            .field("at_limit", &self.at_limit)
            .finish_non_exhaustive()
    }
}
