//! What a requester allows an agent.

use serde::{Deserialize, Serialize};

use crate::BudgetItem;

/// What an agent may spend for one request: what is left to its requester. What it does not name has
/// no limit.
///
/// # Examples
///
/// ```
/// use langgraph_budget::{Allowance, BudgetItem};
///
/// let mine = Allowance::new().with(BudgetItem::Tokens, 500).with(BudgetItem::ModelCalls, 3);
/// let theirs = Allowance::new().with(BudgetItem::Tokens, 200);
/// let both = mine.and(&theirs);
/// assert_eq!((both.of(BudgetItem::Tokens), both.of(BudgetItem::ModelCalls)), (Some(200), Some(3)));
/// assert_eq!(serde_json::to_string(&both)?, r#"{"model_calls":3,"tokens":200}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Allowance {
    /// Calls of models.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_calls: Option<u64>,
    /// Calls of tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_calls: Option<u64>,
    /// Tokens of input and output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Money, in millionths.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub micros: Option<u64>,
    /// Time, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub millis: Option<u64>,
}

impl Allowance {
    /// Creates an allowance without limits.
    pub fn new() -> Self {
        Self::default()
    }

    /// Limits one item.
    #[must_use]
    pub fn with(mut self, item: BudgetItem, amount: u64) -> Self {
        let field = match item {
            BudgetItem::ModelCalls => &mut self.model_calls,
            BudgetItem::ToolCalls => &mut self.tool_calls,
            BudgetItem::Tokens => &mut self.tokens,
            BudgetItem::Money => &mut self.micros,
            BudgetItem::Time => &mut self.millis,
        };
        *field = Some(amount);
        self
    }

    /// Returns the limit of one item, if it has one.
    pub fn of(&self, item: BudgetItem) -> Option<u64> {
        match item {
            BudgetItem::ModelCalls => self.model_calls,
            BudgetItem::ToolCalls => self.tool_calls,
            BudgetItem::Tokens => self.tokens,
            BudgetItem::Money => self.micros,
            BudgetItem::Time => self.millis,
        }
    }

    /// Returns what both allow.
    #[must_use]
    pub fn and(self, other: &Self) -> Self {
        BudgetItem::ALL.into_iter().fold(self, |both, item| {
            let amount = match (both.of(item), other.of(item)) {
                (Some(one), Some(two)) => Some(one.min(two)),
                (one, two) => one.or(two),
            };
            amount.map_or(both, |amount| both.with(item, amount))
        })
    }
}
