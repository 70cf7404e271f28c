//! Who pays for the calls of a run.

use std::sync::Arc;

use langgraph::error::NodeError;
use langgraph::node::Context;

use crate::allotment::Hold;
use crate::reservation::Reservation;
use crate::{Allotment, Allowance, Amounts, Budget, BudgetItem, Price, Prices};

/// Who pays for the calls of a run: its [`Budget`], and the [`Allotment`] of its requester.
///
/// Models, tools and remote agents use it. Use it for anything else that spends.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
/// use langgraph::prelude::*;
/// use langgraph_budget::{Amounts, Budget, BudgetItem, Funds};
///
/// #[node]
/// async fn translate(text: &String, cx: &Context) -> Result<String, NodeError> {
///     let call = Amounts::default().with(BudgetItem::ModelCalls, 1);
///     let reserved = match Funds::of(cx) {
///         Some(funds) => Some(funds.reserve(call.with(BudgetItem::Tokens, 500), cx).await?),
///         None => None,
///     };
///     let (translated, tokens) = (text.to_uppercase(), 120); // a call of a service
///     if let Some(reserved) = reserved {
///         reserved.settle(call.with(BudgetItem::Tokens, tokens)).await?;
///     }
///     Ok(translated)
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), NodeError> {
/// let mut graph = StateGraph::<String>::new();
/// graph.add_node("translate", translate).add_sequence(&["translate"]);
/// let budget = Arc::new(Budget::by(|_| "ada".to_owned()).tokens(600));
/// let graph = graph.compile()?.resource(Arc::clone(&budget));
///
/// graph.invoke("hallo".to_owned()).await?;
/// assert_eq!(budget.account("ada").await?.spent.tokens, 120);
/// let error = graph.invoke("hallo".to_owned()).await.unwrap_err();
/// assert!(error.to_string().contains("the budget of tokens is spent"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Funds {
    budget: Option<Arc<Budget>>,
    allotment: Option<Arc<Allotment>>,
}

impl Funds {
    /// Returns who pays for the run, or `None` if calls are not counted.
    pub fn of(cx: &Context) -> Option<Self> {
        let funds = Self {
            budget: cx.resource_arc().ok(),
            allotment: cx.resource_arc().ok(),
        };
        (funds.budget.is_some() || funds.allotment.is_some()).then_some(funds)
    }

    /// Returns the budget of the run itself.
    pub fn budget(&self) -> Option<&Budget> {
        self.budget.as_deref()
    }

    /// Reserves what a call may need.
    ///
    /// # Errors
    ///
    /// [`BudgetExceeded`](crate::BudgetExceeded) if it is not left, or the error of the ledger. If the
    /// budget [asks](crate::AtLimit::Ask) a person, the run interrupts.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future may leave the amounts reserved.
    pub async fn reserve(&self, amounts: Amounts, cx: &Context) -> Result<Reserved, NodeError> {
        let own = match &self.budget {
            Some(budget) => Some(Budget::reserve(budget, amounts, cx).await?),
            None => None,
        };
        let hold = match &self.allotment {
            None => None,
            Some(allotment) => match allotment.reserve(amounts) {
                Ok(hold) => Some(hold),
                Err(exceeded) => {
                    if let Some(own) = own {
                        own.replace(Amounts::default()).await?;
                    }
                    return Err(exceeded.into());
                }
            },
        };
        Ok(Reserved { own, hold })
    }

    /// Returns what is left.
    ///
    /// # Errors
    ///
    /// Those of the ledger.
    pub async fn remaining(&self, cx: &Context) -> Result<Allowance, NodeError> {
        let own = match &self.budget {
            Some(budget) => budget.remaining(cx).await?,
            None => Allowance::new(),
        };
        let requester = self
            .allotment
            .as_ref()
            .map(|allotment| allotment.remaining());
        Ok(requester.map_or(own, |requester| own.and(&requester)))
    }

    /// Counts what was spent elsewhere, also beyond what is left. Time is not counted twice.
    ///
    /// # Errors
    ///
    /// Those of the ledger.
    pub async fn charge(&self, spent: &Amounts, cx: &Context) -> Result<(), NodeError> {
        let spent = spent.with(BudgetItem::Time, 0);
        if let Some(allotment) = &self.allotment {
            allotment.charge(&spent);
        }
        match &self.budget {
            Some(budget) => budget.charge(&spent, cx).await,
            None => Ok(()),
        }
    }

    /// Returns the price of a model: that of the budget, or of the [`Prices`] among the resources.
    ///
    /// # Errors
    ///
    /// If money is limited, and there is no price.
    pub fn price(&self, model: &str, cx: &Context) -> Result<Option<Price>, NodeError> {
        let own = self.budget.as_ref().and_then(|budget| budget.price(model));
        let prices = cx.resource::<Prices>().ok();
        let price = own.or_else(|| prices.and_then(|prices| prices.get(model)));
        if price.is_none() && self.limits_money() {
            return Err(NodeError::msg(format!(
                "a budget of money needs the price of every model, and there is none of `{model}`; add it with `Prices::model`, or set that of `others`; a served graph has its prices among its resources"
            )));
        }
        Ok(price.copied())
    }

    fn limits_money(&self) -> bool {
        let item = BudgetItem::Money;
        let own = self.budget.as_ref();
        let requester = self.allotment.as_ref();
        own.is_some_and(|budget| budget.limit(item).is_some())
            || requester.is_some_and(|allotment| allotment.limits(item))
    }
}

/// Amounts that a call has reserved. If it is dropped, the call counts as reserved.
#[must_use = "a reservation is settled or cancelled"]
pub struct Reserved {
    own: Option<Reservation>,
    hold: Option<Hold>,
}

impl Reserved {
    /// Counts what the call has used instead.
    ///
    /// # Errors
    ///
    /// Those of the ledger.
    pub async fn settle(self, used: Amounts) -> Result<(), NodeError> {
        if let Some(hold) = self.hold {
            hold.settle(used);
        }
        match self.own {
            Some(own) => own.replace(used).await,
            None => Ok(()),
        }
    }

    /// Gives everything back.
    ///
    /// # Errors
    ///
    /// Those of the ledger.
    pub async fn cancel(self) -> Result<(), NodeError> {
        self.settle(Amounts::default()).await
    }
}

impl std::fmt::Debug for Reserved {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Reserved")
    }
}
