//! Reserving from an account, and settling with it.

use std::sync::Arc;

use langgraph::error::NodeError;
use langgraph::node::Context;

use crate::prices::millis;
use crate::{
    Account, Allowance, Amounts, AtLimit, Budget, BudgetAnswer, BudgetExceeded, BudgetItem,
    BudgetRequest,
};

/// What a call has reserved from an account.
pub(crate) struct Reservation {
    budget: Arc<Budget>,
    key: String,
    amounts: Amounts,
}

impl Budget {
    /// Reserves amounts, or does what is chosen for the limit.
    pub(crate) async fn reserve(
        budget: &Arc<Self>,
        amounts: Amounts,
        cx: &Context,
    ) -> Result<Reservation, NodeError> {
        let key = (budget.key)(cx);
        budget.take(&key, &amounts, cx).await?;
        Ok(Reservation {
            budget: Arc::clone(budget),
            key,
            amounts,
        })
    }

    async fn take(&self, key: &str, amounts: &Amounts, cx: &Context) -> Result<(), NodeError> {
        if self.at_limit == AtLimit::Ask && cx.thread_id().is_none() {
            return Err(NodeError::msg(
                "a budget that asks a person at its limit needs a checkpointer and a thread: attach one to the graph, or choose `AtLimit::Fail`",
            ));
        }
        let mut asked = Amounts::default();
        loop {
            let gate = self.gate.lock().await;
            let mut account = self.ledger.read(key).await?;
            account.spent.millis = millis(self.elapsed(cx.run_id()));
            let Some(exceeded) = account
                .spent
                .exceeds(amounts, |item| self.allowed(&account, item))
            else {
                account.spent.add(amounts);
                return self.ledger.write(key, &account).await;
            };
            let item = exceeded.item;
            if self.at_limit == AtLimit::Fail {
                return Err(exceeded.into());
            }
            let request = BudgetRequest {
                account: key.to_owned(),
                item,
                limit: exceeded.limit,
                spent: exceeded.spent,
                needs: exceeded.needs,
            };
            // Parallel tasks ask at the same time, and each answer counts once for its task.
            let question = format!("budget/{item}/{}", asked.of(item));
            asked.add_to(item, 1);
            match cx.interrupt(&question, &request)? {
                BudgetAnswer::Stop => return Err(exceeded.into()),
                BudgetAnswer::More { amount } => {
                    // A task that runs again finds its earlier answers.
                    if account.answered.insert(cx.idempotency_key(&question)) {
                        account.more.add_to(item, amount.max(1));
                        self.ledger.write(key, &account).await?;
                    }
                }
            }
            drop(gate);
        }
    }

    /// Returns what is left in the account of a run.
    pub(crate) async fn remaining(&self, cx: &Context) -> Result<Allowance, NodeError> {
        let mut account = self.ledger.read(&(self.key)(cx)).await?;
        account.spent.millis = millis(self.elapsed(cx.run_id()));
        let rest = |item| {
            let limit = self.allowed(&account, item)?;
            Some(limit.saturating_sub(account.spent.of(item)))
        };
        let items = BudgetItem::ALL.into_iter();
        Ok(items.fold(Allowance::new(), |left, item| {
            rest(item).map_or(left, |amount| left.with(item, amount))
        }))
    }

    /// Counts what was spent elsewhere.
    pub(crate) async fn charge(&self, spent: &Amounts, cx: &Context) -> Result<(), NodeError> {
        self.replace(&(self.key)(cx), &Amounts::default(), spent)
            .await
    }

    fn allowed(&self, account: &Account, item: BudgetItem) -> Option<u64> {
        Some(self.limit(item)?.saturating_add(account.more.of(item)))
    }

    async fn replace(&self, key: &str, old: &Amounts, new: &Amounts) -> Result<(), NodeError> {
        let _gate = self.gate.lock().await;
        let mut account = self.ledger.read(key).await?;
        account.spent.subtract(old);
        account.spent.add(new);
        self.ledger.write(key, &account).await
    }

    #[allow(clippy::cast_precision_loss)] // a share of a limit need not be exact
    pub(crate) async fn spends_more_than(
        &self,
        share: f64,
        needs: &Amounts,
        cx: &Context,
    ) -> Result<bool, NodeError> {
        let account = self.ledger.read(&(self.key)(cx)).await?;
        let calls = [
            BudgetItem::ModelCalls,
            BudgetItem::Tokens,
            BudgetItem::Money,
        ];
        Ok(calls.iter().any(|item| {
            let after = account.spent.of(*item).saturating_add(needs.of(*item));
            let limit = self.allowed(&account, *item);
            limit.is_some_and(|limit| after as f64 > share * limit as f64)
        }))
    }
}

impl Amounts {
    /// Returns the first limit that does not leave what a call needs.
    pub(crate) fn exceeds(
        &self,
        needs: &Self,
        limit: impl Fn(BudgetItem) -> Option<u64>,
    ) -> Option<BudgetExceeded> {
        BudgetItem::ALL.into_iter().find_map(|item| {
            let limit = limit(item)?;
            let (spent, needs) = (self.of(item), needs.of(item));
            let is_time = item == BudgetItem::Time;
            let fits = spent.saturating_add(needs) <= limit;
            (!fits && (needs > 0 || is_time)).then_some(BudgetExceeded {
                item,
                limit,
                spent,
                needs,
                requester: None,
            })
        })
    }
}

impl Reservation {
    /// Counts `used` instead of what was reserved.
    pub(crate) async fn replace(self, used: Amounts) -> Result<(), NodeError> {
        self.budget.replace(&self.key, &self.amounts, &used).await
    }
}
