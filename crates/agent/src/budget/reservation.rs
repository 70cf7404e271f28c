//! Reserving before a call, and settling after it.

use std::sync::Arc;

use langgraph::message::Usage;
use langgraph::node::{Context, NodeError};

use super::account::ITEMS;
use super::{
    Account, Amounts, AtLimit, Budget, BudgetAnswer, BudgetExceeded, BudgetItem, BudgetRequest,
    Price, prices,
};
use crate::{ChatModel, ChatRequest, ChatResponse, ModelError, ModelErrorKind};

/// What a call has reserved.
#[must_use = "a reservation is settled or released"]
pub(crate) struct Reservation<'a> {
    budget: &'a Budget,
    key: String,
    amounts: Amounts,
    input: u64,
    price: Option<Price>,
    /// The model to call instead.
    pub(crate) cheaper: Option<Arc<dyn ChatModel>>,
}

/// What a model call may need.
struct Need {
    amounts: Amounts,
    input: u64,
    price: Option<Price>,
}

impl Budget {
    /// Reserves a model call.
    pub(crate) async fn reserve_model<M: ChatModel + ?Sized>(
        &self,
        model: &M,
        request: &ChatRequest,
        cx: &Context,
    ) -> Result<Reservation<'_>, NodeError> {
        let key = (self.key)(cx);
        let mut need = self.need(model, request).await;
        let mut cheaper = None;
        if let Some((share, model)) = &self.cheaper {
            let account = self.ledger.read(&key).await?;
            let beyond = match &need {
                Ok(need) => self.spends_more_than(*share, &account, &need.amounts),
                Err(_) => false,
            };
            if beyond {
                need = self.need(&**model, request).await;
                cheaper = Some(Arc::clone(model));
            }
        }
        let Need {
            amounts,
            input,
            price,
        } = need?;
        self.reserve(&key, &amounts, cx).await?;
        Ok(Reservation {
            budget: self,
            key,
            amounts,
            input,
            price,
            cheaper,
        })
    }

    /// Reserves a tool call.
    pub(crate) async fn reserve_tool(&self, cx: &Context) -> Result<Reservation<'_>, NodeError> {
        let key = (self.key)(cx);
        let amounts = Amounts {
            tool_calls: 1,
            ..Amounts::default()
        };
        self.reserve(&key, &amounts, cx).await?;
        Ok(Reservation {
            budget: self,
            key,
            amounts,
            input: 0,
            price: None,
            cheaper: None,
        })
    }

    async fn need<M: ChatModel + ?Sized>(
        &self,
        model: &M,
        request: &ChatRequest,
    ) -> Result<Need, NodeError> {
        let input = model.count_tokens(request).await?.tokens;
        let output = request.max_tokens.map_or(self.output, u64::from);
        let usage = Usage::new(input, output);
        let mut price = None;
        let mut micros = 0;
        if self.limits.micros.is_some() {
            let name = model.name().unwrap_or_default();
            let known = self.prices.get(name).ok_or_else(|| {
                NodeError::msg(format!(
                    "a budget of money needs the price of every model, and there is none of `{name}`; add it with `Prices::model`, or set that of `others`"
                ))
            })?;
            micros = prices::micros(known.of(usage));
            price = Some(*known);
        }
        let amounts = Amounts {
            model_calls: 1,
            tokens: usage.total(),
            micros,
            ..Amounts::default()
        };
        Ok(Need {
            amounts,
            input,
            price,
        })
    }

    #[allow(clippy::cast_precision_loss)] // a share of a limit need not be exact
    fn spends_more_than(&self, share: f64, account: &Account, needs: &Amounts) -> bool {
        let calls = [
            BudgetItem::ModelCalls,
            BudgetItem::Tokens,
            BudgetItem::Money,
        ];
        calls.iter().any(|item| {
            let after = account.spent.of(*item).saturating_add(needs.of(*item));
            let limit = self
                .limit(*item)
                .map(|limit| limit.saturating_add(account.more.of(*item)));
            limit.is_some_and(|limit| after as f64 > share * limit as f64)
        })
    }

    /// Reserves amounts, or does what is chosen for the limit.
    async fn reserve(&self, key: &str, amounts: &Amounts, cx: &Context) -> Result<(), NodeError> {
        if self.at_limit == AtLimit::Ask && cx.thread_id().is_none() {
            return Err(NodeError::msg(
                "a budget that asks a person at its limit needs a checkpointer and a thread: attach one to the graph, or choose `AtLimit::Fail`",
            ));
        }
        loop {
            let gate = self.gate.lock().await;
            let mut account = self.ledger.read(key).await?;
            account.spent.millis = prices::millis(self.elapsed(cx.run_id()));
            let Some(exceeded) = self.exceeded(&account, amounts) else {
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
            // Each request for more has a key of its own, so an answer counts once.
            let question = format!("budget/{item}/{}", account.more.of(item));
            match cx.interrupt(&question, &request)? {
                BudgetAnswer::Stop => return Err(exceeded.into()),
                BudgetAnswer::More { amount } => {
                    account.more.add_to(item, amount.max(1));
                    self.ledger.write(key, &account).await?;
                }
            }
            drop(gate);
        }
    }

    fn exceeded(&self, account: &Account, amounts: &Amounts) -> Option<BudgetExceeded> {
        ITEMS.into_iter().find_map(|item| {
            let limit = self.limit(item)?.saturating_add(account.more.of(item));
            let (spent, needs) = (account.spent.of(item), amounts.of(item));
            let is_time = item == BudgetItem::Time;
            let fits = spent.saturating_add(needs) <= limit;
            (!fits && (needs > 0 || is_time)).then_some(BudgetExceeded {
                item,
                limit,
                spent,
                needs,
            })
        })
    }
}

impl Reservation<'_> {
    /// Counts what the model says that it has used; an estimate if it says nothing.
    pub(crate) async fn settle(self, response: &ChatResponse) -> Result<(), NodeError> {
        let estimate = || {
            Usage::new(
                self.input,
                crate::model::estimate_message(&response.message),
            )
        };
        let usage = response.usage.unwrap_or_else(estimate);
        let used = Amounts {
            model_calls: 1,
            tokens: usage.total(),
            micros: self
                .price
                .map_or(0, |price| prices::micros(price.of(usage))),
            ..Amounts::default()
        };
        self.replace(used).await
    }

    /// Gives back what a failed call has reserved. The call itself counts.
    pub(crate) async fn release(self) -> Result<(), NodeError> {
        let used = Amounts {
            model_calls: self.amounts.model_calls,
            ..Amounts::default()
        };
        self.replace(used).await
    }

    /// Gives back everything.
    pub(crate) async fn cancel(self) -> Result<(), NodeError> {
        self.replace(Amounts::default()).await
    }

    async fn replace(self, used: Amounts) -> Result<(), NodeError> {
        let _gate = self.budget.gate.lock().await;
        let mut account = self.budget.ledger.read(&self.key).await?;
        account.spent.subtract(&self.amounts);
        account.spent.add(&used);
        self.budget.ledger.write(&self.key, &account).await
    }
}

/// The error of a model call that its budget does not allow, or whose account cannot be read.
pub(crate) fn refused(error: NodeError) -> ModelError {
    let kind = if error.is::<BudgetExceeded>() {
        ModelErrorKind::BudgetExceeded
    } else {
        ModelErrorKind::InvalidRequest
    };
    ModelError::new(kind, error.to_string()).with_source(error.into_source())
}
