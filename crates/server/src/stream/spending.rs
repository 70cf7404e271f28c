//! What the models of a run have used, by task.

use std::collections::BTreeMap;
use std::sync::Arc;

use langgraph::message::{MessageAccumulator, ResponseMetadata, Usage};
use langgraph_budget::Prices;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::wire::usage;

/// The tokens of models' answers, and what they have cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Spent {
    pub(crate) usage: Usage,
    /// `None` if a model has no price.
    pub(crate) cost: Option<f64>,
}

impl Spent {
    /// Returns nothing, which has cost nothing.
    fn nothing() -> Self {
        Self {
            usage: Usage::default(),
            cost: Some(0.0),
        }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            usage: self.usage + other.usage,
            cost: self.cost.zip(other.cost).map(|(one, other)| one + other),
        }
    }

    /// Returns it as LangChain's `usage_metadata`, with the cost as `total_cost`.
    pub(crate) fn to_wire(self) -> Value {
        let mut wire = usage::to_wire(Some(&self.usage));
        if let Some(cost) = self.cost {
            wire["total_cost"] = json!(cost);
        }
        wire
    }

    /// Reads what [`to_wire`](Self::to_wire) has written.
    pub(crate) fn from_wire(wire: &Value) -> Option<Self> {
        Some(Self {
            usage: usage::from_wire(wire)?,
            cost: wire["total_cost"].as_f64(),
        })
    }
}

/// What the tasks of a run have spent.
#[derive(Debug)]
pub(crate) struct Spending {
    prices: Arc<Prices>,
    /// Of the tasks that have not ended, by their ids.
    tasks: BTreeMap<String, TaskSpending>,
    /// Of the root graph's tasks that have ended, and of earlier attempts.
    ended: Option<Spent>,
}

/// What a task has spent.
#[derive(Debug, Default)]
struct TaskSpending {
    /// Its answers, by the ids of their messages.
    answers: BTreeMap<String, Spent>,
    /// The tasks of its subgraphs that have ended.
    inner: Option<Spent>,
}

impl TaskSpending {
    fn total(&self) -> Option<Spent> {
        sum(self.answers.values().copied().chain(self.inner))
    }
}

fn sum(all: impl Iterator<Item = Spent>) -> Option<Spent> {
    all.fold(None, |sum, one| {
        Some(sum.unwrap_or_else(Spent::nothing).plus(one))
    })
}

impl Spending {
    /// Begins with what earlier attempts to carry out the run have spent.
    pub(crate) fn new(prices: Arc<Prices>, earlier: Option<Spent>) -> Self {
        Self {
            prices,
            tasks: BTreeMap::new(),
            ended: earlier,
        }
    }

    /// Notes an answer so far of a task. Returns what it has spent, if its model says so.
    pub(super) fn answer(
        &mut self,
        task: &str,
        message: &str,
        so_far: &MessageAccumulator,
    ) -> Option<Spent> {
        let usage = so_far.usage()?;
        let spent = Spent {
            usage,
            cost: self.cost(so_far.metadata(), usage),
        };
        let task = self.tasks.entry(task.to_owned()).or_default();
        task.answers.insert(message.to_owned(), spent);
        Some(spent)
    }

    fn cost(&self, model: &ResponseMetadata, usage: Usage) -> Option<f64> {
        if model.cached {
            return Some(0.0);
        }
        let name = model.name.as_deref().or(model.model.as_deref());
        let price = self.prices.get(name.unwrap_or_default())?;
        Some(price.of(usage))
    }

    /// Returns what a task has spent that has ended, with its subgraphs. `around` is the task that
    /// it belongs to, if its graph is a subgraph.
    pub(super) fn ended(&mut self, task: &str, around: Option<&str>) -> Option<Spent> {
        let spent = self.tasks.remove(task)?.total()?;
        let sum_of = match around {
            Some(around) => &mut self.tasks.entry(around.to_owned()).or_default().inner,
            None => &mut self.ended,
        };
        *sum_of = Some(sum_of.unwrap_or_else(Spent::nothing).plus(spent));
        Some(spent)
    }

    /// Returns what the run has spent; `None` if no model says so.
    pub(crate) fn total(&self) -> Option<Spent> {
        let open = self.tasks.values().filter_map(TaskSpending::total);
        sum(open.chain(self.ended))
    }
}

#[cfg(test)]
mod tests {
    use langgraph::message::MessageChunk;
    use langgraph_budget::Price;

    use super::*;

    fn answer(model: &str, tokens: u64) -> MessageAccumulator {
        let mut so_far = MessageAccumulator::new();
        let chunk = MessageChunk::text("hi").with_usage(Usage::new(tokens, 0));
        so_far.push(chunk.with_metadata(ResponseMetadata::of(model)));
        so_far
    }

    #[test]
    fn a_task_has_spent_what_its_subgraphs_have() {
        let prices = Prices::new().model("big", Price::per_million(1e6, 1e6));
        let mut spending = Spending::new(Arc::new(prices), None);
        spending.answer("inner", "1", &answer("big", 2));
        // What is known of an answer grows; it is counted once.
        spending.answer("inner", "1", &answer("big", 3));
        spending.answer("outer", "2", &answer("big", 4));
        let total = spending.total().unwrap();
        assert_eq!((total.usage.input_tokens, total.cost), (7, Some(7.0)));
        let inner = spending.ended("inner", Some("outer")).unwrap();
        assert_eq!((inner.usage.input_tokens, inner.cost), (3, Some(3.0)));
        let outer = spending.ended("outer", None).unwrap();
        assert_eq!((outer.usage.input_tokens, outer.cost), (7, Some(7.0)));
        assert_eq!(spending.total(), Some(total));
        assert_eq!(spending.ended("other", None), None);
    }

    #[test]
    fn without_the_price_of_a_model_there_is_no_cost() {
        let prices = Prices::new().model("big", Price::per_million(1.0, 1.0));
        let mut spending = Spending::new(Arc::new(prices), None);
        spending.answer("task", "1", &answer("big", 2));
        spending.answer("task", "2", &answer("other", 2));
        let spent = spending.ended("task", None).unwrap();
        assert_eq!((spent.usage.input_tokens, spent.cost), (4, None));
    }
}
