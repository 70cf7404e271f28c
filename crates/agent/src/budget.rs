//! Model calls that are paid from the funds of their run.

use std::fmt;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use langgraph::error::NodeError;
use langgraph::message::Usage;
use langgraph::node::Context;
use serde::{Deserialize, Serialize};

use langgraph_budget::{Amounts, Budget, BudgetExceeded, BudgetItem, Funds, Price, Reserved};

use crate::{ChatModel, ChatRequest, ChatResponse, ModelError, ModelErrorKind};

/// A cheaper model for the end of a [`Budget`].
///
/// # Examples
///
/// ```
/// use langgraph_agent::{Budget, BudgetExt, ScriptedModel};
///
/// let small = ScriptedModel::new(["In short: hi."]);
/// let budget = Budget::per_thread().model_calls(10).cheaper_from(0.8, small);
/// # let _ = budget;
/// ```
pub trait BudgetExt {
    /// Calls `model` instead, from the call that would spend more than `share` of any limit:
    /// `0.8` for the last fifth.
    #[must_use]
    fn cheaper_from(self, share: f64, model: impl ChatModel + 'static) -> Self;
}

struct Cheaper(Arc<dyn ChatModel>);

impl BudgetExt for Budget {
    fn cheaper_from(self, share: f64, model: impl ChatModel + 'static) -> Self {
        self.instead_from(share, Cheaper(Arc::new(model)))
    }
}

/// The output tokens that are reserved for a request without `max_tokens`, if no budget says it.
const OUTPUT: u64 = 1024;

/// What a model call has reserved.
#[must_use = "a reservation is settled or released"]
pub(crate) struct ReservedCall {
    reserved: Reserved,
    need: Need,
    /// The model to call instead.
    pub(crate) cheaper: Option<Arc<dyn ChatModel>>,
}

/// What an answer of a model has cost: tokens, as far as they are known, and whose price they have.
///
/// A model that records others stores those of its [`Bill`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CallCost {
    spent: Spent,
    /// The model that answered, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    cached: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Spent {
    Reported(Usage),
    /// Only the output is known here: the input is that of the request.
    Estimated {
        output: u64,
    },
}

impl CallCost {
    /// Returns what the answering model reports, or an estimate.
    pub(crate) fn of(response: &ChatResponse) -> Self {
        let estimate = || Spent::Estimated {
            output: crate::model::estimate_message(&response.message),
        };
        Self {
            spent: response.usage.map_or_else(estimate, Spent::Reported),
            model: response.metadata.name.clone(),
            cached: response.metadata.cached,
        }
    }

    /// Says which model answered, if the answer did not.
    pub(crate) fn sign(&mut self, model: Option<&str>) {
        if self.model.is_none() {
            self.model = model.map(str::to_owned);
        }
    }
}

/// What a request has cost so far: the answers that it got and that no caller sees, since another one takes their
/// place. [`ChatRequest::with_bill`] returns one.
///
/// Clones of a request share it, so that models around others need not hand it back.
#[derive(Clone, Default)]
pub struct Bill(Arc<Sheet>);

#[derive(Default)]
struct Sheet {
    costs: Mutex<Vec<CallCost>>,
    /// The bill that also gets them.
    outer: Option<Bill>,
}

impl Bill {
    /// Returns a bill whose costs this one gets, too.
    pub(crate) fn inner(&self) -> Self {
        Self(Arc::new(Sheet {
            costs: Mutex::default(),
            outer: Some(self.clone()),
        }))
    }

    /// Returns the costs so far.
    pub fn costs(&self) -> Vec<CallCost> {
        self.lock().clone()
    }

    pub(crate) fn add(&self, cost: CallCost) {
        if let Some(outer) = &self.0.outer {
            outer.add(cost.clone());
        }
        self.lock().push(cost);
    }

    fn take(&self) -> Vec<CallCost> {
        mem::take(&mut *self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, Vec<CallCost>> {
        self.0.costs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request is the same whatever it has cost.
impl PartialEq for Bill {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl fmt::Debug for Bill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&*self.lock()).finish()
    }
}

/// What a model call may need.
struct Need {
    amounts: Amounts,
    input: u64,
    /// The model that was called.
    name: String,
}

impl Need {
    async fn of<M: ChatModel + ?Sized>(
        model: &M,
        request: &ChatRequest,
        funds: &Funds,
        cx: &Context,
    ) -> Result<Self, NodeError> {
        let input = model.count_tokens(request).await?.tokens;
        let output = || funds.budget().map_or(OUTPUT, Budget::reserved_output);
        let output = request.max_tokens.map_or_else(output, u64::from);
        let usage = Usage::new(input, output);
        let mut most = amounts(usage, None);
        // Any of them may answer.
        for name in model.names() {
            let with_price = amounts(usage, funds.price(name, cx)?);
            if with_price.micros > most.micros {
                most = with_price;
            }
        }
        Ok(Self {
            amounts: most,
            input,
            name: model.name().unwrap_or_default().to_owned(),
        })
    }
}

fn amounts(usage: Usage, price: Option<Price>) -> Amounts {
    Amounts::default()
        .with(BudgetItem::ModelCalls, 1)
        .with(BudgetItem::Tokens, usage.total())
        .with(
            BudgetItem::Money,
            price.map_or(0, |price| price.micros_of(usage)),
        )
}

impl ReservedCall {
    /// Reserves a model call.
    pub(crate) async fn new<M: ChatModel + ?Sized>(
        funds: &Funds,
        model: &M,
        request: &ChatRequest,
        cx: &Context,
    ) -> Result<Self, NodeError> {
        let mut need = Need::of(model, request, funds, cx).await;
        let mut cheaper = None;
        if let (Some(budget), Ok(known)) = (funds.budget(), &need)
            && let Some(Cheaper(model)) = budget.instead(&known.amounts, cx).await?
        {
            need = Need::of(&**model, request, funds, cx).await;
            cheaper = Some(Arc::clone(model));
        }
        let need = need?;
        Ok(Self {
            reserved: funds.reserve(need.amounts, cx).await?,
            need,
            cheaper,
        })
    }

    /// Counts what the call has cost, each answer at the price of the model that gave it; nothing for an answer from a
    /// cache. Without any answer, what the call has reserved is given back, and the call itself counts.
    pub(crate) async fn settle(
        self,
        answer: &Result<ChatResponse, ModelError>,
        bill: &Bill,
        funds: &Funds,
        cx: &Context,
    ) -> Result<(), NodeError> {
        let mut costs = bill.take();
        match answer {
            Ok(response) => costs.push(CallCost::of(response)),
            Err(error) => costs.extend(error.cost().cloned()),
        }
        if !costs.is_empty() && costs.iter().all(|cost| cost.cached) {
            return self.reserved.settle(Amounts::default()).await;
        }
        let mut spent = Amounts::default();
        for cost in costs.iter().filter(|cost| !cost.cached) {
            let usage = match cost.spent {
                Spent::Reported(usage) => usage,
                Spent::Estimated { output } => Usage::new(self.need.input, output),
            };
            let name = cost.model.as_ref().unwrap_or(&self.need.name);
            spent.add(&amounts(usage, funds.price(name, cx)?));
        }
        // Models that take the place of others are one call.
        let spent = spent.with(BudgetItem::ModelCalls, 1);
        self.reserved.settle(spent).await
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
